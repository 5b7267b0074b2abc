import { Buffer } from 'node:buffer';
import type { ChatMessage, JsonObject } from './wire.js';

/** What `invoke` can run (§9), and what a prompt that starts with `/name` is expanded to. */
interface PromptTemplate {
  readonly name: string;
  readonly description: string | null;
  readonly argumentHint: string;
  /** `{args}` stands for what follows the name; null leaves the prompt as it was typed. */
  readonly template: string | null;
}

const PROMPTS: readonly PromptTemplate[] = [
  {
    name: 'demo',
    description: 'Run a scripted demo turn; without a name, list them',
    argumentHint: '[name]',
    template: null,
  },
  { name: 'greet', description: null, argumentHint: '[arguments]', template: 'Say hello. {args}' },
];

interface OperationDescriptor extends JsonObject {
  readonly id: string;
  readonly kind: string;
  readonly command: JsonObject;
}

export const OPERATIONS: readonly OperationDescriptor[] = [
  ...PROMPTS.map(({ name, description, argumentHint }) => ({
    id: `prompt:${name}`,
    kind: 'prompt',
    command: { name, description, argument_hint: argumentHint },
  })),
  {
    id: 'model:switch',
    kind: 'model',
    command: { name: 'model', description: "show or switch this session's model", argument_hint: '[model]' },
  },
  {
    id: 'context:usage',
    kind: 'context',
    command: { name: 'context', description: 'context-window usage for this session' },
  },
];

export const COMMANDS: readonly JsonObject[] = OPERATIONS.map(({ command }) => ({
  name: command['name'],
  description: command['description'],
}));

export const hasOperation = (kind: string, id: string): boolean =>
  OPERATIONS.some((operation) => operation.kind === kind && operation.id === id);

/** What the model gets to read for what the person typed (§11). */
export const expandPrompt = (typed: string): string => {
  const [, name, args = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(typed) ?? [];
  const prompt = PROMPTS.find((candidate) => candidate.name === name);
  return prompt?.template == null ? typed : prompt.template.replaceAll('{args}', args);
};

const CONTEXT_LIMIT = 200_000;
const RESPONSE_RESERVE = 16_384;
const BYTES_PER_TOKEN = 4;

/** The accounting of `context:usage`, estimated from the size of the text as the real runtime does. */
export const contextUsage = (model: string, messages: readonly ChatMessage[], toolCount: number): JsonObject => {
  const message_tokens = Math.ceil(Buffer.byteLength(JSON.stringify(messages)) / BYTES_PER_TOKEN);
  const projected_tokens = Math.ceil((message_tokens * 5) / 4);
  return {
    model,
    messages: messages.length,
    message_tokens,
    tool_count: toolCount,
    tool_schema_tokens: 0,
    request_tokens: message_tokens,
    projected_tokens,
    response_reserve_tokens: RESPONSE_RESERVE,
    context_limit: CONTEXT_LIMIT,
    remaining_tokens: Math.max(0, CONTEXT_LIMIT - RESPONSE_RESERVE - projected_tokens),
    used_pct: Math.round((projected_tokens / CONTEXT_LIMIT) * 100),
    fits: projected_tokens + RESPONSE_RESERVE <= CONTEXT_LIMIT,
  };
};

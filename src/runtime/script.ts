import { messageOf } from '../protocol/messageOf.js';
import { isObject, textOf, type ChatMessage, type Json } from './wire.js';

/** What the scripted model answers to one round-trip. Every field is optional. */
export interface Step {
  /** Streamed in word-sized deltas. */
  readonly text?: string;
  /** Streamed verbatim, one delta each, after `text`. */
  readonly chunks?: readonly string[];
  /** `n` more deltas: `text` followed by the running number, padded with zeros to `pad` digits. */
  readonly repeat?: { readonly n: number; readonly text: string; readonly pad: number };
  /** Milliseconds after each delta. */
  readonly delay?: number;
  readonly calls?: readonly ScriptedCall[];
  /** Refuse with this HTTP status instead; 5xx is retried. */
  readonly status?: number;
  readonly body?: Json;
  /** Break the connection after this many deltas. */
  readonly cut?: number;
  /** Never answer. */
  readonly hang?: boolean;
  /** Milliseconds before the first delta. */
  readonly first?: number;
  readonly usage?: Usage;

  // Beyond what a model can say, for demos:
  /** Sent as one `reasoning` event before the text. */
  readonly reasoning?: string;
  /** After the tools of this step, send the unified diff of the files edited so far in this turn. */
  readonly diff?: boolean;
  /** Run the calls of this step side by side, all starts first. */
  readonly parallel?: boolean;
  /**
   * Let `background_exec` run. The real policy denies it whenever commands need approval, because a background job
   * cannot ask (§8); a demo may, because its command is part of the product. Never read from a prompt.
   */
  readonly preapproved?: boolean;
}

export interface ScriptedCall {
  readonly name: string;
  /** JSON text as the model wrote it, possibly malformed. */
  readonly args: string;
  readonly id?: string;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly cached_tokens: number | null;
}

const MARK = '[[script]]';
const AFTER_THE_LAST_STEP: Step = { text: 'done' };

/** Finds the steps of a canned demo by the prompt that asked for it. */
export type DemoLookup = (prompt: string) => readonly Step[] | undefined;

/**
 * The step for this round-trip: the directive in the newest prompt, indexed by the assistant messages behind it.
 * A message right behind a tool result was injected into a running turn (steering): that turn's script still applies.
 *
 * @param turnAt where the prompt stands that began the turn: what lies before it steers nothing
 */
export const stepFor = (messages: readonly ChatMessage[], demo: DemoLookup, turnAt = 0): Step => {
  const at = newestPrompt(messages, turnAt);
  if (at < 0) return { text: 'no user message' };
  const prompt = textOf(messages[at]);
  const round = messages.slice(at + 1).filter((message) => message.role === 'assistant').length;
  const mark = prompt.indexOf(MARK);
  if (mark >= 0) {
    const steps = parseSteps(prompt.slice(mark + MARK.length).trim());
    return Array.isArray(steps) ? (steps[round] ?? AFTER_THE_LAST_STEP) : steps;
  }
  const canned = demo(prompt.trim());
  if (canned !== undefined) return canned[round] ?? AFTER_THE_LAST_STEP;
  return round === 0 ? { text: `You said: ${prompt.trim()}` } : AFTER_THE_LAST_STEP;
};

const newestPrompt = (messages: readonly ChatMessage[], turnAt: number): number => {
  let at = -1;
  for (let index = messages.length - 1; index >= turnAt; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user') continue;
    at = index;
    if (textOf(message).includes(MARK) || messages[index - 1]?.role !== 'tool') break;
  }
  return at;
};

const parseSteps = (text: string): Step[] | Step => {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.map(toStep) : [];
  } catch (error) {
    const reason = messageOf(error);
    return { status: 400, body: { error: { message: `bad script directive: ${reason}` } } };
  }
};

const toStep = (value: unknown): Step => {
  if (!isObject(value)) return AFTER_THE_LAST_STEP;
  const { text, chunks, repeat, delay, calls, status, body, cut, hang, first, usage, reasoning } = value;
  return {
    ...(typeof text === 'string' && { text }),
    ...(Array.isArray(chunks) && { chunks: chunks.filter((chunk) => typeof chunk === 'string') }),
    ...(isObject(repeat) && {
      repeat: {
        n: numberOr(repeat['n'], 0),
        text: typeof repeat['text'] === 'string' ? repeat['text'] : 'w',
        pad: numberOr(repeat['pad'], 0),
      },
    }),
    ...(typeof delay === 'number' && { delay }),
    ...(Array.isArray(calls) && { calls: calls.filter(isObject).map(toCall) }),
    ...(typeof status === 'number' && { status }),
    ...(body !== undefined && { body: body as Json }),
    ...(typeof cut === 'number' && { cut }),
    ...(hang === true && { hang }),
    ...(typeof first === 'number' && { first }),
    ...(isObject(usage) && { usage: toUsage(usage) }),
    ...(typeof reasoning === 'string' && { reasoning }),
    ...(value['diff'] === true && { diff: true }),
    ...(value['parallel'] === true && { parallel: true }),
  };
};

const toCall = (value: Record<string, unknown>): ScriptedCall => ({
  name: String(value['name']),
  args: typeof value['args'] === 'string' ? value['args'] : JSON.stringify(value['args'] ?? {}),
  ...(typeof value['id'] === 'string' && { id: value['id'] }),
});

const toUsage = (value: Record<string, unknown>): Usage => {
  const details = value['prompt_tokens_details'];
  const cached = isObject(details) ? details['cached_tokens'] : undefined;
  return {
    prompt_tokens: numberOr(value['prompt_tokens'], 0),
    completion_tokens: numberOr(value['completion_tokens'], 0),
    total_tokens: numberOr(value['total_tokens'], 0),
    cached_tokens: typeof cached === 'number' ? cached : null,
  };
};

const numberOr = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback);

/** The deltas in which a step's text is streamed. */
export const deltasOf = (step: Step): string[] => {
  const { text, chunks = [], repeat } = step;
  const words = text === undefined ? [] : (text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [text]);
  const numbered = Array.from(
    { length: repeat?.n ?? 0 },
    (_, index) => `${repeat?.text ?? ''}${String(index).padStart(repeat?.pad ?? 0, '0')} `,
  );
  return [...words, ...chunks, ...numbered];
};

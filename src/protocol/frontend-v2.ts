import * as v from 'valibot';
import { kept, KEPT_ARGUMENTS_LIMIT } from './bounded.js';
import { REFUSALS, type Refusal, type RefusalReason } from './refusal.js';
import { toRuntimeEvents, type RuntimeEvent } from './frontend-v2-events.js';

/** What one runtime is and can do now, as this client's permissions let it see. Source: frontend.v2 §5.1. */
export interface Descriptor {
  readonly sessionId: string;
  /** The harness whose process the runtime hosts; null for the runtime's own agent loop. */
  readonly sourceHarness: string | null;
  /** The model configured at start (native) or the harness's name (hosted). */
  readonly model: string;
  readonly turnState: 'idle' | 'busy';
  readonly connectionState: 'connected' | 'shutting_down';
  readonly actions: Actions;
  readonly operations: readonly Operation[];
}

export interface Actions {
  readonly submit: boolean;
  readonly interrupt: boolean;
  readonly steer: boolean;
  readonly respond: boolean;
  readonly close: boolean;
}

export interface Operation {
  readonly id: string;
  readonly kind: string;
  readonly command: { readonly name: string; readonly description: string | null } | null;
}

/** One message of the runtime's saved history: no ids, no times, no error flags. Source: frontend.v2 §5.2. */
export interface HistoryMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  /** How many images the message carries; their data stays with the runtime. */
  readonly images: number;
  readonly toolCalls: readonly HistoryToolCall[];
  /** Of a tool's result: the call that it answers. */
  readonly toolCallId: string | null;
  /** Of a tool's result: UTF-16 units of the end of its text that are not kept; absent where it is whole. */
  readonly omitted?: number;
}

export interface HistoryToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** UTF-16 units of the end of the arguments that are not kept; absent where they are whole. */
  readonly omitted?: number;
}

/**
 * How many messages a snapshot is asked for, fewer each time that the answer was too large. A native runtime gives its
 * newest so many; a hosted one all that it has, whatever it is asked. Source: frontend.v2 §1.
 */
export const SNAPSHOT_MESSAGES = [200, 40, 8] as const;

/** What an attachment starts from: the history, and every retained event after `historyCursor`. */
export interface Snapshot {
  readonly descriptor: Descriptor;
  readonly history: readonly HistoryMessage[];
  /** The last sequence that the history represents (always 0 on a hosted runtime). */
  readonly historyCursor: number;
  readonly replay: readonly RuntimeEvent[];
  /** Replayed frames that are no events; they are counted, never guessed at. */
  readonly malformed: number;
}

/** Who controls the runtime, as it says itself. Source: frontend.v2 §7.1. */
export interface LeaseSnapshot {
  readonly controller: { readonly clientId: string } | null;
  readonly ttlMs: number;
}

/** Whether another harness's process runs behind the endpoint: its events are contiguous and its rules differ (§1). */
export function isHosted(descriptor: Descriptor | undefined): boolean {
  const harness = descriptor?.sourceHarness;
  return harness !== undefined && harness !== null && harness !== 'supercode';
}

const flag = v.fallback(v.boolean(), false);
const text = v.string();
const nullableText = v.fallback(v.nullish(text, null), null);
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const operation = v.object({
  id: text,
  kind: v.fallback(text, 'unknown'),
  command: v.fallback(v.nullish(v.object({ name: text, description: nullableText }), null), null),
});

export const descriptorSchema = v.pipe(
  v.object({
    schema_version: v.literal(2),
    session_id: text,
    source_harness: nullableText,
    model: v.fallback(text, ''),
    turn_state: v.picklist(['idle', 'busy']),
    connection_state: v.fallback(v.picklist(['connected', 'shutting_down']), 'connected'),
    actions: v.object({ submit: flag, interrupt: flag, steer: flag, respond: flag, close: flag }),
    operations: v.fallback(v.array(operation), []),
  }),
  v.transform((wire): Descriptor => ({
    sessionId: wire.session_id,
    sourceHarness: wire.source_harness,
    model: wire.model,
    turnState: wire.turn_state,
    connectionState: wire.connection_state,
    actions: wire.actions,
    operations: wire.operations,
  })),
);

const content = v.fallback(
  v.nullish(v.union([text, v.array(v.looseObject({ type: v.fallback(text, '') }))]), null),
  null,
);

export const historyMessageSchema = v.pipe(
  v.object({
    role: v.pipe(text, v.transform(roleOf)),
    content,
    tool_calls: v.fallback(
      v.nullish(
        v.array(
          v.object({
            id: v.fallback(text, ''),
            function: v.object({ name: v.fallback(text, 'tool'), arguments: v.fallback(text, '') }),
          }),
        ),
        [],
      ),
      [],
    ),
    tool_call_id: nullableText,
  }),
  v.transform((wire): HistoryMessage => ({
    role: wire.role,
    ...contentOf(wire.content, wire.role),
    toolCalls: wire.tool_calls.map(({ id, function: called }) => toolCall(id, called.name, called.arguments)),
    toolCallId: wire.tool_call_id,
  })),
);

export const snapshotSchema = v.pipe(
  v.object({
    descriptor: descriptorSchema,
    history: v.array(historyMessageSchema),
    history_cursor: count,
    replay: v.array(v.unknown()),
  }),
  v.transform((wire): Snapshot => {
    const { events, malformed } = toRuntimeEvents(wire.replay);
    return {
      descriptor: wire.descriptor,
      history: wire.history,
      historyCursor: wire.history_cursor,
      replay: events,
      malformed,
    };
  }),
);

export const leaseSchema = v.pipe(
  v.object({
    controller: v.nullish(v.object({ client_id: text }), null),
    lease_ttl_ms: v.pipe(v.number(), v.minValue(1)),
  }),
  v.transform((wire): LeaseSnapshot => ({
    controller: wire.controller ? { clientId: wire.controller.client_id } : null,
    ttlMs: wire.lease_ttl_ms,
  })),
);

/** Results of the mutations, each the whole of what we rely on. */
export const acceptedSchema = v.object({ accepted: v.literal(true) });
export const interruptedSchema = v.object({ interrupted: v.boolean() });
export const queuedSchema = v.object({ queued: v.literal(true) });
export const replySchema = v.object({ reply: text });

const errorSchema = v.object({
  code: v.fallback(v.number(), 0),
  message: v.fallback(text, 'The runtime refused the call without saying why.'),
  name: nullableText,
  permission: nullableText,
  holder: nullableText,
});

/** Codes are only the fallback for a missing name: several names share one code. */
const REASON_OF_CODE: Readonly<Record<number, RefusalReason>> = {
  [-32030]: 'unauthenticated',
  [-32031]: 'unauthorized',
  [-32032]: 'controller_required',
  [-32033]: 'lease_expired',
  [-32000]: 'busy',
  [-32001]: 'execution',
  [-32002]: 'execution',
  [-32010]: 'transport',
  [-32020]: 'unsupported_action',
  [-32021]: 'not_found',
  [-32022]: 'not_found',
  [-32023]: 'unsupported_action',
  [-32600]: 'invalid_request',
  [-32601]: 'unsupported_action',
  [-32602]: 'invalid_argument',
  [-32700]: 'invalid_request',
};

/** The `error` member of an answer as a refusal, whatever shape it has. Source: frontend.v2 §3. */
export function toRefusal(error: unknown): Refusal {
  const parsed = v.safeParse(errorSchema, error);
  if (!parsed.success) return { reason: 'unknown', message: 'The runtime refused the call without saying why.' };
  const { code, message, name, permission, holder } = parsed.output;
  const named = REFUSALS.find((reason) => reason === name);
  return {
    reason: named ?? REASON_OF_CODE[code] ?? 'unknown',
    message,
    ...(permission === null ? {} : { permission }),
    ...(holder === null ? {} : { holder }),
  };
}

/** Instructions are instructions by any name; whatever else a runtime may keep is shown, not refused. */
function roleOf(role: string): HistoryMessage['role'] {
  switch (role) {
    case 'user':
    case 'assistant':
    case 'tool':
    case 'system':
      return role;
    case 'developer':
      return 'system';
    default:
      return 'assistant';
  }
}

/** What a person or the model said is compared with what was heard of it, so it is kept whole. */
function contentOf(
  parts: v.InferOutput<typeof content>,
  role: HistoryMessage['role'],
): Pick<HistoryMessage, 'text' | 'images' | 'omitted'> {
  if (parts === null) return { text: '', images: 0 };
  const whole = typeof parts === 'string' ? parts : parts.map(textIn).join('');
  const images = typeof parts === 'string' ? 0 : parts.filter((part) => part.type === 'image_url').length;
  if (role !== 'tool') return { text: whole, images };
  const { text: head, omitted } = kept(whole);
  return { text: head, images, ...(omitted === 0 ? {} : { omitted }) };
}

function textIn(part: Readonly<Record<string, unknown>>): string {
  return typeof part['text'] === 'string' ? part['text'] : '';
}

function toolCall(id: string, name: string, args: string): HistoryToolCall {
  const { text: head, omitted } = kept(args, KEPT_ARGUMENTS_LIMIT);
  return { id, name, arguments: head, ...(omitted === 0 ? {} : { omitted }) };
}

import * as v from 'valibot';
import { boundedJson, kept, KEPT_ARGUMENTS_LIMIT } from './bounded.js';
import { requestSchema, resolutionOf, type Resolution, type RuntimeRequest } from './requests.js';

/** Facts of a running conversation, numbered by the runtime. Source: frontend.v2 §6.6. */
export type RuntimeEvent = { readonly sequence: number } & EventBody;

export type EventBody =
  | { readonly kind: 'user_message'; readonly text: string }
  | { readonly kind: 'turn_started' }
  /** One round-trip to the model is over; the turn goes on (§6.5). */
  | { readonly kind: 'turn_completed' }
  | { readonly kind: 'turn_succeeded' }
  | { readonly kind: 'turn_interrupted' }
  | { readonly kind: 'turn_failed'; readonly message: string }
  | { readonly kind: 'turn_aborted'; readonly source: string | null }
  | { readonly kind: 'text_delta'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | {
      readonly kind: 'tool_call_started';
      readonly callId: string | null;
      readonly name: string | null;
      /** As the model wrote them: usually, not always, valid JSON. */
      readonly arguments: string;
      /** UTF-16 units of the end of `arguments` that are not kept; absent where they are whole. */
      readonly omitted?: number;
    }
  | {
      readonly kind: 'tool_call_completed';
      readonly callId: string | null;
      readonly name: string | null;
      readonly output: string;
      /** Whether the tool failed to run, not whether what it ran succeeded. */
      readonly isError: boolean;
      /** UTF-16 units of the end of `output` that are not kept; absent where it is whole. */
      readonly omitted?: number;
    }
  | { readonly kind: 'usage'; readonly prompt: number; readonly completion: number; readonly cached: number | null }
  | { readonly kind: 'request'; readonly request: RuntimeRequest }
  | { readonly kind: 'request_resolved'; readonly requestId: number; readonly resolution: Resolution }
  | { readonly kind: 'cache_warning'; readonly message: string }
  | { readonly kind: 'provider_retry'; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'model_changed'; readonly from: string; readonly to: string; readonly reason: string | null }
  | { readonly kind: 'background_output'; readonly jobId: string; readonly chunk: string; readonly truncated: boolean }
  | { readonly kind: 'diff_updated'; readonly diff: string }
  | { readonly kind: 'scheduled_prompt'; readonly phase: 'started' | 'deferred' | 'completed'; readonly detail: string }
  /** The runtime or a link behind it is in trouble: `source` is the wire's own kind. */
  | { readonly kind: 'trouble'; readonly source: string; readonly message: string }
  /** A kind or a shape that we don't know: named and previewed, never dropped. */
  | { readonly kind: 'opaque'; readonly eventKind: string; readonly preview: string };

export type EventKind = EventBody['kind'];

/** The kinds that end a turn; exactly one of them ends each started turn. */
export const TERMINAL_KINDS = ['turn_succeeded', 'turn_interrupted', 'turn_failed'] as const;

export const OPAQUE_LIMIT = 2048;

const text = v.string();
const nullableText = v.fallback(v.nullish(text, null), null);
const finite = v.pipe(v.number(), v.finite());
const count = v.fallback(finite, 0);
const detail = v.looseObject({ message: nullableText, prompt: nullableText, name: nullableText });

const toBody = <const S extends v.GenericSchema, B extends EventBody>(schema: S, body: (wire: v.InferOutput<S>) => B) =>
  v.pipe(schema, v.transform(body));

const scheduled = (phase: 'started' | 'deferred' | 'completed') =>
  toBody(detail, (wire) => ({
    kind: 'scheduled_prompt',
    phase,
    detail: wire.prompt ?? wire.message ?? wire.name ?? '',
  }));
const trouble = (source: string) =>
  toBody(detail, (wire) => ({ kind: 'trouble', source, message: wire.message ?? '' }));
const marker = (kind: 'turn_started' | 'turn_completed' | 'turn_succeeded' | 'turn_interrupted') =>
  toBody(v.object({}), (): EventBody => ({ kind }));
const reasoning = toBody(v.object({ text }), (wire) => ({ kind: 'reasoning', text: wire.text }));
const diff = toBody(v.object({ diff: text }), (wire) => ({ kind: 'diff_updated', diff: wire.diff }));

/**
 * A schema for each wire kind that we know. A payload that does not fit its kind is shown as an opaque event, so a
 * schema asks for no more than the event needs to mean anything.
 */
export const eventSchemas = {
  user_message: toBody(v.object({ text }), (wire) => ({ kind: 'user_message', text: wire.text })),
  turn_started: marker('turn_started'),
  turn_completed: marker('turn_completed'),
  turn_succeeded: marker('turn_succeeded'),
  turn_interrupted: marker('turn_interrupted'),
  turn_failed: toBody(v.object({ message: v.fallback(text, '') }), (wire) => ({
    kind: 'turn_failed',
    message: wire.message,
  })),
  turn_aborted: toBody(v.object({ source: nullableText }), (wire) => ({ kind: 'turn_aborted', source: wire.source })),
  text_delta: toBody(v.object({ text }), (wire) => ({ kind: 'text_delta', text: wire.text })),
  reasoning,
  thinking: reasoning,
  tool_call_started: toBody(
    v.object({ id: nullableText, name: nullableText, arguments: v.fallback(text, '') }),
    (wire) => {
      const { text: head, omitted } = kept(wire.arguments, KEPT_ARGUMENTS_LIMIT);
      const call = { kind: 'tool_call_started', callId: wire.id, name: wire.name, arguments: head } as const;
      return omitted === 0 ? call : { ...call, omitted };
    },
  ),
  tool_call_completed: toBody(
    v.object({
      id: nullableText,
      name: nullableText,
      output: v.fallback(text, ''),
      is_error: v.fallback(v.boolean(), false),
    }),
    (wire) => {
      const { text: output, omitted } = kept(wire.output);
      const kind = 'tool_call_completed' as const;
      const result = { kind, callId: wire.id, name: wire.name, output, isError: wire.is_error };
      return omitted === 0 ? result : { ...result, omitted };
    },
  ),
  usage: toBody(
    v.object({
      prompt_tokens: count,
      completion_tokens: count,
      cached_tokens: v.fallback(v.nullish(finite, null), null),
    }),
    (wire) => ({
      kind: 'usage',
      prompt: wire.prompt_tokens,
      completion: wire.completion_tokens,
      cached: wire.cached_tokens,
    }),
  ),
  request: toBody(v.object({ request: requestSchema }), (wire) => ({ kind: 'request', request: wire.request })),
  request_resolved: toBody(
    v.object({ request_id: v.pipe(v.number(), v.safeInteger()), response: v.optional(v.unknown()) }),
    (wire) => ({ kind: 'request_resolved', requestId: wire.request_id, resolution: resolutionOf(wire.response) }),
  ),
  cache_warning: toBody(v.object({ message: text }), (wire) => ({ kind: 'cache_warning', message: wire.message })),
  provider_retry: toBody(v.object({ attempt: count, delay_ms: count, reason: v.fallback(text, '') }), (wire) => ({
    kind: 'provider_retry',
    attempt: wire.attempt,
    delayMs: wire.delay_ms,
    reason: wire.reason,
  })),
  model_changed: toBody(v.object({ from: v.fallback(text, ''), to: text, reason: nullableText }), (wire) => ({
    kind: 'model_changed',
    from: wire.from,
    to: wire.to,
    reason: wire.reason,
  })),
  background_output: toBody(
    v.object({
      job_id: v.fallback(v.union([text, v.pipe(v.number(), v.transform(String))]), ''),
      chunk: text,
      truncated: v.fallback(v.boolean(), false),
    }),
    (wire) => ({ kind: 'background_output', jobId: wire.job_id, chunk: wire.chunk, truncated: wire.truncated }),
  ),
  diff_updated: diff,
  diff_update: diff,
  scheduled_prompt_started: scheduled('started'),
  scheduled_prompt_deferred: scheduled('deferred'),
  scheduled_prompt_completed: scheduled('completed'),
  scheduler_error: trouble('scheduler_error'),
  stream_error: trouble('stream_error'),
  transport_error: trouble('transport_error'),
  watch_error: trouble('watch_error'),
  runtime_disconnected: trouble('runtime_disconnected'),
} as const;

const schemaOf = new Map<string, v.GenericSchema<unknown, EventBody>>(Object.entries(eventSchemas));

/**
 * A frame of the stream, parsed from JSON, as an event of ours; undefined where it is no event at all (no usable
 * sequence or kind). Streamed text goes past the schemas: they would cost more than everything else done to a delta.
 */
export function toRuntimeEvent(frame: unknown): RuntimeEvent | undefined {
  if (typeof frame !== 'object' || frame === null) return undefined;
  const { sequence, kind, payload } = frame as { sequence?: unknown; kind?: unknown; payload?: unknown };
  if (typeof kind !== 'string' || !Number.isSafeInteger(sequence) || (sequence as number) < 0) return undefined;
  const at = sequence as number;
  if (kind === 'text_delta' || kind === 'reasoning') {
    const piece = typeof payload === 'object' && payload !== null ? (payload as { text?: unknown }).text : undefined;
    return typeof piece === 'string' ? { sequence: at, kind, text: piece } : opaque(at, kind, payload);
  }
  return { sequence: at, ...toEventBody(kind, payload) };
}

/** What a kind and its payload say, through the schemas. */
export function toEventBody(kind: string, payload: unknown): EventBody {
  if (kind === 'native_event') return nativeEvent(payload);
  const schema = schemaOf.get(kind);
  const parsed = schema && v.safeParse(schema, payload);
  return parsed?.success
    ? parsed.output
    : { kind: 'opaque', eventKind: kind, preview: boundedJson(payload, OPAQUE_LIMIT) };
}

/** As many events as a list of frames holds, in order, and how many frames were none. */
export function toRuntimeEvents(frames: readonly unknown[]): { events: readonly RuntimeEvent[]; malformed: number } {
  const events: RuntimeEvent[] = [];
  for (const frame of frames) {
    const event = toRuntimeEvent(frame);
    if (event) events.push(event);
  }
  return { events, malformed: frames.length - events.length };
}

const nativeSchema = v.object({ kind: v.fallback(text, 'native_event'), raw: v.optional(v.unknown()) });
const codexDiff = v.union([v.object({ diff: text }), v.object({ params: v.object({ diff: text }) })]);

/** A harness's own event. Codex reports its whole-turn diff so, and nowhere else. */
function nativeEvent(payload: unknown): EventBody {
  const { kind, raw } = v.parse(nativeSchema, typeof payload === 'object' && payload !== null ? payload : {});
  if (kind === 'turn/diff/updated') {
    const parsed = v.safeParse(codexDiff, raw);
    if (parsed.success) {
      return { kind: 'diff_updated', diff: 'diff' in parsed.output ? parsed.output.diff : parsed.output.params.diff };
    }
  }
  return { kind: 'opaque', eventKind: kind, preview: boundedJson(raw ?? null, OPAQUE_LIMIT) };
}

function opaque(sequence: number, eventKind: string, payload: unknown): RuntimeEvent {
  return { sequence, kind: 'opaque', eventKind, preview: boundedJson(payload ?? null, OPAQUE_LIMIT) };
}

import * as v from 'valibot';
import { boundedJson, writable } from './bounded.js';

/** What the runtime asks a person. Source: frontend.v2 §8.1; a hosted harness's spelling is translated here. */
export interface RuntimeRequest {
  /** Exactly representable: a native id counts from 1 in each process, a hosted one is a 53-bit hash. */
  readonly id: number;
  readonly body: RequestBody;
}

export type RequestBody =
  | {
      readonly kind: 'approval';
      readonly tool: string;
      /** The one string that the decision is about (command, path or patch). */
      readonly subject: string | null;
      readonly args: JsonObject | null;
      /** The decisions that the harness can carry; null where it names none, which means all. */
      readonly decisions: readonly string[] | null;
      readonly childAgent: string | null;
    }
  | { readonly kind: 'elicitation'; readonly message: string; readonly schema: JsonObject | null }
  | { readonly kind: 'other'; readonly preview: string };

export type JsonObject = { readonly [name: string]: Json };
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** The body of `frontend.v2.respond`, as it goes over the wire (§8.3). It is offered, carried and sent unchanged. */
export type RequestAnswer =
  | { readonly kind: 'approval'; readonly request_id: number; readonly decision: string }
  | {
      readonly kind: 'elicitation' | 'other';
      readonly request_id: number;
      readonly action: 'accept' | 'decline' | 'cancel';
      readonly content: Json;
    };

/** What became of a request, in the runtime's words or in those of a hosted harness's owner. */
export type Resolution =
  | { readonly kind: 'decision'; readonly decision: string }
  | { readonly kind: 'action'; readonly action: string }
  | { readonly kind: 'unnamed'; readonly preview: string };

const OPAQUE_LIMIT = 2048;
const text = v.string();
const nullableText = v.nullish(text, null);
const object = v.pipe(
  v.custom<JsonObject>((value) => isObject(value)),
  v.transform((value) => writable(value) as JsonObject),
);
const nullableObject = v.fallback(v.nullish(object, null), null);

const approval = v.pipe(
  v.object({
    tool: v.fallback(text, 'tool'),
    subject: v.fallback(nullableText, null),
    raw_args: nullableObject,
    arguments: nullableObject,
    // A list with a stray member offers its other members: read as no list, it would offer everything.
    decisions: v.fallback(v.nullish(v.array(v.unknown()), null), null),
    child_agent_id: v.fallback(nullableText, null),
  }),
  v.transform((wire): RequestBody => ({
    kind: 'approval',
    tool: wire.tool,
    subject: wire.subject,
    args: wire.raw_args ?? wire.arguments,
    decisions: wire.decisions?.filter((decision) => typeof decision === 'string') ?? null,
    childAgent: wire.child_agent_id,
  })),
);

const elicitation = v.pipe(
  v.object({ message: v.fallback(text, ''), requested_schema: nullableObject }),
  v.transform((wire): RequestBody => ({ kind: 'elicitation', message: wire.message, schema: wire.requested_schema })),
);

/** Of a request only the id is indispensable: whatever else is missing, a person must see that something waits. */
export const requestSchema = v.pipe(
  v.object({
    id: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    kind: v.fallback(text, 'other'),
    payload: v.optional(v.unknown()),
  }),
  v.transform(({ id, kind, payload }): RuntimeRequest => ({
    id,
    body: bodyOf(kind, isObject(payload) ? payload : {}),
  })),
);

function bodyOf(kind: string, payload: object): RequestBody {
  if (kind === 'approval') return v.parse(approval, payload);
  if (kind === 'elicitation') return v.parse(elicitation, payload);
  return { kind: 'other', preview: boundedJson(payload, OPAQUE_LIMIT) };
}

/** A resolution: `{decision}` or `{action}` through our door, a native body such as `{behavior}` through the owner's. */
export function resolutionOf(response: unknown): Resolution {
  if (isObject(response)) {
    const { decision, action, behavior } = response;
    if (typeof decision === 'string') return { kind: 'decision', decision };
    if (typeof action === 'string') return { kind: 'action', action };
    if (typeof behavior === 'string') return { kind: 'decision', decision: behavior };
  }
  return { kind: 'unnamed', preview: boundedJson(response ?? null, OPAQUE_LIMIT) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

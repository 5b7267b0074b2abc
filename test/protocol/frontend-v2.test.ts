import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  acceptedSchema,
  descriptorSchema,
  interruptedSchema,
  isHosted,
  leaseSchema,
  queuedSchema,
  replySchema,
  snapshotSchema,
  toRefusal,
  type Descriptor,
} from '../../src/protocol/frontend-v2.js';
import type { RefusalReason } from '../../src/protocol/refusal.js';
import { scenarios, traffic } from '../support/traffic.js';

interface Answered {
  readonly scenario: string;
  readonly method: string;
  readonly result: unknown;
  readonly error: unknown;
}

/** Every call of the recorded traffic that was answered, with its answer. */
const answers: readonly Answered[] = scenarios().flatMap((scenario) => {
  const calls = new Map<string, string>();
  return traffic(scenario).flatMap((line): Answered[] => {
    const { body, client } = line;
    if (line.kind !== 'http' || typeof body !== 'object') return [];
    const key = `${client ?? ''} ${JSON.stringify(body.id)}`;
    if (line.direction === 'out') {
      if (body.method !== undefined) calls.set(key, body.method);
      return [];
    }
    return [{ scenario, method: calls.get(key) ?? '', result: body.result, error: body.error }];
  });
});

const resultsOf = (method: string) =>
  answers.filter((answer) => answer.method === `frontend.v2.${method}` && answer.result !== undefined);

describe('the recorded answers', () => {
  it.each([
    ['describe', descriptorSchema, 3],
    ['attach', snapshotSchema, 60],
    ['lease', leaseSchema, 3],
    ['heartbeat', leaseSchema, 3],
    ['take_control', leaseSchema, 3],
    ['acquire_control', leaseSchema, 2],
    ['detach', leaseSchema, 1],
    ['send_input', acceptedSchema, 40],
    ['respond', acceptedSchema, 15],
    ['interrupt', interruptedSchema, 5],
    ['steer', queuedSchema, 1],
    ['submit', replySchema, 1],
  ] as const)('to %s fit their schema', (method, schema, atLeast) => {
    const results = resultsOf(method);
    expect(results.length).toBeGreaterThanOrEqual(atLeast);
    const misfits = results.filter(({ result }) => !v.safeParse(schema as v.GenericSchema, result).success);
    expect(misfits).toEqual([]);
  });

  it('hold no replayed frame that is no event', () => {
    const malformed = resultsOf('attach').map(({ result }) => v.parse(snapshotSchema, result).malformed);
    expect(malformed.filter((count) => count > 0)).toEqual([]);
  });

  it('hold each message of the saved history', () => {
    for (const { result } of resultsOf('attach')) {
      const wire = result as { history: readonly { role: string; tool_calls?: readonly unknown[] }[] };
      const { history } = v.parse(snapshotSchema, result);
      expect(history.map(({ role, toolCalls }) => [role, toolCalls.length])).toEqual(
        wire.history.map(({ role, tool_calls }) => [role, tool_calls?.length ?? 0]),
      );
    }
  });
});

const WIRE = {
  schema_version: 2,
  session_id: 's',
  source_harness: null,
  emulation_profile: null,
  active_modules: [],
  commands: [],
  operations: [{ id: 'prompt:greet', kind: 'prompt', command: { name: 'greet', description: 'says hello' } }],
  actions: { submit: true, interrupt: true, steer: true, respond: false, detach: true, close: false },
  display: { event_kinds: [], opaque_fallback: true },
  model: 'scripted/model',
  turn_state: 'idle',
  connection_state: 'connected',
};

describe('a descriptor', () => {
  it('is read for what we use of it', () => {
    expect(v.parse(descriptorSchema, WIRE)).toEqual({
      sessionId: 's',
      sourceHarness: null,
      model: 'scripted/model',
      turnState: 'idle',
      connectionState: 'connected',
      actions: { submit: true, interrupt: true, steer: true, respond: false, close: false },
      operations: [{ id: 'prompt:greet', kind: 'prompt', command: { name: 'greet', description: 'says hello' } }],
    } satisfies Descriptor);
  });

  it('of an old peer has no operations', () => {
    const { operations: _, ...old } = WIRE;
    expect(v.parse(descriptorSchema, old).operations).toEqual([]);
  });

  it('may have operations without a command', () => {
    const operations = [{ id: 'context:usage', kind: 'context', command: null }, { id: 'x' }];
    expect(v.parse(descriptorSchema, { ...WIRE, operations }).operations).toEqual([
      { id: 'context:usage', kind: 'context', command: null },
      { id: 'x', kind: 'unknown', command: null },
    ]);
  });

  it.each([
    ['another schema', { schema_version: 3 }],
    ['no schema', { schema_version: undefined }],
    ['no session', { session_id: null }],
    ['no actions', { actions: null }],
    ['an unknown turn state', { turn_state: 'sleeping' }],
  ])('with %s is refused', (_, change) => {
    expect(v.safeParse(descriptorSchema, { ...WIRE, ...change }).success).toBe(false);
  });

  it('allows nothing that it does not name', () => {
    const { actions } = v.parse(descriptorSchema, { ...WIRE, actions: { submit: 'yes', interrupt: 1 } });
    expect(actions).toEqual({ submit: false, interrupt: false, steer: false, respond: false, close: false });
  });

  it.each([
    ['claude-code', true],
    ['codex', true],
    ['supercode', false],
    [null, false],
  ])('of the harness %s is of a hosted runtime: %s', (source_harness, hosted) => {
    expect(isHosted(v.parse(descriptorSchema, { ...WIRE, source_harness }))).toBe(hosted);
    expect(isHosted(undefined)).toBe(false);
  });
});

const snapshot = (history: readonly unknown[], rest: object = {}) =>
  v.safeParse(snapshotSchema, { descriptor: WIRE, history, history_cursor: 0, replay: [], ...rest });

describe('a snapshot', () => {
  it('has messages with text, images, calls and results', () => {
    const read = snapshot([
      { role: 'system', content: 'You are.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look: ' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          { type: 'text', text: 'this.' },
          { type: 'later', data: 1 },
        ],
      },
      { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{' } }] },
      { role: 'tool', content: 'Error: no', tool_call_id: 'c1', name: 'bash' },
      { role: 'assistant', content: 'Done.', tool_calls: null },
    ]);
    expect(read.output).toMatchObject({
      history: [
        { role: 'system', text: 'You are.', images: 0, toolCalls: [], toolCallId: null },
        { role: 'user', text: 'Look: this.', images: 1, toolCalls: [], toolCallId: null },
        { role: 'assistant', text: '', images: 0, toolCalls: [{ id: 'c1', name: 'bash', arguments: '{' }] },
        { role: 'tool', text: 'Error: no', toolCallId: 'c1' },
        { role: 'assistant', text: 'Done.', toolCalls: [] },
      ],
    });
  });

  it('keeps no image data', () => {
    const url = `data:image/png;base64,${'A'.repeat(1000)}`;
    const read = snapshot([{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]);
    expect(JSON.stringify(read.output)).not.toContain('base64');
  });

  it('keeps 1 MiB of what a tool was given and 64 KiB of what it gave back, with how much is missing, and all that was said', () => {
    const long = 'x'.repeat(5_000_000);
    const read = snapshot([
      { role: 'user', content: long },
      { role: 'assistant', content: long, tool_calls: [{ id: 'a', function: { name: 'bash', arguments: long } }] },
      { role: 'tool', content: `${'x'.repeat(65_535)}\ud83d\ude00\ud800`, tool_call_id: 'a' },
      { role: 'tool', content: [{ type: 'text', text: long }], tool_call_id: 'a' },
      { role: 'tool', content: 'x'.repeat(65_536), tool_call_id: 'a' },
    ]);
    if (!read.success) throw new Error('it is a snapshot');
    const [prompt, answer, parted, joined, whole] = read.output.history;
    expect([prompt?.text, answer?.text]).toEqual([long, long]);
    expect(answer?.toolCalls).toMatchObject([{ name: 'bash', omitted: 5_000_000 - 1_048_576 }]);
    expect(answer?.toolCalls[0]?.arguments).toHaveLength(1_048_576);
    expect(parted?.text).toBe('x'.repeat(65_535));
    expect([parted, joined, whole].map((message) => message?.omitted)).toEqual([3, 5_000_000 - 65_536, undefined]);
    expect(joined?.text).toHaveLength(65_536);
    expect(whole).not.toHaveProperty('omitted');
  });

  it.each([5, { text: 'a' }, [7], true])('has an empty message where its content is %j', (content) => {
    expect(snapshot([{ role: 'user', content }]).output).toMatchObject({ history: [{ text: '', images: 0 }] });
  });

  it('counts replayed frames that are no events and applies the rest', () => {
    const replay = [{ sequence: 1, kind: 'turn_started', payload: {} }, 'junk', { sequence: 0.5 }];
    const read = snapshot([], { replay });
    expect(read.output).toMatchObject({ replay: [{ sequence: 1, kind: 'turn_started' }], malformed: 2 });
  });

  it.each([-1, 1.5, 2 ** 53, '4', null])('[fault 11] whose cursor is %j is refused', (history_cursor) => {
    expect(snapshot([], { history_cursor }).success).toBe(false);
  });
});

describe('a lease', () => {
  it('names its holder, or nobody', () => {
    const observers = [{ client_id: 'b', last_seen_ms: 1 }];
    const held = { controller: { client_id: 'a', expires_at_ms: 5 }, observers, lease_ttl_ms: 30_000 };
    expect(v.parse(leaseSchema, held)).toEqual({ controller: { clientId: 'a' }, ttlMs: 30_000 });
    expect(v.parse(leaseSchema, { ...held, controller: null })).toEqual({ controller: null, ttlMs: 30_000 });
  });

  it.each([0, -1, '30000', null])('that lasts %j ms is refused: nothing could be paced by it', (lease_ttl_ms) => {
    expect(v.safeParse(leaseSchema, { controller: null, lease_ttl_ms }).success).toBe(false);
  });
});

describe('a refusal', () => {
  it('has the reason that the recorded error names, else that of its code', () => {
    const reasons: Record<string, RefusalReason> = {};
    for (const { error } of answers) {
      if (typeof error !== 'object' || error === null) continue;
      const { code, name } = error as { code: number; name?: string };
      reasons[`${code} ${name ?? '—'}`] = toRefusal(error).reason;
    }
    expect(reasons).toEqual({
      '-32030 unauthenticated': 'unauthenticated',
      '-32031 unauthorized': 'unauthorized',
      '-32032 controller_required': 'controller_required',
      '-32033 lease_expired': 'lease_expired',
      '-32000 busy': 'busy',
      '-32001 execution': 'execution',
      '-32002 execution': 'execution',
      '-32010 transport': 'transport',
      '-32020 unsupported_action': 'unsupported_action',
      '-32023 unsupported_action': 'unsupported_action',
      '-32022 not_found': 'not_found',
      '-32022 invalid_argument': 'invalid_argument',
      '-32601 —': 'unsupported_action',
      '-32602 —': 'invalid_argument',
      '-32700 —': 'invalid_request',
    });
  });

  it.each<[number, RefusalReason]>([
    [-32030, 'unauthenticated'],
    [-32031, 'unauthorized'],
    [-32032, 'controller_required'],
    [-32033, 'lease_expired'],
    [-32000, 'busy'],
    [-32001, 'execution'],
    [-32002, 'execution'],
    [-32010, 'transport'],
    [-32020, 'unsupported_action'],
    [-32021, 'not_found'],
    [-32022, 'not_found'],
    [-32023, 'unsupported_action'],
    [-32600, 'invalid_request'],
    [-32601, 'unsupported_action'],
    [-32602, 'invalid_argument'],
    [-32700, 'invalid_request'],
    [-1, 'unknown'],
  ])('of code %i alone is %s', (code, reason) => {
    expect(toRefusal({ code, message: 'm' })).toEqual({ reason, message: 'm' });
    expect(toRefusal({ code, message: 'm', name: 'a_later_name' }).reason).toBe(reason);
  });

  it('goes by its name, for several names share a code', () => {
    expect(toRefusal({ code: -32_002, message: 'm', name: 'unsupported_action' }).reason).toBe('unsupported_action');
  });

  it('says who holds control, and which permission is missing', () => {
    const held = { code: -32_032, message: 'm', name: 'controller_required', holder: 'b', expiresAtMs: 5 };
    expect(toRefusal(held)).toEqual({ reason: 'controller_required', message: 'm', holder: 'b' });
    const missing = { code: -32_031, message: 'm', name: 'unauthorized', permission: 'interact', operation: null };
    expect(toRefusal(missing)).toEqual({ reason: 'unauthorized', message: 'm', permission: 'interact' });
  });

  it.each(['missing or invalid bearer token', null, undefined, 7, []])(
    'of the form %j says at least that it is one',
    (error) => {
      expect(toRefusal(error)).toEqual({
        reason: 'unknown',
        message: 'The runtime refused the call without saying why.',
      });
    },
  );
});

it.each([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['tool', 'tool'],
  ['critic', 'assistant'],
])('a saved message of role %s does not refuse the snapshot: it is read as %s', (role, read) => {
  const [recorded] = resultsOf('attach');
  const parsed = v.parse(snapshotSchema, { ...(recorded?.result as object), history: [{ role, content: 'x' }] });
  expect(parsed.history.map((message) => message.role)).toEqual([read]);
});

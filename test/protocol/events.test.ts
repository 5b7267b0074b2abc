import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  eventSchemas,
  OPAQUE_LIMIT,
  toEventBody,
  toRuntimeEvent,
  toRuntimeEvents,
  type EventBody,
  type EventKind,
} from '../../src/protocol/frontend-v2-events.js';
import { scenarios, traffic } from '../support/traffic.js';

type Row = readonly [what: string, payload: unknown, event: EventBody];

const REQUEST = { id: 7, kind: 'other', payload: {} };

/** What the contract's §6.6 says of each kind, as the wire has it and as we have it. */
const ROWS: Readonly<Record<keyof typeof eventSchemas | 'native_event', readonly Row[]>> = {
  user_message: [['what was typed', { text: '/greet now' }, { kind: 'user_message', text: '/greet now' }]],
  turn_started: [
    ['native', { schema_version: 1 }, { kind: 'turn_started' }],
    ['hosted', {}, { kind: 'turn_started' }],
  ],
  text_delta: [
    ['native', { text: 'Hel' }, { kind: 'text_delta', text: 'Hel' }],
    ['hosted', { text: 'Hello.', raw: { uuid: 'u' } }, { kind: 'text_delta', text: 'Hello.' }],
    ['with nothing in it', { text: '' }, { kind: 'text_delta', text: '' }],
  ],
  usage: [
    [
      'of a round-trip',
      { prompt_tokens: 126, completion_tokens: 3, total_tokens: 129, cached_tokens: 100 },
      { kind: 'usage', prompt: 126, completion: 3, cached: 100 },
    ],
    [
      'without a cache',
      { prompt_tokens: 126, completion_tokens: 3, total_tokens: 129, cached_tokens: null },
      { kind: 'usage', prompt: 126, completion: 3, cached: null },
    ],
    ['with nothing counted', {}, { kind: 'usage', prompt: 0, completion: 0, cached: null }],
  ],
  turn_completed: [['of a round-trip', {}, { kind: 'turn_completed' }]],
  turn_succeeded: [
    ['native', { schema_version: 1, reply: 'Hello.' }, { kind: 'turn_succeeded' }],
    ['hosted', {}, { kind: 'turn_succeeded' }],
  ],
  turn_interrupted: [['native', { schema_version: 1 }, { kind: 'turn_interrupted' }]],
  turn_failed: [
    ['native', { schema_version: 1, message: 'no model' }, { kind: 'turn_failed', message: 'no model' }],
    ['hosted', { message: 'it broke', raw: { type: 'result' } }, { kind: 'turn_failed', message: 'it broke' }],
    ['without a reason', {}, { kind: 'turn_failed', message: '' }],
  ],
  tool_call_started: [
    [
      'native, its arguments exactly as the model wrote them',
      { id: 'call_1', name: 'bash', arguments: '{"command": ' },
      { kind: 'tool_call_started', callId: 'call_1', name: 'bash', arguments: '{"command": ' },
    ],
    [
      'hosted, without id and name',
      { id: null, name: null, arguments: '{}' },
      { kind: 'tool_call_started', callId: null, name: null, arguments: '{}' },
    ],
    [
      'of an ACP agent',
      { id: 'a', name: 'edit', arguments: '{}', output: null, is_error: false, raw: {} },
      { kind: 'tool_call_started', callId: 'a', name: 'edit', arguments: '{}' },
    ],
  ],
  tool_call_completed: [
    [
      'native',
      { id: 'call_1', name: 'bash', output: 'exit code: 0', is_error: false },
      { kind: 'tool_call_completed', callId: 'call_1', name: 'bash', output: 'exit code: 0', isError: false },
    ],
    [
      'of Claude Code, without a name',
      { id: 'toolu_1', name: null, output: 'denied', is_error: true },
      { kind: 'tool_call_completed', callId: 'toolu_1', name: null, output: 'denied', isError: true },
    ],
  ],
  request: [
    [
      'of any kind (see requests)',
      { request: REQUEST },
      { kind: 'request', request: { id: 7, body: { kind: 'other', preview: '{}' } } },
    ],
  ],
  request_resolved: [
    [
      'through our door',
      { request_id: 7, response: { kind: 'approval', request_id: 7, decision: 'allow' } },
      { kind: 'request_resolved', requestId: 7, resolution: { kind: 'decision', decision: 'allow' } },
    ],
    [
      'through the door of the owner of a hosted runtime',
      { request_id: 7, response: { behavior: 'allow' } },
      { kind: 'request_resolved', requestId: 7, resolution: { kind: 'decision', decision: 'allow' } },
    ],
    [
      'without a word',
      { request_id: 7 },
      { kind: 'request_resolved', requestId: 7, resolution: { kind: 'unnamed', preview: 'null' } },
    ],
  ],
  cache_warning: [
    ['from a reduced session', { message: 'cache lost' }, { kind: 'cache_warning', message: 'cache lost' }],
  ],
  provider_retry: [
    [
      'counted from 0',
      { attempt: 0, delay_ms: 503, reason: 'HTTP 503' },
      { kind: 'provider_retry', attempt: 0, delayMs: 503, reason: 'HTTP 503' },
    ],
  ],
  model_changed: [
    [
      'with a reason',
      { from: 'a', to: 'b', reason: 'asked' },
      { kind: 'model_changed', from: 'a', to: 'b', reason: 'asked' },
    ],
    ['without one', { from: 'a', to: 'b', reason: null }, { kind: 'model_changed', from: 'a', to: 'b', reason: null }],
  ],
  background_output: [
    [
      'of a named job',
      { job_id: 'job-1', chunk: 'line\n', truncated: true },
      { kind: 'background_output', jobId: 'job-1', chunk: 'line\n', truncated: true },
    ],
    [
      'of a numbered job',
      { job_id: 3, chunk: 'line\n', truncated: false },
      { kind: 'background_output', jobId: '3', chunk: 'line\n', truncated: false },
    ],
  ],
  turn_aborted: [
    ['by a named source', { source: 'ctrl-c' }, { kind: 'turn_aborted', source: 'ctrl-c' }],
    ['by nobody named', {}, { kind: 'turn_aborted', source: null }],
  ],
  reasoning: [['hosted', { text: 'Hm.', raw: {} }, { kind: 'reasoning', text: 'Hm.' }]],
  thinking: [['as renderers read it', { text: 'Hm.' }, { kind: 'reasoning', text: 'Hm.' }]],
  native_event: [
    [
      'of a form that nobody knows',
      { kind: 'plan/updated', raw: { steps: 2 } },
      { kind: 'opaque', eventKind: 'plan/updated', preview: '{"steps":2}' },
    ],
    ['without a form', { raw: { a: 1 } }, { kind: 'opaque', eventKind: 'native_event', preview: '{"a":1}' }],
    ['without anything', {}, { kind: 'opaque', eventKind: 'native_event', preview: 'null' }],
    [
      'of Codex: the diff of its turn',
      { kind: 'turn/diff/updated', raw: { method: 'turn/diff/updated', params: { threadId: 't', diff: '--- a' } } },
      { kind: 'diff_updated', diff: '--- a' },
    ],
    [
      'of Codex: the diff of its turn, its parameters alone',
      { kind: 'turn/diff/updated', raw: { threadId: 't', turnId: '1', diff: '--- a' } },
      { kind: 'diff_updated', diff: '--- a' },
    ],
    [
      'of Codex: a diff that is none',
      { kind: 'turn/diff/updated', raw: { params: { diff: null } } },
      { kind: 'opaque', eventKind: 'turn/diff/updated', preview: '{"params":{"diff":null}}' },
    ],
  ],
  runtime_disconnected: [
    ['hosted', { message: 'exited' }, { kind: 'trouble', source: 'runtime_disconnected', message: 'exited' }],
  ],
  scheduled_prompt_started: [
    ['with its prompt', { prompt: 'tidy' }, { kind: 'scheduled_prompt', phase: 'started', detail: 'tidy' }],
  ],
  scheduled_prompt_deferred: [
    ['with a message', { message: 'busy' }, { kind: 'scheduled_prompt', phase: 'deferred', detail: 'busy' }],
  ],
  scheduled_prompt_completed: [
    ['with a name', { name: 'nightly' }, { kind: 'scheduled_prompt', phase: 'completed', detail: 'nightly' }],
    ['with nothing', {}, { kind: 'scheduled_prompt', phase: 'completed', detail: '' }],
  ],
  scheduler_error: [['with a message', { message: 'm' }, { kind: 'trouble', source: 'scheduler_error', message: 'm' }]],
  diff_updated: [['of a turn', { diff: '--- a' }, { kind: 'diff_updated', diff: '--- a' }]],
  diff_update: [['by its other name', { diff: '--- a' }, { kind: 'diff_updated', diff: '--- a' }]],
  stream_error: [['with a message', { message: 'm' }, { kind: 'trouble', source: 'stream_error', message: 'm' }]],
  transport_error: [['with a message', { message: 'm' }, { kind: 'trouble', source: 'transport_error', message: 'm' }]],
  watch_error: [['without one', {}, { kind: 'trouble', source: 'watch_error', message: '' }]],
};

const rows = Object.entries(ROWS).flatMap(([kind, of]) =>
  of.map(([what, payload, event]) => [kind, what, payload, event] as const),
);

describe('an event', () => {
  it.each(rows)('%s %s', (kind, _, payload, event) => {
    const wire = { type: kind, ...(payload as object) };
    expect(toRuntimeEvent({ sequence: 4, kind, payload: wire })).toEqual({ sequence: 4, ...event });
  });

  it('is of every kind of ours in some row', () => {
    const kinds: Readonly<Record<EventKind, true>> = {
      user_message: true,
      turn_started: true,
      turn_completed: true,
      turn_succeeded: true,
      turn_interrupted: true,
      turn_failed: true,
      turn_aborted: true,
      text_delta: true,
      reasoning: true,
      tool_call_started: true,
      tool_call_completed: true,
      usage: true,
      request: true,
      request_resolved: true,
      cache_warning: true,
      provider_retry: true,
      model_changed: true,
      background_output: true,
      diff_updated: true,
      scheduled_prompt: true,
      trouble: true,
      opaque: true,
    };
    expect(new Set(rows.map(([, , , event]) => event.kind))).toEqual(new Set(Object.keys(kinds)));
  });

  it.each(rows)('%s %s may bring fields that nobody knows', (kind, _, payload, event) => {
    const extra = { _meta: { supercode: { transient: true } }, schema_version: 9, later: [1, { deep: null }] };
    const frame = { sequence: 4, kind, payload: { ...extra, ...(payload as object) }, id: 'x', at: 1 };
    expect(toRuntimeEvent(frame)).toEqual({ sequence: 4, ...event });
  });

  it.each(['a_later_kind', '', 'constructor', '__proto__', 'toString'])(
    'of the unknown kind %j is shown as what it is',
    (kind) => {
      const event = toRuntimeEvent({ sequence: 4, kind, payload: { type: kind, a: [1, 'b'] } });
      expect(event).toEqual({
        sequence: 4,
        kind: 'opaque',
        eventKind: kind,
        preview: `{"type":${JSON.stringify(kind)},"a":[1,"b"]}`,
      });
    },
  );

  it.each<[string, unknown, string]>([
    ['user_message', { text: 5 }, '{"text":5}'],
    ['text_delta', { text: null }, '{"text":null}'],
    ['text_delta', { delta: 'x' }, '{"delta":"x"}'],
    ['reasoning', 'Hm.', '"Hm."'],
    ['thinking', { thinking: 'Hm.' }, '{"thinking":"Hm."}'],
    ['request', { request: { kind: 'approval', payload: {} } }, '{"request":{"kind":"approval","payload":{}}}'],
    ['request', { request: { ...REQUEST, id: -1 } }, '{"request":{"id":-1,"kind":"other","payload":{}}}'],
    ['request_resolved', { request_id: 1.5, response: {} }, '{"request_id":1.5,"response":{}}'],
    ['cache_warning', {}, '{}'],
    ['model_changed', { from: 'a' }, '{"from":"a"}'],
    ['background_output', { job_id: 'j' }, '{"job_id":"j"}'],
    ['diff_updated', { diff: ['a'] }, '{"diff":["a"]}'],
    ['turn_failed', null, 'null'],
    ['tool_call_started', 'bash', '"bash"'],
    ['usage', 12, '12'],
  ])('%s whose payload does not fit (%j) is shown, never dropped', (eventKind, payload, preview) => {
    expect(toRuntimeEvent({ sequence: 4, kind: eventKind, payload })).toEqual({
      sequence: 4,
      kind: 'opaque',
      eventKind,
      preview,
    });
  });

  property.prop([fc.constantFrom(...Object.keys(ROWS), 'a_later_kind'), fc.jsonValue({ maxDepth: 4 })])(
    'comes of every frame that has a kind and a number, whatever its payload',
    (kind, payload) => {
      const event = toRuntimeEvent({ sequence: 4, kind, payload });
      expect(event?.sequence).toBe(4);
      expect(JSON.parse(JSON.stringify(event))).toEqual(event);
    },
  );

  const textLike = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.record({ text: fc.jsonValue({ maxDepth: 2 }), raw: fc.jsonValue({ maxDepth: 2 }) }, { requiredKeys: [] }),
    fc.constant(undefined),
  );
  property.prop([fc.constantFrom('text_delta', 'reasoning'), textLike], { numRuns: 500 })(
    'of streamed text is what its schema says, though it goes past it',
    (kind, payload) => {
      expect(toRuntimeEvent({ sequence: 4, kind, payload })).toEqual({ sequence: 4, ...toEventBody(kind, payload) });
    },
  );
});

describe('a frame', () => {
  const parsed = (json: string) => toRuntimeEvent(JSON.parse(json));

  it.each([
    ['a number', '1'],
    ['a text', '"text_delta"'],
    ['true', 'true'],
    ['null', 'null'],
    ['a list', '[1,"text_delta",{"text":"a"}]'],
    ['a list of a frame', '[{"sequence":1,"kind":"text_delta","payload":{"text":"a"}}]'],
    ['an object of nothing', '{}'],
    ['`__proto__`', '{"__proto__":{"sequence":1,"kind":"text_delta","payload":{"text":"a"}}}'],
    ['without a kind', '{"sequence":1,"payload":{"type":"text_delta","text":"a"}}'],
    ['of a kind that is no text', '{"sequence":1,"kind":["text_delta"],"payload":{"text":"a"}}'],
    ['without a number', '{"kind":"text_delta","payload":{"text":"a"}}'],
    ['numbered 1e400', '{"sequence":1e400,"kind":"text_delta","payload":{"text":"a"}}'],
    ['nested 10 000 deep', '['.repeat(10_000) + ']'.repeat(10_000)],
  ])('[fault 10] that is %s is no event', (_, json) => {
    expect(parsed(json)).toBeUndefined();
  });

  it('[fault 10] with a payload of `__proto__` takes nothing from there', () => {
    const event = parsed('{"sequence":1,"kind":"text_delta","payload":{"__proto__":{"text":"a"}}}');
    expect(event).toMatchObject({ kind: 'opaque', eventKind: 'text_delta', preview: '{"__proto__":{"text":"a"}}' });
  });

  it('[fault 10] with a key twice means the last one', () => {
    const json =
      '{"sequence":1,"sequence":2,"kind":"usage","kind":"text_delta","payload":{"text":"a"},"payload":{"text":"b","text":"c"}}';
    expect(parsed(json)).toEqual({ sequence: 2, kind: 'text_delta', text: 'c' });
  });

  it.each([
    ['usage', '{"prompt_tokens":1e400,"completion_tokens":-1e400,"cached_tokens":1e400}'],
    ['provider_retry', '{"attempt":1e400,"delay_ms":1e400,"reason":"r"}'],
    ['request', '{"request":{"id":1,"kind":"approval","payload":{"tool":"t","raw_args":{"n":1e400}}}}'],
    [
      'request',
      '{"request":{"id":1,"kind":"elicitation","payload":{"message":"m","requested_schema":{"n":[-1e400]}}}}',
    ],
    ['a_later_kind', '{"n":1e400}'],
  ])('[fault 10] of %s with 1e400 in it is plain JSON all the same', (kind, payload) => {
    const event = parsed(`{"sequence":1,"kind":"${kind}","payload":${payload}}`);
    expect(event).toBeDefined();
    expect(JSON.parse(JSON.stringify(event))).toEqual(event);
  });

  const deep = `${'{"a":['.repeat(10_000)}1${']}'.repeat(10_000)}`;
  it.each([
    ['of an unknown kind', 'a_later_kind', deep],
    ['of a harness of its own', 'native_event', `{"kind":"plan","raw":${deep}}`],
    ['that asks for approval', 'request', `{"request":{"id":1,"kind":"approval","payload":{"raw_args":${deep}}}}`],
    [
      'that asks a question',
      'request',
      `{"request":{"id":1,"kind":"elicitation","payload":{"message":"m","requested_schema":${deep}}}}`,
    ],
    ['that asks for something else', 'request', `{"request":{"id":1,"kind":"later","payload":${deep}}}`],
    ['that is resolved', 'request_resolved', `{"request_id":1,"response":${deep}}`],
    ['whose text is not text', 'text_delta', `{"text":${deep}}`],
  ])('[fault 10] %s, nested 10 000 deep, is an event that can be written down', (_, kind, payload) => {
    const event = parsed(`{"sequence":1,"kind":"${kind}","payload":${payload}}`);
    expect(JSON.stringify(event).length).toBeLessThan(3 * OPAQUE_LIMIT);
  });

  it.each([
    ['negative', '-1'],
    ['not whole', '1.5'],
    ['2^53', '9007199254740992'],
    ['2^53+1', '9007199254740993'],
    ['a text', '"1"'],
    ['null', 'null'],
  ])('[fault 11] whose sequence is %s is no event', (_, sequence) => {
    expect(parsed(`{"sequence":${sequence},"kind":"text_delta","payload":{"text":"a"}}`)).toBeUndefined();
  });

  it('[fault 11] may have any sequence from 0 to 2^53-1', () => {
    const sequences = [0, 1, Number.MAX_SAFE_INTEGER];
    const frames = sequences.map((sequence) => ({ sequence, kind: 'turn_started', payload: {} }));
    expect(frames.map(toRuntimeEvent).map((event) => event?.sequence)).toEqual(sequences);
  });

  it('among others that is no event is counted, and the others stay in order', () => {
    const frames = [
      { sequence: 2, kind: 'text_delta', payload: { text: 'a' } },
      null,
      { sequence: -1, kind: 'text_delta', payload: { text: 'b' } },
      { sequence: 3, kind: 'text_delta', payload: { text: 'c' } },
    ];
    const { events, malformed } = toRuntimeEvents(frames);
    expect(events.map(({ sequence }) => sequence)).toEqual([2, 3]);
    expect(malformed).toBe(2);
  });
});

describe('the recorded traffic', () => {
  const frames = scenarios().flatMap((scenario) =>
    traffic(scenario).flatMap((line) => {
      const replay = (line.body?.result as { replay?: readonly unknown[] } | undefined)?.replay ?? [];
      return line.kind === 'sse' && line.data !== undefined ? [line.data, ...replay] : replay;
    }),
  );

  it('is all events', () => {
    const { events, malformed } = toRuntimeEvents(frames);
    expect(malformed).toBe(0);
    expect(events.length).toBeGreaterThan(3000);
  });

  it('holds no event that we have no form for', () => {
    const opaque = toRuntimeEvents(frames).events.flatMap((event) => (event.kind === 'opaque' ? event.eventKind : []));
    expect([...new Set(opaque)]).toEqual([]);
  });

  it('holds the kinds that the contract marks as observed', () => {
    expect(new Set(toRuntimeEvents(frames).events.map(({ kind }) => kind))).toEqual(
      new Set([
        'user_message',
        'turn_started',
        'text_delta',
        'usage',
        'turn_completed',
        'turn_succeeded',
        'turn_interrupted',
        'turn_failed',
        'tool_call_started',
        'tool_call_completed',
        'request',
        'request_resolved',
        'provider_retry',
        'model_changed',
        'background_output',
        'trouble',
      ]),
    );
  });
});

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { requestSchema, resolutionOf, type RequestBody, type Resolution } from '../../src/protocol/requests.js';
import { scenarios, traffic } from '../support/traffic.js';

const read = (request: unknown) => v.safeParse(requestSchema, request);
const bodyOf = (kind: string, payload: unknown): RequestBody => v.parse(requestSchema, { id: 1, kind, payload }).body;

const APPROVAL = { kind: 'approval', tool: 'tool', subject: null, args: null, decisions: null, childAgent: null };

describe('a request', () => {
  it.each<[string, string, unknown, unknown]>([
    [
      'for approval on a native runtime',
      'approval',
      { tool: 'bash', subject: 'ls', raw_args: { command: 'ls' } },
      { ...APPROVAL, tool: 'bash', subject: 'ls', args: { command: 'ls' } },
    ],
    [
      'for approval by a child agent',
      'approval',
      { tool: 'bash', subject: null, raw_args: {}, child_agent_id: 'agent-1' },
      { ...APPROVAL, tool: 'bash', args: {}, childAgent: 'agent-1' },
    ],
    [
      'for approval in Claude Code: other names, and only what it can carry',
      'approval',
      { tool: 'Bash', arguments: { command: 'ls' }, native_request_id: 'r', decisions: ['allow', 'deny'] },
      { ...APPROVAL, tool: 'Bash', args: { command: 'ls' }, decisions: ['allow', 'deny'] },
    ],
    [
      'that asks a question',
      'elicitation',
      { message: 'Which?', requested_schema: { type: 'object', properties: { q1: { type: 'string' } } } },
      {
        kind: 'elicitation',
        message: 'Which?',
        schema: { type: 'object', properties: { q1: { type: 'string' } } },
      },
    ],
    [
      'that asks a question without a form',
      'elicitation',
      { message: 'Go on?', requested_schema: null },
      { kind: 'elicitation', message: 'Go on?', schema: null },
    ],
    ['of another kind', 'other', { method: 'roots/list' }, { kind: 'other', preview: '{"method":"roots/list"}' }],
    ['of a later kind', 'payment', { sum: 5 }, { kind: 'other', preview: '{"sum":5}' }],
  ])('%s', (_, kind, payload, body) => {
    expect(bodyOf(kind, payload)).toEqual(body);
  });

  it.each<[string, string, unknown, unknown]>([
    ['approval', 'approval', {}, APPROVAL],
    ['approval', 'approval', null, APPROVAL],
    ['approval', 'approval', ['bash'], APPROVAL],
    ['approval', 'approval', { tool: 7, subject: {}, raw_args: 'ls', decisions: 'allow', child_agent_id: 1 }, APPROVAL],
    [
      'approval',
      'approval',
      { tool: 'bash', raw_args: ['ls'], arguments: { a: 1 } },
      { ...APPROVAL, tool: 'bash', args: { a: 1 } },
    ],
    ['question', 'elicitation', 'Which?', { kind: 'elicitation', message: '', schema: null }],
    [
      'question',
      'elicitation',
      { message: 1, requested_schema: [] },
      { kind: 'elicitation', message: '', schema: null },
    ],
    ['anything', 'later', undefined, { kind: 'other', preview: '{}' }],
  ])('for %s with whatever payload still waits for a person', (_, kind, payload, body) => {
    expect(bodyOf(kind, payload)).toEqual(body);
  });

  it('[defect P14] of which only the id is known still waits for a person', () => {
    expect(v.parse(requestSchema, { id: 1 })).toEqual({ id: 1, body: { kind: 'other', preview: '{}' } });
    expect(v.parse(requestSchema, { id: 1, kind: 'approval' })).toEqual({ id: 1, body: APPROVAL });
    expect(v.parse(requestSchema, { id: 1, kind: null, payload: { a: 1 } }).body).toEqual({
      kind: 'other',
      preview: '{"a":1}',
    });
  });

  it('has an id of a process’s own count or of 53 bits', () => {
    const id = 8_765_432_109_876_543;
    expect(v.parse(requestSchema, { id, kind: 'approval', payload: {} }).id).toBe(id);
    expect(v.parse(requestSchema, { id: 0, kind: 'approval', payload: {} }).id).toBe(0);
  });

  it.each([-1, 1.5, 2 ** 53, '1', null, undefined])('with the id %j is none', (id) => {
    expect(read({ id, kind: 'approval', payload: {} }).success).toBe(false);
  });

  it('[fault 10] keeps of arguments nested 10 000 deep no more than can be written down', () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`);
    const body = bodyOf('approval', { tool: 'bash', raw_args: { command: 'ls', env: deep, list: [deep] } });
    expect(JSON.stringify(body)).toContain('"command":"ls"');
    expect(JSON.stringify(body)).toContain('…');
  });

  it('keeps arguments of a usual depth as they are, the same object', () => {
    const args: unknown = JSON.parse(`${'{"a":['.repeat(16)}"x"${']}'.repeat(16)}`);
    const body = bodyOf('approval', { tool: 'bash', raw_args: args });
    expect(body.kind === 'approval' && body.args).toBe(args);
  });

  it('of the recorded traffic is of a kind that we have a form for', () => {
    const payloads = scenarios().flatMap((scenario) =>
      traffic(scenario).flatMap(({ data }) => {
        const frame = data as { kind?: string; payload?: { request?: unknown } } | undefined;
        return frame?.kind === 'request' ? [frame.payload?.request] : [];
      }),
    );
    expect(payloads.length).toBeGreaterThan(20);
    const kinds = payloads.map((request) => v.parse(requestSchema, request).body.kind);
    expect(new Set(kinds)).toEqual(new Set(['approval', 'elicitation']));
  });
});

describe('a resolution', () => {
  it.each<[string, unknown, Resolution]>([
    ['of an approval', { kind: 'approval', request_id: 1, decision: 'deny' }, { kind: 'decision', decision: 'deny' }],
    [
      'of a question',
      { kind: 'elicitation', request_id: 1, action: 'accept', content: { q1: 'a' } },
      { kind: 'action', action: 'accept' },
    ],
    ['by the owner of a hosted runtime', { behavior: 'deny', message: 'no' }, { kind: 'decision', decision: 'deny' }],
    ['in words that we don’t know', { outcome: 'maybe' }, { kind: 'unnamed', preview: '{"outcome":"maybe"}' }],
    ['of another form', { decision: 1, action: null }, { kind: 'unnamed', preview: '{"decision":1,"action":null}' }],
    ['without a word', null, { kind: 'unnamed', preview: 'null' }],
    ['that is missing', undefined, { kind: 'unnamed', preview: 'null' }],
    ['that is a list', ['allow'], { kind: 'unnamed', preview: '["allow"]' }],
  ])('%s', (_, response, resolution) => {
    expect(resolutionOf(response)).toEqual(resolution);
  });
});

it('with a stray member among its decisions offers the others, not everything', () => {
  expect(bodyOf('approval', { tool: 'bash', decisions: ['deny', 7, null] })).toMatchObject({ decisions: ['deny'] });
});

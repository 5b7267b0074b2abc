import { describe, expect, it } from 'vitest';
import { clampLimit, Session } from '../../src/runtime/session.js';
import type { FrontendEvent } from '../../src/runtime/wire.js';

const request = (id: number) => ({ type: 'request', request: { id, kind: 'approval', payload: {} } });
const resolved = (id: number) => ({ type: 'request_resolved', request_id: id, response: {} });
const shape = (events: readonly FrontendEvent[]): string[] => events.map(({ sequence, kind }) => `${sequence} ${kind}`);

describe('the session log', () => {
  it('retains requests across turns in the order of their ids, each answer behind its request, once', () => {
    const session = new Session('s', []);
    session.publish(request(2));
    session.publish(request(1));
    session.publish(resolved(1));
    session.publish({ type: 'text_delta', text: 'x' });
    session.endTurn([]);
    session.publish({ type: 'turn_succeeded' });
    expect(shape(session.snapshot(50).replay)).toEqual([
      '5 request',
      '6 request_resolved',
      '7 request',
      '8 turn_succeeded',
    ]);
    session.endTurn([]);
    expect(session.snapshot(50).history_cursor).toBe(8);
    expect(shape(session.snapshot(50).replay)).toEqual(['9 request', '10 request_resolved', '11 request']);
  });

  it('refuses a snapshot exactly when the buffer no longer reaches the boundary', () => {
    const session = new Session('s', []);
    for (let index = 0; index < 4096; index += 1) session.publish({ type: 'text_delta', text: 'x' });
    expect(session.snapshot(50).replay).toHaveLength(4096);
    session.publish({ type: 'text_delta', text: 'x' });
    expect(() => session.snapshot(50)).toThrow('SDK event stream lost 1 event(s)');
    session.endTurn([]);
    expect(session.snapshot(50)).toEqual({ history: [], history_cursor: 4097, replay: [] });
  });

  it('does not put the re-sequenced events on the live stream', () => {
    const session = new Session('s', []);
    const live: FrontendEvent[] = [];
    session.subscribe((event) => live.push(event));
    session.publish(request(1));
    session.endTurn([]);
    session.publish({ type: 'turn_failed' });
    expect(shape(live)).toEqual(['1 request', '3 turn_failed']);
  });

  it('keeps the newest 200 messages', () => {
    const session = new Session('s', []);
    session.endTurn(Array.from({ length: 250 }, (_, index) => ({ role: 'user', content: String(index) }) as const));
    expect(session.snapshot(1000).history).toHaveLength(200);
    expect(session.snapshot(1).history).toEqual([{ role: 'user', content: '249' }]);
    expect([undefined, -1, 1.5, 'x', 0, 7, 500].map(clampLimit)).toEqual([50, 50, 50, 50, 1, 7, 200]);
  });
});

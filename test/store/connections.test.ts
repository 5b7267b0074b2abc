import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/store/canonical.js';
import {
  attemptStarted,
  closed,
  closeRequested,
  described,
  forgotten,
  gaveUp,
  malformedSeen,
  opened,
  refused,
  replayRefused,
} from '../../src/store/connections.js';
import { reported } from '../../src/store/lease.js';
import { connectionFocused } from '../../src/store/focus.js';
import { policyChosen } from '../../src/store/permissions.js';
import { identityUnsaved } from '../../src/store/identity.js';
import { steerRequested } from '../../src/store/steering.js';
import { emptyState } from '../../src/store/replay.js';
import { rootReducer } from '../../src/store/root.js';
import type { RootState } from '../../src/store/state.js';
import { submitRequested } from '../../src/store/turn.js';
import { sagaCrashed } from '../../src/store/verdicts.js';
import { approval, delta, event, turnStart } from '../doubles/runtime.js';
import { actionsOf, observers, scenarios } from '../support/traffic.js';
import { attach, BUSY, fold, heard, IDLE, open, receive, storyOf } from './conversation.js';

const connection = 'c';
const reportedBy = (mine: boolean, holder: string | null, sentAt = 5) =>
  reported({ connection, mine, holder, ttlMs: 30_000, sentAt });
const phaseAfter = (...actions: Parameters<typeof fold>[0]) => fold(actions).connections['c']?.phase;

describe('a connection', () => {
  it.each([
    ['is being made', [open()], { name: 'connecting', attempt: 1 }],
    [
      'is tried again',
      [open(), attemptStarted({ connection, attempt: 3, at: 9, lost: null })],
      { name: 'connecting', attempt: 3 },
    ],
    [
      'is repaired',
      [open(), attach(), attemptStarted({ connection, attempt: 2, at: 9, lost: 'silent' })],
      { name: 'reconnecting', attempt: 2, since: 9, reason: 'silent' },
    ],
    ['is there', [open(), attach()], { name: 'attached', since: 1_000, gap: null }],
    [
      'is there, but not whole',
      [open(), replayRefused({ connection, message: 'm', at: 4 })],
      { name: 'attached', since: 4, gap: 'm' },
    ],
    [
      'is refused',
      [open(), refused({ connection, refusal: { reason: 'unauthenticated', message: 'm' } })],
      { name: 'refused', refusal: { reason: 'unauthenticated', message: 'm' } },
    ],
    ['is given up', [open(), gaveUp({ connection, message: 'm' })], { name: 'lost', message: 'm' }],
    [
      'is to be closed, which changes nothing yet',
      [open(), closeRequested({ connection })],
      { name: 'connecting', attempt: 1 },
    ],
    ['is closed', [open(), closed({ connection })], { name: 'closed' }],
  ])('%s', (_, actions, phase) => {
    expect(phaseAfter(...actions)).toEqual(phase);
  });

  it('that nobody opened comes of nothing', () => {
    const state = fold([
      attemptStarted({ connection, attempt: 1, at: 0, lost: null }),
      attach(),
      described({ connection, descriptor: IDLE }),
      malformedSeen({ connection, count: 1 }),
      gaveUp({ connection, message: 'm' }),
      closed({ connection }),
      forgotten({ connection }),
      ...receive([delta(1, 'x'), approval(2, 7), event(3, 'turn_succeeded')]),
      sagaCrashed({ name: 'x', message: 'm' }),
    ]);
    expect(state).toEqual(emptyState());
  });

  it('describes itself anew', () => {
    const state = fold([described({ connection, descriptor: BUSY })], heard([]));
    expect(state.connections['c']?.descriptor).toEqual(BUSY);
  });

  it('counts what could not be read, and says it where it happened', () => {
    const state = fold(
      [malformedSeen({ connection, count: 2 }), ...receive([delta(2, 'b')]), malformedSeen({ connection, count: 1 })],
      heard([delta(1, 'a')]),
    );
    expect(state.connections['c']?.malformed).toBe(3);
    expect(storyOf(state)).toEqual(['text a', 'note malformed', 'text b', 'note malformed']);
  });

  it('that is handed over again keeps its conversation and starts anew', () => {
    const before = heard([...turnStart(1), delta(3, 'Hi')]);
    const target = {
      baseUrl: 'http://127.0.0.1:2',
      clientId: 'me',
      credential: { kind: 'file', path: '/p' },
      permissions: null,
    } as const;
    const state = fold([opened({ connection, target, origin: 'environment' })], before);
    expect(state.connections['c']).toMatchObject({
      target,
      origin: 'environment',
      phase: { name: 'connecting', attempt: 1 },
    });
    expect(state.transcript).toBe(before.transcript);
    expect(state.turn).toBe(before.turn);
  });

  it('that is closed may hear what was under way; it is told once more nowhere', () => {
    const state = fold([closed({ connection }), ...receive([delta(2, 'b'), delta(2, 'b')])], heard([delta(1, 'a')]));
    expect(storyOf(state)).toEqual(['text ab']);
    expect(state.connections['c']?.phase).toEqual({ name: 'closed' });
  });
});

const slicesWith = (state: RootState, id: string) =>
  Object.entries(state as unknown as Readonly<Record<string, object>>).flatMap(([name, slice]) =>
    Object.hasOwn(slice, id) ? [name] : [],
  );

describe('a connection that is forgotten', () => {
  const full = fold(
    [
      policyChosen({ connection, policy: 'allow' }),
      reportedBy(true, 'me'),
      open('d'),
      attach({ connection: 'd' }),
      policyChosen({ connection: 'd', policy: 'deny' }),
      steerRequested({ connection, steerId: 's', prompt: 'p' }),
      identityUnsaved({ connection, message: 'm' }),
      connectionFocused({ connection: 'd' }),
    ],
    heard([...turnStart(1), approval(3, 7)]),
  );

  it('leaves nothing in any slice, and takes nothing of another along', () => {
    expect([...slicesWith(full, 'c'), 'focus', 'setup', 'host'].sort()).toEqual(Object.keys(full).sort());
    const state = fold([forgotten({ connection })], full);
    expect(slicesWith(state, 'c')).toEqual([]);
    expect(state.connections['d']).toBe(full.connections['d']);
    expect(state.transcript['d']).toBe(full.transcript['d']);
    expect(state.permissions).toEqual({ d: 'deny' });
  });

  it('ignores what still comes of it', () => {
    const state = fold([forgotten({ connection })], full);
    expect(fold(receive([delta(4, 'late'), event(5, 'turn_succeeded'), approval(6, 8)]), state)).toBe(state);
    expect(fold([attach({ replay: [delta(1, 'x')] })], state)).toBe(state);
  });
});

describe('a permission policy', () => {
  it('is of one conversation', () => {
    const state = fold([policyChosen({ connection, policy: 'session' })], heard([]));
    expect(state.permissions).toEqual({ c: 'session' });
    expect(fold([policyChosen({ connection: 'd', policy: 'deny' })], state).permissions).toEqual({
      c: 'session',
      d: 'deny',
    });
  });

  it('is the last one that was chosen', () => {
    const state = fold([policyChosen({ connection, policy: 'allow' }), policyChosen({ connection, policy: 'ask' })]);
    expect(state.permissions).toEqual({ c: 'ask' });
  });
});

describe('control', () => {
  it('is had, lost by who had it, and only watched by who had not', () => {
    expect(fold([reportedBy(true, 'me')]).lease).toEqual({ c: { phase: 'controlling', ttlMs: 30_000, renewedAt: 5 } });
    expect(fold([reportedBy(false, 'b')]).lease).toEqual({ c: { phase: 'observing', holder: 'b' } });
    expect(fold([reportedBy(true, 'me'), reportedBy(false, 'b')]).lease).toEqual({ c: { phase: 'lost', holder: 'b' } });
    const later = fold([reportedBy(true, 'me'), reportedBy(false, 'b'), reportedBy(false, null)]);
    expect(later.lease).toEqual({ c: { phase: 'lost', holder: null } });
    expect(fold([reportedBy(true, 'me', 9)], later).lease).toMatchObject({ c: { phase: 'controlling', renewedAt: 9 } });
  });
});

describe('the state', () => {
  const watched = scenarios().flatMap((scenario) => observers(scenario).map((client) => [scenario, client] as const));

  it.each(watched)(
    'after the traffic of %s to %s is plain JSON, and stays it after each action',
    (scenario, client) => {
      let state = emptyState();
      for (const action of actionsOf(scenario, client, () => state)) {
        expect(JSON.parse(JSON.stringify(action))).toEqual(action);
        state = rootReducer(state, action);
      }
      const copy: unknown = JSON.parse(JSON.stringify(state));
      expect(copy).toEqual(state);
      expect(canonicalJson(copy)).toBe(canonicalJson(state));
    },
  );

  it('goes on from its copy as from itself', () => {
    const state = fold(
      [submitRequested({ connection, turnId: 'mine', prompt: 'hello', at: 0 })],
      heard([delta(1, 'a')]),
    );
    const copy = JSON.parse(JSON.stringify(state)) as typeof state;
    const rest = receive([...turnStart(2), delta(4, 'b'), approval(5, 7), event(6, 'turn_succeeded')]);
    expect(fold(rest, copy)).toEqual(fold(rest, state));
  });
});

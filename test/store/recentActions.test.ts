import { legacy_createStore, type UnknownAction } from '@reduxjs/toolkit';
import { describe, expect, it } from 'vitest';
import { forgotten } from '../../src/store/connections.js';
import { isEventReceived, type EventReceived } from '../../src/store/events.js';
import { createRecentActions, type RecentLimits } from '../../src/store/recentActions.js';
import { retainedTurns } from '../../src/store/retainedTurns.js';
import { retell, type Seen } from '../../src/store/retell.js';
import { rootReducer } from '../../src/store/root.js';
import { submitRequested } from '../../src/store/turn.js';
import { delta, event, turnStart } from '../doubles/runtime.js';
import { actionsOf, observers, scenarios } from '../support/traffic.js';
import { attach, open, receive, user } from './conversation.js';

class Window {
  private now = 1_000;
  readonly dispatched: Seen[] = [];
  readonly recent;
  readonly store;

  constructor(limits?: RecentLimits) {
    this.recent = createRecentActions({ wall: () => this.now, ...(limits ? { limits } : {}) });
    this.store = legacy_createStore(rootReducer, this.recent.enhancer);
  }

  see(...actions: readonly UnknownAction[]): this {
    for (const action of actions) {
      const at = (action['meta'] as { at?: number } | undefined)?.at ?? ++this.now;
      const before = this.store.getState();
      this.store.dispatch(action);
      const isRepeat = isStreamed(action) && before === this.store.getState();
      this.dispatched.push({ at, action: isRepeat ? { ...action, payload: { ...action.payload, text: '' } } : action });
    }
    return this;
  }

  told(connection = 'c'): readonly Seen[] {
    const told: Seen[] = [];
    retell(this.recent, connection, (seen) => told.push(seen));
    return told;
  }
}

/** A repeat of text adds nothing to the state, so its text is not to be had again. */
function isStreamed(action: UnknownAction): action is EventReceived {
  return isEventReceived(action) && action.payload.kind === 'text_delta';
}

const SMALL: RecentLimits = { stretch: 4, actions: 12, bytes: 1_000_000 };
const turn = (from: number, prompt: string, ...texts: readonly string[]) => [
  ...turnStart(from, prompt),
  ...texts.map((text, at) => delta(from + 2 + at, text)),
  event(from + 2 + texts.length, 'turn_succeeded'),
];

describe('what a window has just seen', () => {
  it.each(scenarios().flatMap((scenario) => observers(scenario).map((client) => [scenario, client] as const)))(
    'is told again as it was: %s, client %s',
    (scenario, client) => {
      const window = new Window();
      for (const action of actionsOf(scenario, client, () => window.store.getState())) window.see(action);
      expect(window.told(client)).toEqual(window.dispatched);
    },
  );

  it('is told with all streamed text, however it falls into stretches', () => {
    const window = new Window({ ...SMALL, actions: 1_000 });
    window.see(open(), attach(), ...receive(turn(1, 'one', 'a', 'bc', '', 'def', 'g', 'hi', 'j')));
    window.see(...receive([...turnStart(11, 'two'), delta(13, 'the '), delta(14, 'open'), delta(15, ' text')]));
    expect(window.told()).toEqual(window.dispatched);
  });

  it('keeps the text that a later snapshot takes the place of', () => {
    const window = new Window();
    window.see(open(), attach(), ...receive(turn(1, 'one', 'before ', 'it')));
    window.see(attach({ descriptor: { ...DESCRIPTOR_OF_ANOTHER }, history: [user('elsewhere')], historyCursor: 9 }));
    expect(window.told()).toEqual(window.dispatched);
  });

  it('is of one conversation only', () => {
    const window = new Window().see(open(), open('d'), attach(), attach({ connection: 'd' }));
    window.see(...receive(turn(1, 'mine', 'x')), ...receive(turn(1, 'theirs', 'y'), 'd'));
    expect(JSON.stringify(window.told())).not.toContain('theirs');
    expect(JSON.stringify(window.told('d'))).not.toContain('mine');
    expect(window.told('d')).toHaveLength(6);
  });

  it('is bounded by count: whole stretches go, and the rest goes on from the right state', () => {
    const window = new Window(SMALL).see(open(), attach());
    for (let at = 0; at < 20; at++) window.see(...receive(turn(1 + at * 4, `prompt ${at}`, `answer ${at}`)));
    const told = window.told();
    expect(told.length).toBeLessThanOrEqual(SMALL.actions + SMALL.stretch);
    expect(told).toEqual(window.dispatched.slice(-told.length));
  });

  it('is bounded by size', () => {
    const window = new Window({ stretch: 100, actions: 1_000, bytes: 40_000 }).see(open(), attach());
    for (let at = 0; at < 20; at++) {
      window.see(...receive([event(1 + at, 'diff_updated', { diff: 'x'.repeat(3_000) })]));
    }
    expect(window.told().length).toBeLessThan(10);
    expect(window.told().length).toBeGreaterThan(2);
  });
});

const DESCRIPTOR_OF_ANOTHER = {
  sessionId: 'another session',
  sourceHarness: null,
  model: 'm',
  turnState: 'idle',
  connectionState: 'connected',
  actions: { submit: true, interrupt: true, steer: true, respond: true, close: false },
  operations: [],
} as const;

describe('the turns in it', () => {
  const submit = (turnId: string, prompt: string) => submitRequested({ connection: 'c', turnId, prompt, at: 1 });

  it('are each from their first fact to their last, ours and those of others', () => {
    const window = new Window().see(open(), attach(), submit('mine-1', 'hello'));
    window.see(...receive(turn(1, 'hello', 'x')), ...receive(turn(5, 'from elsewhere', 'y')));
    const turns = retainedTurns(window.recent, 'c');
    expect(turns.map(({ prompt, turnId, ended, seen }) => [prompt, turnId, ended?.outcome, seen.length])).toEqual([
      ['hello', 'mine-1', 'succeeded', 5],
      ['from elsewhere', 'seen-6', 'succeeded', 4],
    ]);
  });

  it('have the one that goes on as the last', () => {
    const window = new Window().see(open(), attach(), ...receive([...turnStart(1, 'go on'), delta(3, 'I')]));
    expect(retainedTurns(window.recent, 'c')).toMatchObject([{ prompt: 'go on', ended: undefined }]);
  });

  it('have one whose beginning is gone, from what is left of it', () => {
    const window = new Window(SMALL).see(open(), attach(), ...receive(turnStart(1, 'long')));
    window.see(...receive(Array.from({ length: 40 }, (_, at) => delta(3 + at, `${at} `))));
    const [only, ...more] = retainedTurns(window.recent, 'c');
    expect([only?.turnId, more.length]).toEqual(['seen-2', 0]);
    expect(only?.base.turn['c']?.current.phase).toBe('running');
  });

  it('are forgotten with their conversation', () => {
    const window = new Window().see(
      open(),
      attach(),
      ...receive(turn(1, 'hello', 'x')),
      forgotten({ connection: 'c' }),
    );
    expect(retainedTurns(window.recent, 'c')).toEqual([]);
  });
});

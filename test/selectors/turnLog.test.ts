import { fc, it as property } from '@fast-check/vitest';
import { legacy_createStore, type UnknownAction } from '@reduxjs/toolkit';
import { describe, expect, it } from 'vitest';
import { selectHistoryTurns } from '../../src/selectors/historyTurns.js';
import type { ChatPart } from '../../src/selectors/parts.js';
import { Redactor } from '../../src/selectors/redaction.js';
import { LOGGED_CONVERSATION, turnLog } from '../../src/selectors/turnLog.js';
import { turnReport } from '../../src/selectors/turnReport.js';
import { createRecentActions, type RecentLimits } from '../../src/store/recentActions.js';
import { opened } from '../../src/store/connections.js';
import type { LogHeader, LogRecord } from '../../src/store/recorder.js';
import { replay } from '../../src/store/replay.js';
import { retainedTurns } from '../../src/store/retainedTurns.js';
import { rootReducer } from '../../src/store/root.js';
import { submitRequested } from '../../src/store/turn.js';
import { delta, DESCRIPTOR, event, turnStart } from '../doubles/runtime.js';
import { attach, BUSY, open, receive, user } from '../store/conversation.js';
import { actionsOf, observers, scenarios } from '../support/traffic.js';

function seen(actions: readonly UnknownAction[], limits?: RecentLimits) {
  const recent = createRecentActions({ wall: () => 5_000, ...(limits ? { limits } : {}) });
  const store = legacy_createStore(rootReducer, recent.enhancer);
  for (const action of actions) store.dispatch(action);
  return { recent, store };
}

const logOf = (turn: Parameters<typeof turnLog>[0] | undefined, redactor = new Redactor([])) =>
  turn ? turnLog(turn, { product: 'test', version: '1', redactor }) : [];

const lastLog = (actions: readonly UnknownAction[], connection = 'c') =>
  logOf(retainedTurns(seen(actions).recent, connection).at(-1));

/** Where a part stands is another place in a log of one turn. */
const shown = (parts: readonly ChatPart[]) => parts.map(({ id: _, ...part }) => part);

describe('the log of one turn', () => {
  const recorded = scenarios().flatMap((scenario) => observers(scenario).map((client) => [scenario, client] as const));

  it.each(recorded)('replays without damage, to the parts of that turn: %s, client %s', (scenario, client) => {
    const recent = createRecentActions({ wall: () => 5_000 });
    const store = legacy_createStore(rootReducer, recent.enhancer);
    for (const action of actionsOf(scenario, client, () => store.getState())) store.dispatch(action);
    const all = selectHistoryTurns(store.getState(), client);
    for (const turn of retainedTurns(recent, client)) {
      const { damage, state, recordedHash } = replay(logOf(turn));
      expect([damage, recordedHash]).toEqual([[], undefined]);
      expect(Object.keys(state.connections)).toEqual([LOGGED_CONVERSATION]);
      const { ended = [] } = state.turn[LOGGED_CONVERSATION] ?? {};
      expect(ended.find(({ turnId }) => turnId === turn.turnId)).toEqual(turn.ended);
      const told = selectHistoryTurns(state, LOGGED_CONVERSATION);
      const text = (parts: readonly ChatPart[]) =>
        parts.map((part) => (part.kind === 'markdown' ? part.text : '')).join('');
      const own = all.filter(({ prompt }) => prompt?.trim() === turn.prompt?.trim());
      if (own.length !== 1 || turn.prompt === null) continue;
      expect(text(told.flatMap(({ parts }) => parts))).toContain(text(own[0]?.parts ?? []));
    }
  });

  it('shows the same parts as the turn did', () => {
    const actions = [
      open(),
      attach(),
      ...receive([...turnStart(1, 'EARLIER'), delta(3, 'EARLIER'), event(4, 'turn_succeeded')]),
      ...receive([...turnStart(5, 'second'), delta(7, 'Now '), delta(8, 'I look.')]),
      ...receive([event(9, 'tool_call_started', { id: 'a', name: 'bash', arguments: '{}' })]),
      ...receive([event(10, 'usage', { prompt_tokens: 1, completion_tokens: 2 })]),
      ...receive([event(11, 'tool_call_completed', { id: 'a', name: 'bash', output: 'ok' }), delta(12, 'Done.')]),
      ...receive([event(13, 'turn_failed', { message: 'no' })]),
    ];
    const { recent, store } = seen(actions);
    const lines = logOf(retainedTurns(recent, 'c')[1]);
    const [turn, ...more] = selectHistoryTurns(replay(lines).state, LOGGED_CONVERSATION);
    const live = selectHistoryTurns(store.getState(), 'c')[1];
    expect([turn?.prompt, shown(turn?.parts ?? [])]).toEqual(['second', shown(live?.parts ?? [])]);
    expect(more).toEqual([]);
    expect(lines.join()).not.toMatch(/EARLIER/);
    const records = lines.slice(1).map((line) => JSON.parse(line) as LogRecord);
    expect(records.map(({ at }) => at)).toEqual(records.map(() => 2_000));
  });

  it('says whole what its beginning has been dropped of', () => {
    const deltas = Array.from({ length: 30 }, (_, at) => delta(3 + at, `${at}, `));
    const actions = [open(), attach(), ...receive([...turnStart(1, 'count'), ...deltas, event(40, 'turn_succeeded')])];
    const { recent } = seen(actions, { stretch: 4, actions: 12, bytes: 1_000_000 });
    const [turn] = selectHistoryTurns(replay(logOf(retainedTurns(recent, 'c')[0])).state, LOGGED_CONVERSATION);
    expect(turn?.prompt).toBe('count');
    expect(turn?.parts).toMatchObject([{ text: Array.from({ length: 30 }, (_, at) => `${at}, `).join('') }]);
  });

  it('has nothing of what a snapshot brings of the turns before, and goes on over it', () => {
    const before = [...turnStart(1, 'SECRET before'), delta(3, 'SECRET'), event(4, 'turn_succeeded')];
    const lines = lastLog([
      open(),
      attach(),
      ...receive([...before, ...turnStart(5, 'now'), delta(7, 'a')]),
      attach({
        descriptor: BUSY,
        history: [user('SECRET older'), user('SECRET before')],
        historyCursor: 0,
        replay: [...before, ...turnStart(5, 'now'), delta(7, 'a'), delta(8, 'b')],
      }),
      ...receive([delta(9, 'c'), event(10, 'turn_succeeded')]),
    ]);
    expect(lines.join()).not.toContain('SECRET');
    const { state } = replay(lines);
    expect(selectHistoryTurns(state, LOGGED_CONVERSATION)).toMatchObject([{ prompt: 'now', parts: [{ text: 'abc' }] }]);
  });

  it('has nothing of the conversation that the runtime turns to', () => {
    const replay = [...turnStart(50, 'SECRET'), delta(52, 'SECRET')];
    const descriptor = { ...DESCRIPTOR, sessionId: 'another' };
    const history = [user('SECRET'), user('now')];
    const elsewhere = attach({ descriptor, history, historyCursor: 9, replay });
    expect(lastLog([open(), attach(), ...receive(turnStart(1, 'now')), elsewhere]).join()).not.toContain('SECRET');
  });

  it('of a turn that was found running has nothing of the ones before', () => {
    const before = [...turnStart(1, 'SECRET'), delta(3, 'SECRET'), event(4, 'turn_succeeded')];
    const first = attach({ descriptor: BUSY, history: [user('SECRET')], replay: [...before, ...turnStart(5, 'now')] });
    const lines = lastLog([open(), first, ...receive([delta(7, 'a')])]);
    expect(lines.join()).not.toContain('SECRET');
    expect(selectHistoryTurns(replay(lines).state, LOGGED_CONVERSATION)).toMatchObject([{ prompt: 'now' }]);
  });

  it.each(['before the turn', 'within it'])('has nothing of what was known before this window, told %s', (when) => {
    const credential = { kind: 'secret', key: 'k' } as const;
    const target = { baseUrl: 'http://127.0.0.1:1', clientId: 'me', credential, permissions: null };
    const heard = { sessionId: DESCRIPTOR.sessionId, sequence: 0, running: { prompt: 'planted before' } };
    const known = opened({
      connection: 'c',
      origin: 'host',
      target,
      before: { heard, transcript: [user('planted before')] },
    });
    const [first, ...rest] = receive([...turnStart(1, 'mine'), delta(3, 'yes'), event(4, 'turn_succeeded')]);
    const log = lastLog([
      ...(when === 'within it' ? [open()] : [known]),
      attach({ descriptor: DESCRIPTOR }),
      ...(first ? [first] : []),
      ...(when === 'within it' ? [known] : []),
      ...rest,
    ]).join();
    expect(log).toContain('mine');
    expect(log).not.toContain('planted before');
  });

  it('names no other conversation and no address', () => {
    const { base } = JSON.parse(
      lastLog([open(), open('other'), attach(), ...receive(turnStart(1, 'now'))])[0] ?? '',
    ) as LogHeader;
    expect(Object.keys(base?.connections ?? {})).toEqual([LOGGED_CONVERSATION]);
    expect(base?.connections[LOGGED_CONVERSATION]?.target).toEqual({
      baseUrl: 'http://127.0.0.1:1',
      clientId: '⟨client id 1⟩',
      credential: { kind: 'secret', key: '⟨credential file 1⟩' },
      permissions: null,
    });
  });
});

describe('a token that streams', () => {
  const TOKEN = 'sk-abcdefghijklmnopqrstuvwxyz012345';

  property.prop({ cuts: fc.array(fc.nat(60), { maxLength: 8 }), isReasoning: fc.boolean(), isAgain: fc.boolean() })(
    'is replaced however it is cut up',
    ({ cuts, isReasoning, isAgain }) => {
      const text = `Use ${TOKEN}, please: ${TOKEN}`;
      const places = [0, ...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length];
      const pieces = places.slice(1).map((end, at) => text.slice(places[at], end));
      const kind = isReasoning ? 'reasoning' : 'text_delta';
      const events = pieces.map((piece, at) => event(3 + at, kind, { text: piece }));
      const half = events.length >> 1;
      const again = attach({ descriptor: BUSY, replay: [...turnStart(1, 'x'), ...events.slice(0, half + 1)] });
      const lines = lastLog([
        open(),
        attach(),
        ...receive([...turnStart(1, 'x'), ...events.slice(0, half)]),
        ...(isAgain ? [again] : []),
        ...receive(events.slice(isAgain ? half + 1 : half)),
      ]);
      const [turn] = selectHistoryTurns(replay(lines).state, LOGGED_CONVERSATION);
      expect(turn?.parts).toMatchObject([{ text: 'Use ⟨token 1⟩, please: ⟨token 1⟩' }]);
      expect(lines.join()).not.toMatch(/sk-a|wxyz|012345/);
    },
  );

  it('is replaced where only its end is retained as it came', () => {
    const pieces = ['Use ', 'sk-abc', 'defghij', 'klmnopqrs', 'tuv', 'wxyz0', '12345', '.'];
    const events = [...turnStart(1, 'x'), ...pieces.map((piece, at) => delta(3 + at, piece))];
    const { recent } = seen([open(), attach(), ...receive(events)], { stretch: 2, actions: 4, bytes: 1_000_000 });
    const lines = logOf(retainedTurns(recent, 'c')[0]);
    expect(lines.join()).not.toMatch(/sk-abc|12345|wxyz/);
    expect(selectHistoryTurns(replay(lines).state, LOGGED_CONVERSATION)).toMatchObject([
      { parts: [{ text: 'Use ⟨token 1⟩.' }] },
    ]);
  });
});

describe('the report of one turn', () => {
  const options = { versions: [['Extension', '1.2.3']], ended: undefined, log: 'x.jsonl' } as const;

  it('has what was asked, said, done and when, and says what was replaced', () => {
    const redactor = new Redactor([]);
    const turn = retainedTurns(
      seen([
        open(),
        attach(),
        submitRequested({ connection: 'c', turnId: 't', prompt: 'Look at sk-abcdefghijkl', at: 1 }),
        ...receive([...turnStart(1, 'Look at sk-abcdefghijkl'), delta(3, '# Not a heading @somebody')]),
        ...receive([event(4, 'tool_call_started', { id: 'a', name: 'bash', arguments: '{"command":"ls"}' })]),
        ...receive([event(5, 'tool_call_completed', { id: 'a', name: 'bash', output: 'README' })]),
        ...receive([event(6, 'diff_updated', { diff: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n' })]),
        ...receive([event(7, 'turn_failed', { message: 'Out of luck' })]),
      ]).recent,
      'c',
    )[0];
    const text = turnReport(logOf(turn, redactor), { ...options, ended: turn?.ended, redacted: redactor.counts });
    expect(text).toContain('- Extension: 1\\.2\\.3');
    expect(text).toContain('### Prompt\n\n```\nLook at ⟨token 1⟩\n```');
    expect(text).toContain('```markdown\n# Not a heading @somebody\n```');
    expect(text).toMatch(/bash` finished\n\n```\n\{"command":"ls"\}\n```\n\n\*\*Result\*\*\n\n```\nREADME\n```/);
    expect(text).toContain('+b');
    expect(text).toContain('Out of luck');
    expect(text).toContain('token (1)');
    expect(text).toContain('; failed)');
    expect(text).toMatch(/\+-?\d+\.\d{3} s tool\\_call\\_started bash a/);
    expect(text).toContain('read this before you share it');
  });
});

import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { selectNewParts, startCursor } from '../../src/selectors/newParts.js';
import { sha256Hex } from '../../src/services/node/hash.js';
import { canonicalJson } from '../../src/store/canonical.js';
import { emptyState, replay } from '../../src/store/replay.js';
import { answerRequested } from '../../src/store/requests.js';
import { STATE_VERSION, type RootState } from '../../src/store/state.js';
import { submitRequested } from '../../src/store/turn.js';
import { actionsOf, observers, scenarios } from '../support/traffic.js';
import { approval, delta, event, turnStart } from '../doubles/runtime.js';
import { attach, entriesOf, fold, open, receive, storyOf } from './conversation.js';
import { header, Recording } from './log.js';

const answer = { kind: 'approval', request_id: 7, decision: 'allow' } as const;
const ACTIONS = [
  open(),
  attach(),
  submitRequested({ connection: 'c', turnId: 'mine', prompt: 'hello', at: 0 }),
  ...receive([...turnStart(1), delta(3, 'One '), delta(4, 'two'), approval(5, 7)]),
  answerRequested({ connection: 'c', answer, label: 'Allow', by: 'person' }),
  ...receive([event(6, 'turn_succeeded')]),
];
const LOG: readonly string[] = new Recording()
  .start()
  .dispatch(...ACTIONS)
  .stop();
const partsOf = (state: RootState) => selectNewParts(state, 'c', startCursor(state, 'c')).parts;

/** The log with other lines in the place of some; numbered from 1, as damage is. */
const withLines = (changes: Readonly<Record<number, readonly string[]>>) =>
  LOG.flatMap((line, at) => changes[at + 1] ?? [line]);

describe('a replay', () => {
  it('gives the same state, the same hash and the same parts', () => {
    const replayed = replay(LOG);
    const state = fold(ACTIONS);
    expect(replayed).toMatchObject({ n: ACTIONS.length, damage: [] });
    expect(replayed.state).toEqual(state);
    expect(replayed.recordedHash).toBe(sha256Hex(canonicalJson(replayed.state)));
    expect(partsOf(replayed.state)).toEqual(partsOf(state));
    expect(partsOf(state).length).toBeGreaterThan(2);
  });

  it.each(scenarios().flatMap((scenario) => observers(scenario).map((client) => [scenario, client] as const)))(
    'of the traffic of %s to %s gives the same state and hash',
    (scenario, client) => {
      const recording = new Recording().start();
      for (const action of actionsOf(scenario, client, () => recording.state)) recording.dispatch(action);
      const replayed = replay(recording.stop());
      expect(replayed.damage).toEqual([]);
      expect(canonicalJson(replayed.state)).toBe(canonicalJson(recording.state));
      expect(replayed.recordedHash).toBe(sha256Hex(canonicalJson(replayed.state)));
    },
  );

  property.prop([fc.nat({ max: ACTIONS.length })])('gives the same from any point in the middle', (from) => {
    const recording = new Recording().dispatch(...ACTIONS.slice(0, from)).start();
    const replayed = replay(recording.dispatch(...ACTIONS.slice(from)).stop());
    expect(replayed.state).toEqual(fold(ACTIONS));
    expect(replayed).toMatchObject({ n: ACTIONS.length, damage: [] });
    expect(replayed.recordedHash).toBe(sha256Hex(canonicalJson(fold(ACTIONS))));
  });

  property.prop([fc.integer({ min: -1, max: ACTIONS.length + 2 })])('stops at any action', (at) => {
    const replayed = replay(LOG, { at });
    const applied = Math.max(0, Math.min(at, ACTIONS.length));
    expect(replayed.state).toEqual(fold(ACTIONS.slice(0, applied)));
    expect(replayed.n).toBe(applied);
    expect(replayed.damage).toEqual([]);
    expect(replayed.recordedHash === undefined).toBe(at < ACTIONS.length);
  });

  it('stopped before a log’s first action is at its base', () => {
    const recording = new Recording().dispatch(...ACTIONS.slice(0, 5)).start();
    const lines = recording.dispatch(...ACTIONS.slice(5)).stop();
    expect(replay(lines, { at: 2 })).toMatchObject({ n: 5, state: fold(ACTIONS.slice(0, 5)) });
  });

  it('tells of each action, with the state that it left', () => {
    const seen: string[] = [];
    replay(LOG, {
      onAction: ({ n, action }, state) => seen.push(`${n} ${action.type} ${entriesOf(state).length}`),
    });
    expect(seen).toEqual([
      '1 connections/opened 0',
      '2 connections/attached 0',
      '3 turn/submitRequested 0',
      '4 runtime/eventReceived 1',
      '5 runtime/eventReceived 1',
      '6 runtime/eventReceived 2',
      '7 runtime/eventReceived 2',
      '8 runtime/eventReceived 3',
      '9 requests/answerRequested 3',
      '10 runtime/eventReceived 5',
    ]);
  });
});

describe('the recorded hash is not for comparison', () => {
  const [first = '', ...rest] = LOG;

  it('where the state had another shape', () => {
    const other = JSON.stringify({ ...header(first), stateVersion: STATE_VERSION + 1 });
    const replayed = replay([other, ...rest]);
    expect(replayed.recordedHash).toBeUndefined();
    expect(replayed.state).toEqual(fold(ACTIONS));
    expect(replayed.damage).toEqual([]);
  });

  it('where there is no footer, and that is no damage: the process may have been killed', () => {
    expect(replay(LOG.slice(0, -1))).toMatchObject({ recordedHash: undefined, damage: [], n: ACTIONS.length });
  });

  it('where actions stand behind it', () => {
    const replayed = replay([...LOG, JSON.stringify({ n: ACTIONS.length + 1, at: 0, action: open('d') })]);
    expect(replayed.recordedHash).toBeUndefined();
    expect(replayed.state).toEqual(fold([...ACTIONS, open('d')]));
  });

  it('where the header is missing', () => {
    expect(replay(rest).recordedHash).toBeUndefined();
  });
});

describe('a damaged log', () => {
  it.each<[string, string, string]>([
    ['a torn line', '{"n":5,"at":1,"act', 'This line is not a JSON object.'],
    ['NULs', '\0\0\0\0', 'This line is not a JSON object.'],
    ['a scalar', '17', 'This line is not a JSON object.'],
    ['null', 'null', 'This line is not a JSON object.'],
    ['a list', '[1]', 'This line is no header, no action and no footer.'],
    ['an action without a type', '{"n":5,"at":1,"action":{}}', 'This line is no header, no action and no footer.'],
    ['no action', '{"n":5,"at":1,"action":null}', 'This line is no header, no action and no footer.'],
    [
      'a number that is none',
      '{"n":"5","at":1,"action":{"type":"x"}}',
      'This line is no header, no action and no footer.',
    ],
    ['a footer that is none', '{"end":null}', 'This line is no header, no action and no footer.'],
    ['a footer without a hash', '{"end":{"n":5}}', 'This line is no header, no action and no footer.'],
    ['another format', '{"format":2}', 'Format 2 is not known here; this version reads format 1.'],
    ['a second header', LOG[0] ?? '', 'A second header stands inside the log.'],
    [
      'an action that can’t be applied',
      '{"n":5,"at":1,"action":{"type":"runtime/eventReceived"}}',
      "This action can't be applied: ",
    ],
  ])('[defect P33] with %s in the middle is folded around it', (_, line, reason) => {
    const replayed = replay(withLines({ 6: [line] }));
    const [damage, ...more] = replayed.damage;
    expect(damage?.line).toBe(6);
    expect(damage?.reason.startsWith(reason)).toBe(true);
    expect(more).toEqual([{ line: 7, reason: 'Action 6 follows action 4: what stood between them is missing.' }]);
    expect(replayed.n).toBe(ACTIONS.length);
    expect(replayed.state).toEqual(fold(ACTIONS.filter((_action, at) => at !== 4)));
  });

  it('with blank lines is whole: an editor may have added them', () => {
    const replayed = replay(withLines({ 6: ['', LOG[5] ?? '', '  '] }).concat(''));
    expect(replayed.damage).toEqual([]);
    expect(replayed.recordedHash).toBe(sha256Hex(canonicalJson(fold(ACTIONS))));
  });

  it('that lacks a line says where', () => {
    const replayed = replay(withLines({ 7: [] }));
    expect(replayed.damage).toEqual([
      { line: 7, reason: 'Action 7 follows action 5: what stood between them is missing.' },
    ]);
    expect(storyOf(replayed.state)).toEqual(['> hello', 'text two', 'end succeeded']);
  });

  it('whose last actions are missing in front of its footer says so', () => {
    const replayed = replay(withLines({ 11: [] }));
    expect(replayed.damage).toEqual([
      { line: 11, reason: 'The log ends at action 10, but action 9 is the last one in it.' },
    ]);
    expect(replayed.recordedHash).toBeUndefined();
  });

  it('that is out of order says where, and applies what it has as it stands', () => {
    const replayed = replay(withLines({ 7: [LOG[7] ?? ''], 8: [LOG[6] ?? ''] }));
    expect(replayed.damage.map(({ reason }) => reason)).toEqual([
      'Action 7 follows action 5: what stood between them is missing.',
      'Action 6 follows action 7: the log is out of order.',
      'Action 8 follows action 6: what stood between them is missing.',
    ]);
  });

  it('that is empty says so', () => {
    expect(replay([])).toEqual({
      header: undefined,
      state: emptyState(),
      n: 0,
      damage: [{ line: 1, reason: 'The file is empty.' }],
      recordedHash: undefined,
    });
    expect(replay(['']).damage).toEqual([{ line: 1, reason: 'This line is not a JSON object.' }]);
  });

  it('whose beginning is missing is folded from nothing, and is seen to have no header', () => {
    const replayed = replay(LOG.slice(3));
    expect(replayed.header).toBeUndefined();
    expect(replayed.n).toBe(ACTIONS.length);
    expect(replayed.state).toEqual(fold(ACTIONS.slice(2)));
  });

  property.prop([fc.array(fc.tuple(fc.nat({ max: LOG.length }), fc.oneof(fc.json(), fc.string())), { maxLength: 6 })])(
    'never throws and never loses what can be read',
    (junk) => {
      const changes = new Map<number, string[]>();
      for (const [at, text] of junk) changes.set(at, [...(changes.get(at) ?? []), text]);
      const lines = [...LOG, ''].flatMap((line, at) => (at === 0 ? [line] : [...(changes.get(at) ?? []), line]));
      const replayed = replay(lines);
      expect(replayed.n).toBe(ACTIONS.length);
      expect(canonicalJson(replayed.state)).toBe(canonicalJson(fold(ACTIONS)));
    },
  );
});

import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { malformedSeen } from '../../src/store/connections.js';
import { inputAccepted, submitRequested } from '../../src/store/turn.js';
import { turnLeft } from '../../src/store/verdicts.js';
import { delta, event, turnStart } from '../doubles/runtime.js';
import {
  assistant,
  attach,
  BUSY,
  call,
  endingsOf,
  entriesOf,
  fold,
  heard,
  open,
  receive,
  result,
  storyOf,
  system,
  user,
} from './conversation.js';
import { tell, turns } from './turns.js';

const SUCCEEDED = 'turn_succeeded';

describe('a turn whose rest was missed', () => {
  it('in its text is completed from the saved history', () => {
    const before = heard([...turnStart(1), delta(3, 'Hel')]);
    const after = attach({
      history: [system('s'), user('hello'), assistant('Hello, you.')],
      historyCursor: 7,
      replay: [event(8, SUCCEEDED)],
    });
    const state = fold([after], before);
    expect(storyOf(state)).toEqual(['> hello', 'text Hello, you.', 'end succeeded']);
    expect(endingsOf(state)).toEqual(['seen-2 succeeded']);
  });

  it('in its tools is completed too: what was started ends, what came later is there', () => {
    const before = heard([
      ...turnStart(1),
      delta(3, 'Let me look.'),
      event(4, 'turn_completed'),
      event(5, 'tool_call_started', { id: 'a', name: 'bash', arguments: '{"n":1}' }),
    ]);
    const history = [
      user('hello'),
      assistant('Let me look.', call('a', '{"n":1}'), call('b', '{"n":2}')),
      result('a', 'one'),
      result('b', 'Error: two'),
      assistant('Done.'),
    ];
    const state = fold([attach({ history, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual([
      '> hello',
      'text Let me look.',
      'tool a bash({"n":1}) completed one',
      'tool b bash({"n":2}) completed Error: two',
      'text Done.',
      'end succeeded',
    ]);
    expect(
      state.transcript['c']?.pages.flat().flatMap((entry) => (entry.kind === 'tool' ? entry.isError : [])),
    ).toEqual([false, true]);
  });

  it('in a call that was saved in part says what is missing of it, however it was heard of', () => {
    const long = (missing: number) => ({ omitted: missing });
    const saved = [
      user('hello'),
      assistant('', { ...call('a', '{"cut'), ...long(3) }),
      { ...result('a', 'out'), ...long(4) },
    ];
    const missed = fold([attach({ history: saved, historyCursor: 9 })], heard(turnStart(1)));
    const live = { id: 'b', name: 'bash' };
    const both = fold(
      receive([
        ...turnStart(10),
        event(12, 'tool_call_started', { ...live, arguments: 'x'.repeat(1_050_000) }),
        event(13, 'tool_call_completed', { ...live, output: 'y'.repeat(80_000) }),
        event(14, 'tool_call_completed', { id: 'c', name: 'bash', output: 'y'.repeat(65_537) }),
      ]),
      missed,
    );
    expect(entriesOf(both).flatMap((entry) => (entry.kind === 'tool' ? [entry.omitted] : []))).toEqual([
      { arguments: 3, output: 4 },
      { arguments: 1_050_000 - 1_048_576, output: 80_000 - 65_536 },
      { output: 1 },
    ]);
  });

  it('though a note stands in the middle of its text has no part of it twice', () => {
    const before = fold(
      [malformedSeen({ connection: 'c', count: 1 }), ...receive([delta(4, 'lo, ')])],
      heard([...turnStart(1), delta(3, 'Hel')]),
    );
    const history = [user('hello'), assistant('Hello, you.')];
    const state = fold([attach({ history, historyCursor: 7, replay: [event(8, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual(['> hello', 'text Hel', 'note malformed', 'text lo, you.', 'end succeeded']);
  });

  it('keeps text that the runtime did not keep of an interrupted turn', () => {
    const before = heard([...turnStart(1), delta(3, 'I will not be sa')]);
    const after = attach({ history: [user('hello')], historyCursor: 7, replay: [event(8, 'turn_interrupted')] });
    expect(storyOf(fold([after], before))).toEqual(['> hello', 'text I will not be sa', 'end interrupted']);
  });

  it('is ours where we sent it, and ends once', () => {
    const before = fold([
      open(),
      attach(),
      submitRequested({ connection: 'c', turnId: 'mine', prompt: 'hello', at: 0 }),
      inputAccepted({ connection: 'c', turnId: 'mine' }),
    ]);
    const after = attach({
      history: [user('hello'), assistant('Hello, you.')],
      historyCursor: 7,
      replay: [event(8, SUCCEEDED)],
    });
    const state = fold([after], before);
    expect(storyOf(state)).toEqual(['> hello', 'text Hello, you.', 'end succeeded']);
    expect(endingsOf(state)).toEqual(['mine succeeded']);
  });
});

describe('turns that were missed', () => {
  const history = [
    user('one'),
    assistant('A.'),
    user('two'),
    assistant('', call('a')),
    result('a', 'ok'),
    assistant('B.'),
  ];

  it('behind one that was seen to its end are told in order', () => {
    const before = heard([...turnStart(1, 'one'), delta(3, 'A.'), event(4, SUCCEEDED)]);
    const state = fold([attach({ history, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual([
      '> one',
      'text A.',
      'end succeeded',
      '> two',
      'tool a bash({}) completed ok',
      'text B.',
      'end succeeded',
    ]);
  });

  it('behind one that was seen in part: that one ends too', () => {
    const before = heard([...turnStart(1, 'one')]);
    const three = [...history, user('three'), assistant('C.')];
    const state = fold([attach({ history: three, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual([
      '> one',
      'text A.',
      'end succeeded',
      '> two',
      'tool a bash({}) completed ok',
      'text B.',
      'end succeeded',
      '> three',
      'text C.',
      'end succeeded',
    ]);
  });

  it('end under names of their own, though they were all seen at the same sequence', () => {
    const before = heard(turnStart(1, 'one'));
    const three = [...history, user('three'), assistant('C.')];
    const state = fold([attach({ history: three, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    const ids = (state.turn['c']?.ended ?? []).map(({ turnId }) => turnId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
  });

  it('before the one that runs now are told first', () => {
    const before = heard([...turnStart(1, 'one'), delta(3, 'A')]);
    const replay = [event(21, SUCCEEDED), ...turnStart(22, 'three'), delta(24, 'C')];
    const state = fold([attach({ descriptor: BUSY, history, historyCursor: 20, replay })], before);
    expect(storyOf(state).slice(-4)).toEqual(['text B.', 'end succeeded', '> three', 'text C']);
    expect(state.turn['c']?.current.phase).toBe('running');
  });

  it('and cut short are not said to have succeeded', () => {
    const before = heard([...turnStart(1, 'one'), delta(3, 'A.'), event(4, SUCCEEDED)]);
    const saved = [user('one'), assistant('A.'), user('two'), user('three'), assistant('C.')];
    const state = fold([attach({ history: saved, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    expect(storyOf(state).slice(3)).toEqual([
      '> two',
      'end failed This turn ended while the connection was down; how is not known.',
      '> three',
      'text C.',
      'end succeeded',
    ]);
  });

  it('are all that there is where nothing was known', () => {
    const state = fold([attach({ history, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], heard([]));
    expect(storyOf(state)).toEqual([
      '> one',
      'text A.',
      'end succeeded',
      '> two',
      'tool a bash({}) completed ok',
      'text B.',
      'end succeeded',
    ]);
  });

  it('behind a saved history that is shown are told, and nothing that it shows', () => {
    const before = heard([], { history: [system('s'), user('one'), assistant('A.')], historyCursor: 4 });
    const after = attach({ history: [system('s'), ...history], historyCursor: 20, replay: [event(21, SUCCEEDED)] });
    expect(storyOf(fold([after], before))).toEqual([
      '> two',
      'tool a bash({}) completed ok',
      'text B.',
      'end succeeded',
    ]);
  });

  it('behind a shown history whose last turn was cut short say nothing of that one', () => {
    const before = heard([], { history: [user('one')], historyCursor: 4 });
    const after = attach({
      history: [user('one'), user('two'), assistant('B.')],
      historyCursor: 20,
      replay: [event(21, SUCCEEDED)],
    });
    expect(storyOf(fold([after], before))).toEqual(['> two', 'text B.', 'end succeeded']);
  });

  it('behind a compacted history without a prompt are told, and nothing that it shows', () => {
    const compacted = [system('s'), system('[earlier conversation compacted: 2 messages]'), assistant('A.')];
    const before = heard([], { history: compacted, historyCursor: 4 });
    const after = attach({
      history: [...compacted, user('two'), assistant('B.')],
      historyCursor: 20,
      replay: [event(21, SUCCEEDED)],
    });
    expect(storyOf(fold([after], before))).toEqual(['> two', 'text B.', 'end succeeded']);
  });

  it('behind one that was interrupted, and noted so, do not end it a second time', () => {
    const before = fold(
      [malformedSeen({ connection: 'c', count: 1 })],
      heard([...turnStart(1, 'one'), delta(3, 'A'), event(4, 'turn_interrupted')]),
    );
    const after = attach({
      history: [user('one'), user('two'), assistant('B.')],
      historyCursor: 20,
      replay: [event(21, SUCCEEDED)],
    });
    expect(storyOf(fold([after], before))).toEqual([
      '> one',
      'text A',
      'end interrupted',
      'note malformed',
      '> two',
      'text B.',
      'end succeeded',
    ]);
  });
});

describe('a turn that we left', () => {
  it('has its rest when we come back', () => {
    const before = fold(
      [turnLeft({ connection: 'c', turnId: 'seen-2', message: 'gone' })],
      heard([...turnStart(1), delta(3, 'Hel')]),
    );
    const after = attach({
      history: [user('hello'), assistant('Hello.')],
      historyCursor: 7,
      replay: [event(8, SUCCEEDED)],
    });
    expect(storyOf(fold([after], before))).toEqual([
      '> hello',
      'text Hel',
      'end failed gone',
      'text lo.',
      'end succeeded',
    ]);
  });
});

describe('the same prompt twice', () => {
  const history = [user('go on'), assistant('First answer.'), user('go on'), assistant('Second answer.')];
  const after = attach({ history, historyCursor: 20, replay: [event(21, SUCCEEDED)] });

  it('is the turn that the received text fits', () => {
    const before = heard([...turnStart(1, 'go on'), delta(3, 'Fir')]);
    expect(storyOf(fold([after], before))).toEqual([
      '> go on',
      'text First answer.',
      'end succeeded',
      '> go on',
      'text Second answer.',
      'end succeeded',
    ]);
  });

  it('is the newest where both fit', () => {
    const before = heard([
      ...turnStart(1, 'go on'),
      delta(3, 'First answer.'),
      event(4, SUCCEEDED),
      ...turnStart(5, 'go on'),
    ]);
    expect(storyOf(fold([after], before)).slice(3)).toEqual(['> go on', 'text Second answer.', 'end succeeded']);
  });

  it('is not the newest where a prompt of ours must follow it', () => {
    const before = fold(
      [
        submitRequested({ connection: 'c', turnId: 'mine', prompt: 'go on', at: 0 }),
        inputAccepted({ connection: 'c', turnId: 'mine' }),
      ],
      heard([...turnStart(1, 'go on'), delta(3, 'Yes.'), event(4, SUCCEEDED)]),
    );
    const alike = [user('go on'), assistant('Yes.'), user('go on'), assistant('Yes.')];
    const state = fold([attach({ history: alike, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual(['> go on', 'text Yes.', 'end succeeded', '> go on', 'text Yes.', 'end succeeded']);
    expect(endingsOf(state)).toEqual(['seen-2 succeeded', 'mine succeeded']);
  });

  it('of a turn that is complete is not one that says more', () => {
    const before = heard([...turnStart(1, 'go on'), delta(3, 'Yes'), event(4, SUCCEEDED)]);
    const saved = [user('go on'), assistant('Yes'), user('go on'), assistant('Yes, and more.')];
    const state = fold([attach({ history: saved, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual([
      '> go on',
      'text Yes',
      'end succeeded',
      '> go on',
      'text Yes, and more.',
      'end succeeded',
    ]);
  });
});

describe('calls whose ids come again in each answer of the model', () => {
  const round = (sequence: number, output: string) => [
    event(sequence, 'tool_call_started', { id: 'call_0', name: 'bash', arguments: '{}' }),
    event(sequence + 1, 'tool_call_completed', { id: 'call_0', name: 'bash', output }),
  ];
  const told = (output: string) => [assistant('', call('call_0')), result('call_0', output)];

  it('are completed each by its own', () => {
    const before = heard([...turnStart(1), ...round(3, 'one'), ...round(5, 'two').slice(0, 1)]);
    const history = [user('hello'), ...told('one'), ...told('two'), ...told('three'), assistant('Done.')];
    const state = fold([attach({ history, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual([
      '> hello',
      'tool call_0 bash({}) completed one',
      'tool call_0 bash({}) completed two',
      'tool call_0 bash({}) completed three',
      'text Done.',
      'end succeeded',
    ]);
  });

  it('do not make steering of the next prompt', () => {
    const before = heard([...turnStart(1), ...round(3, 'one'), delta(5, 'Done.'), event(6, SUCCEEDED)]);
    const history = [user('hello'), ...told('one'), assistant('Done.'), user('two'), ...told('two'), assistant('B.')];
    const state = fold([attach({ history, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], before);
    expect(storyOf(state).slice(3)).toEqual([
      'end succeeded',
      '> two',
      'tool call_0 bash({}) completed two',
      'text B.',
      'end succeeded',
    ]);
  });
});

describe('a turn that another client steered', () => {
  const history = [
    user('one'),
    assistant('Working.', call('a')),
    result('a', 'ok'),
    user('mention the weather'),
    assistant('It rains.'),
  ];
  const events = [
    ...turnStart(1, 'one'),
    delta(3, 'Working.'),
    event(4, 'turn_completed'),
    event(5, 'tool_call_started', { id: 'a', name: 'bash', arguments: '{}' }),
    event(6, 'tool_call_completed', { id: 'a', name: 'bash', output: 'ok' }),
    delta(7, 'It '),
  ];

  it('has no text twice: the steering prompt is saved within it and was never an event', () => {
    const state = fold([attach({ history, historyCursor: 20, replay: [event(21, SUCCEEDED)] })], heard(events));
    expect(storyOf(state)).toEqual([
      '> one',
      'text Working.',
      'tool a bash({}) completed ok',
      'text It rains.',
      'end succeeded',
    ]);
    expect(endingsOf(state)).toEqual(['seen-2 succeeded']);
  });

  it('and was seen to its end has nothing twice behind another turn', () => {
    const before = heard([...events, delta(8, 'rains.'), event(9, SUCCEEDED)]);
    const after = attach({
      history: [...history, user('two'), assistant('B.')],
      historyCursor: 30,
      replay: [event(31, SUCCEEDED)],
    });
    expect(storyOf(fold([after], before)).slice(4)).toEqual(['end succeeded', '> two', 'text B.', 'end succeeded']);
  });
});

it('does not take a prompt behind an interrupted turn for steering because the answers begin alike', () => {
  const before = heard([...turnStart(1, 'one'), delta(3, 'I '), event(4, 'turn_interrupted')]);
  const after = attach({
    history: [user('one'), user('two'), assistant('I do.')],
    historyCursor: 20,
    replay: [event(21, SUCCEEDED)],
  });
  expect(storyOf(fold([after], before))).toEqual([
    '> one',
    'text I ',
    'end interrupted',
    '> two',
    'text I do.',
    'end succeeded',
  ]);
});

describe('a saved history that does not fit what was received', () => {
  it.each([
    ['because it says something else', [user('hello'), assistant('Good day.')]],
    ['because it says less', [user('hello'), assistant('He')]],
    [
      'because it lost the prompt to compaction',
      [system('[earlier conversation compacted: 3 messages]'), assistant('Hello.')],
    ],
    ['because the prompt was a template and was saved expanded', [user('Greet the person.'), assistant('Hello.')]],
    ['because it is empty', []],
  ])('%s is left alone, and that is said', (_, history) => {
    const before = heard([...turnStart(1), delta(3, 'Hel')]);
    const state = fold([attach({ history, historyCursor: 7, replay: [event(8, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual(['> hello', 'text Hel', 'note unmatched', 'end succeeded']);
    expect(endingsOf(state)).toEqual(['seen-2 succeeded']);
  });

  it('of a compacted conversation without a prompt is left alone too', () => {
    const before = heard([], { history: [assistant('A.')], historyCursor: 4 });
    const after = attach({ history: [assistant('Z.'), user('two'), assistant('B.')], historyCursor: 20, replay: [] });
    expect(storyOf(fold([after], before))).toEqual(['note unmatched']);
  });
});

describe('a restarted runtime', () => {
  it('ends the turn whose last answer it saved', () => {
    const before = heard([...turnStart(1), delta(3, 'Hel')]);
    const state = fold([attach({ history: [user('hello'), assistant('Hello.')] })], before);
    expect(storyOf(state)).toEqual(['> hello', 'text Hello.', 'end succeeded', 'note restarted']);
  });

  it('fails the turn that it did not finish', () => {
    const before = heard([...turnStart(1), delta(3, 'Hel')]);
    const state = fold([attach({ history: [user('hello')] })], before);
    expect(storyOf(state)).toEqual([
      '> hello',
      'text Hel',
      'end failed The runtime was restarted and this turn was lost.',
      'note restarted',
    ]);
  });

  const lost = ['end failed The runtime was restarted and this turn was lost.', 'note restarted'];

  it('that saved nothing of the turn has missed nothing', () => {
    const before = heard([...turnStart(1), delta(3, 'Hel')]);
    expect(storyOf(fold([attach()], before))).toEqual(['> hello', 'text Hel', ...lost]);
    const later = heard([...turnStart(6, 'two'), delta(8, 'B')], {
      history: [system('s'), user('one'), assistant('A.')],
      historyCursor: 5,
    });
    const saved = attach({ history: [system('another day'), user('one'), assistant('A.')] });
    expect(storyOf(fold([saved], later))).toEqual(['> two', 'text B', ...lost]);
  });

  it('that saved nothing of the turn does not answer it with the answer to the same prompt before', () => {
    const before = heard([...turnStart(1, 'go on'), delta(3, 'A.'), event(4, SUCCEEDED), ...turnStart(5, 'go on')]);
    const state = fold([attach({ history: [user('go on'), assistant('A.')] })], before);
    expect(storyOf(state)).toEqual(['> go on', 'text A.', 'end succeeded', '> go on', ...lost]);
  });

  it('goes on from the turn before the lost one when more is missed', () => {
    const before = fold(
      [attach({ history: [user('one'), assistant('A.')] })],
      heard([...turnStart(6, 'lost')], { history: [user('one'), assistant('A.')], historyCursor: 5 }),
    );
    const history = [user('one'), assistant('A.'), user('two'), assistant('B.')];
    const state = fold([attach({ history, historyCursor: 9, replay: [event(10, SUCCEEDED)] })], before);
    expect(storyOf(state)).toEqual(['> lost', ...lost, '> two', 'text B.', 'end succeeded']);
  });

  it('whose history says other things than what was known is not read at all, and that is said', () => {
    const before = heard([...turnStart(1, 'one'), delta(3, 'A.'), event(4, SUCCEEDED), ...turnStart(5, 'two')]);
    const state = fold([attach({ history: [user('what is this'), assistant('Else.')] })], before);
    expect(storyOf(state).slice(3)).toEqual(['> two', 'note unmatched', ...lost]);
  });

  it('says nothing twice of a turn that was over before', () => {
    const before = heard([...turnStart(1), delta(3, 'Hello.'), event(4, SUCCEEDED)]);
    const state = fold([attach({ history: [user('hello'), assistant('Hello.')] })], before);
    expect(storyOf(state)).toEqual(['> hello', 'text Hello.', 'end succeeded', 'note restarted']);
  });
});

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

property.prop([turns(3), place], { numRuns: 500 })(
  'whatever was heard of a conversation, its saved history completes it exactly',
  (conversation, cut) => {
    const { events, ends, history } = tell(conversation);
    const end = ends.at(-1) ?? 0;
    const known = heard(events.slice(0, Math.floor(cut * (end + 1))));
    const replay = events.slice(end);
    const state = fold([attach({ history, historyCursor: end, replay })], known);
    expect(storyOf(state)).toEqual(storyOf(heard(events)));
    const endings = (state.turn['c']?.ended ?? []).map(({ turnId, outcome }) => [turnId, outcome] as const);
    expect(new Map(endings).size).toBe(conversation.length);
    expect(endings.every(([, outcome]) => outcome === 'succeeded')).toBe(true);
  },
);

property.prop([turns(3), place, place], { numRuns: 500 })(
  'while a turn runs, its events and the saved history of those before complete what was heard exactly',
  (conversation, cut, now) => {
    const { events, ends, history, starts } = tell(conversation);
    const boundary = ends.at(-2) ?? -1;
    const upTo = boundary + 1 + Math.floor(now * (events.length - boundary - 1));
    const known = heard(events.slice(0, Math.floor(cut * (upTo + 1))));
    const snapshot = attach({
      descriptor: BUSY,
      history: history.slice(0, starts.at(-1)),
      historyCursor: Math.max(0, boundary),
      replay: events.slice(boundary < 0 ? 0 : boundary, upTo),
    });
    const state = fold([snapshot, ...receive(events.slice(upTo))], known);
    expect(storyOf(state)).toEqual(storyOf(heard(events)));
  },
);

import { describe, expect, it } from 'vitest';
import type { RootState } from '../../src/store/state.js';
import { answerRequested } from '../../src/store/requests.js';
import { inputAccepted, submitRequested } from '../../src/store/turn.js';
import { typedAnswer } from '../../src/vscode/typedAnswer.js';
import { approval, event, turnStart } from '../doubles/runtime.js';
import { attach, fold, heard, HOSTED, open, receive } from '../store/conversation.js';
import { AskingRuntime } from './askingRuntime.js';
import { bash, script, until } from './attachedEditor.js';
import { ProxiedEditor } from './proxiedEditor.js';

const INTEGER = { count: { type: 'integer', minimum: 1 } };
const CHOICE = { db: { type: 'string', oneOf: [{ const: 'pg', title: 'PostgreSQL' }, { const: 'lite' }] } };

describe('a request that waits while nothing runs', () => {
  it.each([
    ['Allow', 'allow'],
    ['  deny! ', 'deny'],
    ['ALLOW FOR SESSION.', 'allow_for_session'],
  ])('is answered by typing the words of a button: %j', async (typed, decision) => {
    const runtime = await AskingRuntime.open();
    const id = await runtime.approve('ls');
    const turn = runtime.attached.send(typed);
    expect((await turn.result)?.errorDetails).toBeUndefined();
    expect(runtime.answers).toEqual([{ kind: 'approval', request_id: id, decision }]);
    expect(turn.stream.text.replaceAll('\\', '')).toMatch(/(?:Allow|Deny|Allow for session): bash: ls/);
    expect([runtime.prompts, runtime.waiting]).toEqual([[], 0]);
  });

  it.each([
    [INTEGER, ' 3 ', { count: 3 }],
    [CHOICE, 'PostgreSQL', { db: 'pg' }],
    [{ sure: { type: 'boolean' } }, 'yes', { sure: true }],
    [{ name: { type: 'string' } }, 'the “é🙂” one', { name: 'the “é🙂” one' }],
    [{ days: { type: 'array', items: { enum: ['mon', 'tue'] } } }, 'mon', { days: ['mon'] }],
  ])('of which one value is asked (%j) is answered by typing it: %j', async (properties, typed, content) => {
    const runtime = await AskingRuntime.open();
    const id = await runtime.form(properties);
    await runtime.attached.send(typed).result;
    expect(runtime.answers).toEqual([{ kind: 'elicitation', request_id: id, action: 'accept', content }]);
    expect([runtime.prompts, runtime.attached.editor.host.questions]).toEqual([[], []]);
  });

  it.each([
    ['approval', 'What would that do?'],
    ['approval', 'Allow it, but only once'],
    ['approval', ''],
    ['value', 'many'],
    ['value', '0'],
    ['values', 'PostgreSQL'],
  ])('is not answered by what is no answer (%s): %j is sent as a prompt', async (asked, prompt) => {
    const runtime = await AskingRuntime.open();
    if (asked === 'approval') await runtime.approve('ls');
    else await runtime.form(asked === 'value' ? INTEGER : { ...CHOICE, ...INTEGER });
    await runtime.attached.send(prompt).result;
    expect([runtime.answers, runtime.prompts]).toEqual([[], [prompt]]);
  });

  it('is the oldest, and each answer is for one', async () => {
    const runtime = await AskingRuntime.open();
    await runtime.approve('first');
    await runtime.approve('second');
    await runtime.attached.send('Allow').result;
    await runtime.attached.send('Deny').result;
    expect(runtime.answers).toMatchObject([
      { request_id: 1, decision: 'allow' },
      { request_id: 2, decision: 'deny' },
    ]);
  });

  it('that somebody else answered first is not said to be answered, and the words are not sent on', async () => {
    const runtime = await AskingRuntime.open();
    await runtime.approve('ls');
    // Silently: the client hears of it only by its answer.
    runtime.broker.withdrawAll();
    const turn = runtime.attached.send('Allow');
    expect((await turn.result)?.errorDetails?.message).toContain('waits no longer');
    expect(turn.stream.text).not.toContain('Allow');
    expect(runtime.prompts).toEqual([]);
  });

  it('whose answer fails says why, and waits for another', async () => {
    const runtime = await AskingRuntime.open();
    await runtime.approve('ls', { decisions: ['proceed', 'deny'] });
    const turn = runtime.attached.send('Proceed');
    expect((await turn.result)?.errorDetails?.message).toContain('invalid response');
    expect([runtime.answers, runtime.waiting]).toEqual([[], 1]);
    await runtime.attached.send('Deny').result;
    expect(runtime.answers).toMatchObject([{ decision: 'deny' }]);
  });
});

it('[defect P17] while a turn runs typing answers nothing: it steers', async () => {
  const line = await ProxiedEditor.open();
  const { attached } = line;
  const first = attached.send(script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' }));
  await first.stream.until(({ buttons }) => buttons.length === 3);
  first.askToYield();
  await first.result;
  const second = attached.send('Allow');
  await until(() => line.proxy.count('steer') === 1);
  expect([line.accepted, attached.api.connections[0]?.waiting]).toEqual([[], 1]);
  await attached.click(first, 'Deny');
  await second.result;
  expect(line.accepted).toEqual(['1 deny']);
  expect(JSON.stringify(line.runtime.history())).toContain('"Allow"');
});

describe('what is typed', () => {
  const hosted = (...events: Parameters<typeof receive>[0]) => heard(events, { descriptor: HOSTED });
  const typed = (root: RootState, prompt = 'allow', connection = 'c') =>
    typedAnswer(root, connection, prompt)?.choice.response;
  const question = (sequence: number, properties: object) =>
    event(sequence, 'request', {
      request: { id: 7, kind: 'elicitation', payload: { message: 'm', requested_schema: { properties } } },
    });

  it('answers what a hosted runtime kept through a reload', () => {
    const replay = [...turnStart(1), approval(3, 7), event(4, 'turn_succeeded'), approval(5, 8)];
    const reloaded = fold([open(), attach({ descriptor: HOSTED, replay })]);
    expect(typed(reloaded)).toMatchObject({ request_id: 8, decision: 'allow' });
  });

  it('answers nothing while a turn is known to go on, nor what is answered or of another conversation', () => {
    const waiting = hosted(approval(1, 7));
    expect(typed(waiting)).toMatchObject({ request_id: 7 });
    const sent = submitRequested({ connection: 'c', turnId: 't', prompt: 'p', at: 1 });
    expect(typed(fold([sent, inputAccepted({ connection: 'c', turnId: 't' })], waiting))).toBeUndefined();
    expect(typed(fold(receive(turnStart(2)), waiting))).toBeUndefined();
    const answer = { kind: 'approval', request_id: 7, decision: 'deny' } as const;
    const answered = answerRequested({ connection: 'c', answer, label: 'Deny', by: 'person' });
    expect(typed(fold([answered], waiting))).toBeUndefined();
    expect(typed(fold([open('d'), attach({ connection: 'd' })], waiting), 'allow', 'd')).toBeUndefined();
    expect(typed(waiting, 'allow', 'nowhere')).toBeUndefined();
  });

  it('may be the words of a button that asks for nothing, or the value itself, never an empty form', () => {
    const one = hosted(question(1, { answer: { type: 'string' } }));
    expect(typed(one, 'Decline')).toMatchObject({ action: 'decline', content: null });
    expect(typed(one, 'Answer…')).toMatchObject({ action: 'accept', content: { answer: 'Answer…' } });
    const two = hosted(question(1, { a: { type: 'string' }, b: { type: 'string' } }));
    expect(typed(two, 'Answer…')).toBeUndefined();
    expect(typed(two, 'cancel')).toMatchObject({ action: 'cancel' });
    const none = hosted(question(1, {}));
    expect(typed(none, 'accept')).toMatchObject({ action: 'accept', content: null });
    expect(typed(none, 'anything')).toBeUndefined();
  });
});

import { describe, expect, it, onTestFinished } from 'vitest';
import { requestId } from '../conformance/wire.js';
import { AskingRuntime } from './askingRuntime.js';
import { question } from './askedForm.js';
import { until } from './attachedEditor.js';
import { ProxiedEditor } from './proxiedEditor.js';

const RESOLVED = 'Volter Harness: already resolved.';
const QUESTION = '/demo question';
/** To ask a person is a tool too: here it needs no leave. */
const OPEN = { runtime: { toolApproval: 'never' } } as const;

describe('the form of an elicitation', () => {
  it('asks each question, and its content reaches the agent', async () => {
    const line = await ProxiedEditor.open(OPEN);
    const { attached } = line;
    const turn = attached.send(QUESTION);
    attached.editor.pick('PostgreSQL');
    attached.editor.pick('Linux', 'Windows');
    await attached.click(turn, 'Answer…');
    await turn.result;
    const [call] = line.proxy.calls.filter(({ name }) => name === 'respond');
    expect(call?.params).toEqual({
      response: {
        kind: 'elicitation',
        request_id: 1,
        action: 'accept',
        content: { q1: 'PostgreSQL', q2: ['Linux', 'Windows'] },
      },
    });
    expect(line.accepted).toEqual(['1 accept']);
    expect(turn.stream.text).toContain('that is all I needed');
  });

  it('that is left by Escape changes nothing, and can be opened again', async () => {
    const line = await ProxiedEditor.open(OPEN);
    const { attached } = line;
    const turn = attached.send(QUESTION);
    attached.editor.pick('SQLite');
    attached.editor.escape();
    await attached.click(turn, 'Answer…');
    expect([line.proxy.count('respond'), attached.api.connections[0]?.waiting]).toEqual([0, 1]);
    expect(attached.narrated).toEqual([]);
    await attached.click(turn, 'Decline');
    await turn.result;
    expect(line.accepted).toEqual(['1 decline']);
  });

  it('closes when somebody else answers, and says so', async () => {
    const line = await ProxiedEditor.open(OPEN);
    const { attached } = line;
    const turn = attached.send(QUESTION);
    const answered = attached.click(turn, 'Answer…');
    await until(() => attached.editor.host.questions.length > 0);
    expect(question(attached.editor).isVisible).toBe(true);
    const rival = line.rival();
    await rival.ok('take_control');
    const response = { kind: 'elicitation', request_id: 1, action: 'cancel', content: null };
    await rival.ok('respond', { response });
    await answered;
    expect(question(attached.editor).isVisible).toBe(false);
    expect(attached.narrated).toEqual([RESOLVED]);
    await turn.result;
    expect(line.proxy.count('respond')).toBe(0);
  });

  it('closes when the runtime is restarted, though the next process asks under the same number', async () => {
    const line = await ProxiedEditor.open(OPEN);
    const { attached } = line;
    // A new process is known by its lower numbers.
    await attached.send('one two three four five six seven').result;
    const turn = attached.send(QUESTION);
    const answered = attached.click(turn, 'Answer…');
    await until(() => attached.editor.host.questions.length > 0);
    await line.restart(async () => {
      const rival = line.rival();
      const stream = await rival.listen();
      onTestFinished(() => stream.close());
      await rival.send(QUESTION);
      expect(requestId(await stream.request(0))).toBe(1);
    });
    await answered;
    expect(question(attached.editor).isVisible).toBe(false);
    expect([attached.narrated, attached.api.connections[0]?.waiting]).toEqual([[RESOLVED], 1]);
    expect(line.proxy.count('respond')).toBe(0);
    await turn.result;
  });

  it('of another conversation stays as it is', async () => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    await runtime.form({ name: { type: 'string' } });
    const answered = attached.run('answer');
    attached.editor.pick('Answer…');
    await until(() => attached.editor.host.questions.length > 1);
    await runtime.approve('ls');
    await attached.run('respond', undefined);
    expect(question(attached.editor, 1).isVisible).toBe(true);
    attached.editor.type('é🙂');
    await answered;
    expect(runtime.answers).toEqual([
      { kind: 'elicitation', request_id: 1, action: 'accept', content: { name: 'é🙂' } },
    ]);
  });

  it('with nothing to fill in is an answer at once', async () => {
    const runtime = await AskingRuntime.open();
    await runtime.ask('elicitation', { message: 'Ready?', requested_schema: null });
    await runtime.attached.run('allow');
    expect(runtime.answers).toEqual([{ kind: 'elicitation', request_id: 1, action: 'accept', content: null }]);
    expect(runtime.attached.editor.host.questions).toEqual([]);
  });
});

describe('a command', () => {
  it.each([
    ['allow', 'allow'],
    ['deny', 'deny'],
  ])('“%s” answers the oldest request, and that one alone', async (command, decision) => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    await runtime.approve('first');
    await runtime.approve('second');
    await attached.run(command);
    expect(runtime.answers).toEqual([{ kind: 'approval', request_id: 1, decision }]);
    expect(runtime.waiting).toBe(1);
    await attached.run(command);
    expect(runtime.answers.map(({ request_id }) => request_id)).toEqual([1, 2]);
    await attached.run(command);
    expect(attached.narrated.at(-1)).toBe('Volter Harness: nothing waits.');
    expect(runtime.answers).toHaveLength(2);
  });

  it('“deny” declines a question', async () => {
    const runtime = await AskingRuntime.open();
    await runtime.form({ name: { type: 'string' } });
    await runtime.attached.run('deny');
    expect(runtime.answers).toMatchObject([{ kind: 'elicitation', action: 'decline' }]);
  });

  it.each(['allow', 'deny'])('“%s” gives no answer that is not offered, and says so', async (command) => {
    const runtime = await AskingRuntime.open();
    await runtime.approve('ls', { decisions: ['proceed', 'abort'] });
    await runtime.attached.run(command);
    expect(runtime.attached.narrated).toEqual(['Volter Harness: this request has no such answer.']);
    expect([runtime.answers, runtime.waiting]).toEqual([[], 1]);
  });

  it('“answer” lists what waits in every conversation, with all its answers', async () => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    await runtime.approve('$(trash) first');
    await runtime.form({ name: { type: 'string' } }, 'What is [it](command:x)?');
    attached.editor.pick('Decline');
    await attached.run('answer');
    const [list] = attached.editor.host.questions as readonly { readonly items?: readonly object[] }[];
    expect(list?.items).toMatchObject([
      { label: 'Allow', description: 'bash: \\$(trash) first' },
      { label: 'Allow for session', description: 'bash: \\$(trash) first' },
      { label: 'Deny', description: 'bash: \\$(trash) first' },
      { label: 'Answer…', description: 'What is [it] (command:x)?' },
      { label: 'Decline', description: 'What is [it] (command:x)?' },
      { label: 'Cancel', description: 'What is [it] (command:x)?' },
    ]);
    expect(runtime.answers).toMatchObject([{ request_id: 2, action: 'decline' }]);
  });

  it('“answer” that is left changes nothing', async () => {
    const runtime = await AskingRuntime.open();
    await runtime.approve('ls');
    runtime.attached.editor.escape();
    await runtime.attached.run('answer');
    expect([runtime.answers, runtime.waiting, runtime.attached.narrated]).toEqual([[], 1, []]);
  });

  it('“answer” whose list stood for too long gives no answer, and opens no form', async () => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    const id = await runtime.form({ name: { type: 'string' } });
    const answered = attached.run('answer');
    await until(() => attached.editor.host.questions.length > 0);
    runtime.broker.respond({ kind: 'elicitation', request_id: id, action: 'cancel', content: null });
    await until(() => runtime.waiting === 0);
    attached.editor.pick('Answer…');
    await answered;
    expect(attached.narrated).toEqual([RESOLVED]);
    expect(attached.editor.host.questions).toHaveLength(1);
    expect(runtime.answers).toMatchObject([{ action: 'cancel' }]);
  });

  it('with no runtime says so', async () => {
    const { FakeEditor } = await import('../doubles/editor.js');
    const { activate } = await import('../../src/vscode/extension.js');
    const editor = new FakeEditor();
    activate(editor.context);
    for (const name of ['allow', 'deny', 'answer']) await editor.host.commands.get(`supercode.frontend.${name}`)?.();
    expect(editor.host.statusMessages.map(({ text }) => text)).toEqual([
      'Volter Harness: no runtime is connected.',
      'Volter Harness: no runtime is connected.',
      'Volter Harness: nothing waits.',
    ]);
  });
});

it('an answer that the runtime does not take is told in words that run nothing', async () => {
  const runtime = await AskingRuntime.open();
  await runtime.approve('ls', { decisions: ['$(trash)'] });
  runtime.attached.editor.pick('\\$(trash)');
  await runtime.attached.run('answer');
  const [message] = runtime.attached.editor.host.messages;
  expect(message?.text).toContain('it can be given again');
  expect(runtime.waiting).toBe(1);
});

it('an answer that crosses another client’s is theirs, and that is said', async () => {
  const line = await ProxiedEditor.open(OPEN);
  const { attached } = line;
  const turn = attached.send(QUESTION);
  await turn.stream.until(({ buttons }) => buttons.length === 3);
  const response = { kind: 'elicitation', request_id: 1, action: 'cancel', content: null };
  line.proxy.faults = {
    call: ({ name, nth }) => (name === 'respond' && nth === 0 ? { kind: 'delay', ms: 100, before: true } : undefined),
  };
  const clicked = attached.click(turn, 'Decline');
  const rival = line.rival();
  await rival.ok('take_control');
  await rival.ok('respond', { response });
  await clicked;
  await turn.result;
  expect(line.accepted).toEqual([]);
  expect(attached.narrated.at(-1)).toBe(RESOLVED);
  expect(attached.editor.host.messages).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { startEmbeddedRuntime } from '../../src/runtime/embedded.js';
import type { TurnDouble } from '../doubles/editor.js';
import { AskingRuntime } from './askingRuntime.js';
import { AttachedEditor, bash, script, until } from './attachedEditor.js';
import { ProxiedEditor } from './proxiedEditor.js';

const LOOK = script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' });
const RESOLVED = 'Volter Harness: already resolved.';

const asked = (turn: TurnDouble, count = 1) => turn.stream.until(({ buttons }) => buttons.length >= 3 * count);
const argumentOf = (turn: TurnDouble, at = 0) => turn.stream.buttons[at]?.arguments?.[0] as Record<string, unknown>;
const waitingIn = ({ api }: AttachedEditor) => api.connections.map(({ waiting }) => waiting);

describe('a button', () => {
  it.each([
    ['Allow', 'allow', 'seen'],
    ['Allow for session', 'allow_for_session', 'seen'],
    ['Deny', 'deny', 'not approved'],
  ])(
    '[defect C39, P18] “%s” answers once, inside the running turn; the others then say that it is resolved',
    async (title, decision, told) => {
      const line = await ProxiedEditor.open();
      const { attached } = line;
      const turn = attached.send(LOOK);
      await attached.click(turn, title);
      for (const each of ['Allow', 'Allow for session', 'Deny']) await attached.click(turn, each);
      expect(attached.narrated.slice(-3)).toEqual([RESOLVED, RESOLVED, RESOLVED]);
      expect((await turn.result)?.errorDetails).toBeUndefined();
      expect(turn.stream.text).toContain(told);
      expect(turn.stream.text).toContain('Done.');
      for (const each of ['Allow', 'Deny']) await attached.click(turn, each);
      expect(line.accepted).toEqual([`1 ${decision}`]);
      expect(line.proxy.count('send_input')).toBe(1);
    },
  );

  it('[defect C39] that is clicked twice at once, or together with another, answers once', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(LOOK);
    await asked(turn);
    await Promise.all(['Deny', 'Deny', 'Allow'].map((title) => attached.click(turn, title)));
    await turn.result;
    expect(line.accepted).toEqual(['1 deny']);
    expect(line.proxy.count('respond')).toBe(1);
    expect(attached.narrated.filter((said) => said === RESOLVED)).toHaveLength(2);
  });

  it('[defect P15] of a request that another client answered says so, and sends nothing', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(LOOK);
    await asked(turn);
    const rival = line.rival();
    await rival.ok('take_control');
    await rival.ok('respond', { response: { kind: 'approval', request_id: 1, decision: 'deny' } });
    await until(() => waitingIn(attached)[0] === 0);
    await attached.click(turn, 'Allow');
    await turn.result;
    expect(attached.narrated.at(-1)).toBe(RESOLVED);
    expect(line.proxy.count('respond')).toBe(0);
    expect(turn.stream.text).toContain('Denied elsewhere');
  });

  it.each([
    ['the same', LOOK],
    ['another', script({ text: 'Look.', calls: [bash('rm -rf everything')] })],
  ])(
    '[defect C43] of a runtime that was restarted does not answer what the next one asks under its number: %s',
    async (_, next) => {
      const line = await ProxiedEditor.open();
      const { attached } = line;
      const first = attached.send(LOOK);
      await asked(first);
      await line.restart();
      expect((await first.result)?.errorDetails?.message).toContain('restarted');
      const second = attached.send(next);
      await asked(second);
      expect(argumentOf(second)['requestId']).toBe(argumentOf(first)['requestId']);
      for (const title of ['Allow', 'Allow for session', 'Deny']) await attached.click(first, title);
      expect(attached.narrated.slice(-3)).toEqual([RESOLVED, RESOLVED, RESOLVED]);
      expect([line.accepted, waitingIn(attached)]).toEqual([[], [1]]);
      await attached.click(second, 'Deny');
      await second.result;
      expect(line.accepted).toEqual(['1 deny']);
    },
  );

  it('[defect B34] answers its own conversation only', async () => {
    const attached = await AttachedEditor.open();
    const other = await startEmbeddedRuntime();
    try {
      const first = attached.send(LOOK);
      await asked(first);
      const id = await attached.api.connect({ baseUrl: other.url, token: other.mint('c-2'), clientId: 'c-2' });
      await until(() => attached.api.connections.find((each) => each.id === id)?.phase === 'attached');
      const second = attached.send(LOOK);
      await asked(second);
      expect(waitingIn(attached)).toEqual([1, 1]);
      await attached.click(first, 'Allow');
      await first.result;
      expect(waitingIn(attached)).toEqual([0, 1]);
      await attached.run('respond', argumentOf(first));
      expect(attached.narrated.at(-1)).toBe(RESOLVED);
      await attached.click(second, 'Deny');
      await second.result;
      expect([first.stream.text, second.stream.text]).toEqual([
        expect.stringContaining('*Allowed\\.*'),
        expect.stringContaining('*Denied\\.*'),
      ]);
    } finally {
      await other.kill();
    }
  });

  it('is a word, whatever the runtime calls its decisions', async () => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    const turn = attached.send(script({ hang: true }));
    await until(() => attached.api.connections[0]?.turn === 'running');
    await runtime.approve('ls', { decisions: ['$(trash) [x](command:y)', 'deny'] });
    await attached.click(turn, 'Deny');
    expect(turn.stream.buttons.map(({ title }) => title)).toEqual(['\\$(trash) [x] (command:y)', 'Deny']);
    expect(runtime.answers).toMatchObject([{ decision: 'deny' }]);
    turn.stop();
    await turn.result;
  });
});

describe('the command behind the buttons', () => {
  it('is inert for whatever no button of ours carries', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(LOOK);
    await asked(turn);
    const real = argumentOf(turn);
    const forged = [
      ...[undefined, null, 7, 'Allow', true, [], [real], {}, () => real],
      ...['connectionId', 'requestId', 'label', 'response'].map((name) => ({ ...real, [name]: undefined })),
      ...Object.keys(real).map((name) => ({ ...real, [name]: { toString: () => String(real[name]) } })),
      { ...real, connectionId: 'somebody else' },
      { ...real, connectionId: '__proto__' },
      { ...real, requestId: 2 },
      { ...real, requestId: NaN },
      { ...real, requestId: '1' },
      { ...real, label: 'Accept everything' },
      { ...real, label: 'allow' },
      { ...real, label: '' },
      { ...real, response: null },
      { ...real, response: { kind: 'approval', request_id: 1, decision: 'deny' } },
      { ...real, response: { ...(real['response'] as object), request_id: 2 } },
      { ...real, epoch: 1 },
      { ...real, shown: '' },
      { ...real, shown: 'f'.repeat(16) },
    ];
    for (const argument of forged) await expect(attached.run('respond', argument)).resolves.toBeUndefined();
    expect([line.proxy.count('respond'), waitingIn(attached)]).toEqual([0, [1]]);
    await attached.run('respond', real);
    await turn.result;
    expect(line.accepted).toEqual(['1 allow']);
  });

  it('takes the answer object of a host, which says no more than what is answered', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(LOOK);
    await asked(turn);
    const { connectionId, requestId, label, response } = argumentOf(turn);
    await attached.run('respond', { connectionId, requestId, label, response });
    await turn.result;
    expect(line.accepted).toEqual(['1 allow']);
  });

  it('leaves a trace of each: a line in the log, or a word in the status bar', async () => {
    const attached = await AttachedEditor.open();
    await attached.run('respond', { connectionId: 'environment' });
    expect(attached.editor.host.channels[0]?.lines.at(-1)).toContain('no button of this extension');
    await attached.run('respond', { connectionId: 'environment', requestId: 1, label: 'Allow', response: {} });
    expect(attached.narrated).toEqual([RESOLVED]);
  });
});

describe('an answer that does not get through', () => {
  const problems = ({ editor }: AttachedEditor) => editor.host.messages.map(({ level, text }) => `${level}: ${text}`);

  it('is told, and can be given again', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(LOOK);
    await asked(turn);
    line.proxy.faults = { call: ({ name }) => (name === 'respond' ? { kind: 'answer', status: 500 } : undefined) };
    await attached.click(turn, 'Allow');
    expect(problems(attached)).toEqual([
      expect.stringMatching(/^error: The answer did not get through; it can be given again\. ./),
    ]);
    expect(waitingIn(attached)).toEqual([1]);
    line.proxy.faults = {};
    await attached.click(turn, 'Deny');
    await turn.result;
    expect(line.accepted).toEqual(['1 deny']);
  });

  it('because the runtime is gone, is told as well', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(LOOK);
    await asked(turn);
    line.proxy.upstream = null;
    await attached.click(turn, 'Allow');
    expect(problems(attached)).toHaveLength(1);
    turn.stop();
  });

  it('though it arrived, ends as given', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(LOOK);
    await asked(turn);
    line.proxy.faults = { call: ({ name }) => (name === 'respond' ? { kind: 'lose' } : undefined) };
    await attached.click(turn, 'Allow');
    await turn.result;
    await attached.click(turn, 'Deny');
    expect(attached.narrated.at(-1)).toBe(RESOLVED);
    expect(line.accepted).toEqual(['1 allow']);
    expect(turn.stream.text).toContain('Done.');
  });

  it('is not offered where the attachment may not answer', async () => {
    const line = await ProxiedEditor.open({ permissions: 'observe,interact' });
    const { attached } = line;
    const turn = attached.send(LOOK);
    await turn.stream.until(({ text }) => text.includes('may not answer requests'));
    expect(turn.stream.buttons).toEqual([]);
    for (const command of ['allow', 'deny', 'answer']) await attached.run(command);
    expect(new Set(attached.narrated)).toEqual(new Set(['Volter Harness: nothing waits.']));
    const rival = line.rival();
    await rival.ok('take_control');
    await rival.ok('respond', { response: { kind: 'approval', request_id: 1, decision: 'allow' } });
    await turn.result;
    expect(turn.stream.text).toContain('Done.');
    expect(line.proxy.count('respond')).toBe(0);
  });
});

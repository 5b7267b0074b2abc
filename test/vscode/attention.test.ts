import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedRuntime } from '../../src/runtime/embedded.js';
import type { StatusItemDouble } from '../doubles/vscode/window.js';
import { AskingRuntime } from './askingRuntime.js';
import { AttachedEditor, bash, script, until } from './attachedEditor.js';
import { ProxiedEditor } from './proxiedEditor.js';

const ASKING = script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' });
const RESOLVED = 'Volter Harness: already resolved.';

function itemOf({ editor }: AttachedEditor): StatusItemDouble {
  const [item] = editor.host.statusItems;
  if (!item) throw new Error('there is no status bar item');
  return item;
}

const tooltipOf = (attached: AttachedEditor) => JSON.stringify(itemOf(attached).tooltip ?? '');
const keyOf = ({ editor }: AttachedEditor, name: string) => editor.host.contextKeys.get(name);
const noticesOf = ({ editor }: AttachedEditor) => editor.host.messages.filter(({ level }) => level === 'information');

/** The only notification that there is. */
async function notice(attached: AttachedEditor) {
  await until(() => noticesOf(attached).length > 0, 'a notification');
  const [only, ...more] = noticesOf(attached);
  expect(more).toEqual([]);
  if (!only) throw new Error('there is no notification');
  return only;
}

/** Until whatever was to be shown was shown: the status bar is written in the same breath. */
const seen = (attached: AttachedEditor, waiting: number) =>
  until(() => itemOf(attached).text.includes(`(${waiting} waiting)`), 'the status bar');

describe('the status bar item', () => {
  it('goes with the runtime: from connecting to gone', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const item = itemOf(attached);
    await until(() => item.text === '$(comment-discussion) Volter Harness · scripted/model');
    expect([item.isVisible, item.name, item.command]).toEqual([
      true,
      'Volter Harness',
      'supercode.frontend.showStatus',
    ]);
    await until(() => tooltipOf(attached).includes('In control'));
    await line.lose();
    await until(() => item.text === '$(sync~spin) Reconnecting');
    await line.restart();
    await until(() => item.text.startsWith('$(comment-discussion)'));
    await attached.run('disconnect');
    await until(() => !item.isVisible);
  });

  it('says that another client took control', async () => {
    const line = await ProxiedEditor.open({ runtime: { leaseTtlMs: 750 } });
    await until(() => tooltipOf(line.attached).includes('In control'));
    await line.rival().ok('take_control');
    await until(() => tooltipOf(line.attached).includes('Control taken by rival'));
  });

  it('stands out while something waits', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send(ASKING);
    await seen(attached, 1);
    expect(itemOf(attached)).toMatchObject({ backgroundColor: { id: 'statusBarItem.warningBackground' } });
    expect(itemOf(attached).text).toMatch(/^\$\(bell-dot\) /);
    await attached.click(turn, 'Deny');
    await turn.result;
    await until(() => itemOf(attached).backgroundColor === undefined);
  });
});

describe('the keys', () => {
  it('follow the conversation in focus', async () => {
    const attached = await AttachedEditor.open();
    const keys = ['supercodeConnected', 'supercodeTurnRunning', 'supercodeRequestWaiting'];
    const are = (...values: readonly boolean[]) =>
      until(() => keys.every((key, at) => keyOf(attached, key) === values[at]), values.join());
    await are(true, false, false);
    const turn = attached.send(ASKING);
    await are(true, true, true);
    await attached.click(turn, 'Deny');
    await turn.result;
    await are(true, false, false);
    await attached.run('disconnect');
    await are(false, false, false);
  });

  it('are set only when they change', async () => {
    const attached = await AttachedEditor.open();
    const sets = () => attached.editor.host.executed.filter(({ command }) => command === 'setContext').length;
    await until(() => keyOf(attached, 'supercodeConnected') === true);
    const before = sets();
    const turn = attached.send(ASKING);
    await until(() => keyOf(attached, 'supercodeRequestWaiting') === true);
    await attached.click(turn, 'Deny');
    await turn.result;
    await until(() => keyOf(attached, 'supercodeTurnRunning') === false);
    // Running and not, waiting and not.
    expect(sets() - before).toBeLessThanOrEqual(4);
  });
});

describe('a notification', () => {
  it('of a request comes once where the window is not focused, and names what is asked', async () => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    attached.editor.focus(false);
    await runtime.approve('rm $(trash) [x](command:y)');
    const told = await notice(attached);
    expect(told.text).toBe('The agent waits for you: bash: rm \\$(trash) [x] (command:y)');
    expect(told.choices).toEqual(['Show', 'Allow', 'Allow for session', 'Deny']);
    attached.editor.focus(true);
    attached.editor.focus(false);
    await runtime.approve('another');
    await seen(attached, 2);
    await until(() => noticesOf(attached).length === 2);
    expect(noticesOf(attached).map(({ text }) => text.includes('another'))).toEqual([false, true]);
  });

  it('does not come where the person looks at that conversation', async () => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    await runtime.approve('ls');
    await seen(attached, 1);
    attached.editor.focus(false);
    await runtime.approve('another');
    expect((await notice(attached)).text).toContain('another');
  });

  it('comes in a focused window where another conversation is in focus, and “Show” goes to the one it is of', async () => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    const other = await startEmbeddedRuntime();
    onTestFinished(() => other.kill());
    await attached.api.connect({ baseUrl: other.url, token: other.mint('c-2'), clientId: 'c-2' });
    await until(() => attached.api.connections.every(({ phase }) => phase === 'attached'));
    await runtime.approve('ls');
    (await notice(attached)).choose('Show');
    await until(() => attached.editor.host.executed.some(({ command }) => command === 'workbench.action.chat.open'));
    await attached.run('deny');
    expect(runtime.answers).toMatchObject([{ decision: 'deny' }]);
  });

  it('never comes where a setting says so', async () => {
    const runtime = await AskingRuntime.open({
      editor: { defaults: { 'supercode.frontend.notifyWhenRequestWaits': 'unfocused' } },
    });
    const { attached } = runtime;
    attached.editor.focus(false);
    attached.editor.changeSetting('supercode.frontend.notifyWhenRequestWaits', 'never');
    await runtime.approve('ls');
    await seen(attached, 1);
    attached.editor.changeSetting('supercode.frontend.notifyWhenRequestWaits', 'unfocused');
    await runtime.approve('another');
    expect((await notice(attached)).text).toContain('another');
  });

  it('takes a plain answer, which counts once', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    attached.editor.focus(false);
    const turn = attached.send(ASKING);
    const told = await notice(attached);
    told.choose('Allow');
    await turn.result;
    expect(line.accepted).toEqual(['1 allow']);
    expect(attached.narrated.at(-1)).toContain('$(check) Allow');
    expect(turn.stream.text).toContain('Done.');
  });

  it('that is closed changes nothing', async () => {
    const runtime = await AskingRuntime.open();
    runtime.attached.editor.focus(false);
    await runtime.approve('ls');
    (await notice(runtime.attached)).choose();
    await runtime.attached.editor.settled();
    expect([runtime.answers, runtime.waiting, runtime.attached.narrated]).toEqual([[], 1, []]);
  });

  it('of a question leaves that to the chat', async () => {
    const runtime = await AskingRuntime.open();
    runtime.attached.editor.focus(false);
    await runtime.form({ name: { type: 'string' } });
    expect((await notice(runtime.attached)).choices).toEqual(['Show']);
  });

  it('that stood too long answers nothing, and says so', async () => {
    const runtime = await AskingRuntime.open();
    const { attached } = runtime;
    attached.editor.focus(false);
    const id = await runtime.approve('ls');
    const told = await notice(attached);
    runtime.broker.respond({ kind: 'approval', request_id: id, decision: 'deny' });
    await until(() => runtime.waiting === 0);
    told.choose('Allow');
    await until(() => attached.narrated.length > 0);
    expect(attached.narrated).toEqual([RESOLVED]);
    expect(runtime.answers).toMatchObject([{ decision: 'deny' }]);
  });

  it('of a process that is gone answers nothing of the next one, and that one notifies anew', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    attached.editor.focus(false);
    const first = attached.send(ASKING);
    const told = await notice(attached);
    await line.restart();
    await first.result;
    const second = attached.send(ASKING);
    await until(() => noticesOf(attached).length === 2);
    told.choose('Allow');
    await until(() => attached.narrated.length > 0);
    expect([attached.narrated, line.accepted]).toEqual([[RESOLVED], []]);
    noticesOf(attached)[1]?.choose('Deny');
    await second.result;
    expect(line.accepted).toEqual(['1 deny']);
  });
});

describe('while only text streams', () => {
  it('[defect P36] nothing is published: no word in the status bar, no key, no event, no name', async () => {
    const attached = await AttachedEditor.open();
    const { editor, api } = attached;
    const count = { text: 0, tooltip: 0, connections: 0, models: 0 };
    const turn = attached.send(script({ first: 250, repeat: { n: 60, text: 'x', pad: 3 }, delay: 10 }, { text: '' }));
    await until(() => tooltipOf(attached).includes('Working'));
    await turn.stream.until(({ text }) => text.includes('x000'));
    const item = itemOf(attached);
    for (const name of ['text', 'tooltip'] as const) {
      let value = item[name];
      Object.defineProperty(item, name, {
        get: () => value,
        set: (next: typeof value) => {
          value = next;
          count[name] += 1;
        },
      });
    }
    const listening = [
      api.onDidChangeConnections(() => (count.connections += 1)),
      editor.host.modelsChanged.event(() => (count.models += 1)),
    ];
    const executed = editor.host.executed.length;
    await turn.stream.until(({ text }) => text.includes('x050'));
    expect(count).toEqual({ text: 0, tooltip: 0, connections: 0, models: 0 });
    expect(editor.host.executed).toHaveLength(executed);
    await turn.result;
    await until(() => !tooltipOf(attached).includes('Working'));
    expect(count).toMatchObject({ text: 1, tooltip: 1 });
    expect(count.connections).toBeGreaterThan(0);
    for (const each of listening) each.dispose();
  });
});

it('what is shown goes with the window', async () => {
  const attached = await AttachedEditor.open();
  const item = itemOf(attached);
  await until(() => item.isVisible);
  await attached.editor.reload();
  expect([item.isVisible, item.isDisposed]).toEqual([false, true]);
});

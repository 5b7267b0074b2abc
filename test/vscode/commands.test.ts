import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../src/runtime/embedded.js';
import { COMMAND_NAMES } from '../../src/vscode/commandNames.js';
import { activate } from '../../src/vscode/extension.js';
import { FakeEditor } from '../doubles/editor.js';
import { picker } from './askedForm.js';
import { AttachedEditor, bash, script, until } from './attachedEditor.js';

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly category: string }[];
    readonly keybindings: readonly { readonly command: string; readonly when: string }[];
  };
}

const { contributes } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as Manifest;
const COUNTING = script({ repeat: { n: 300, text: 'x', pad: 3 }, delay: 10 });

function lonelyEditor() {
  const editor = new FakeEditor();
  const api = activate(editor.context);
  onTestFinished(async () => {
    for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
  });
  const run = (name: string) => editor.host.commands.get(`supercode.frontend.${name}`)?.();
  const narrated = () => editor.host.statusMessages.map(({ text }) => text);
  return { editor, api, run, narrated };
}

/** A second runtime, that the editor is connected to as well, and is talking to now. */
async function second({ api }: AttachedEditor): Promise<{ readonly id: string; readonly runtime: EmbeddedRuntime }> {
  const runtime = await startEmbeddedRuntime({ model: 'another/model' });
  onTestFinished(() => runtime.kill());
  const id = (await api.connect({ baseUrl: runtime.url, token: runtime.mint('c-2'), clientId: 'c-2' })) ?? '';
  await until(() => api.connections.find((each) => each.id === id)?.phase === 'attached');
  return { id, runtime };
}

const idsOf = ({ api }: AttachedEditor) => api.connections.map(({ id }) => id);
const labelsOf = (attached: AttachedEditor, at = 0) => picker(attached.editor, at).items.map(({ label }) => label);

describe('the commands', () => {
  it('of the manifest are all there from the start, and no others of ours', () => {
    const { editor } = lonelyEditor();
    const registered = [...editor.host.commands.keys()].filter((name) => name.startsWith('supercode.'));
    expect(registered.toSorted()).toEqual(contributes.commands.map(({ command }) => command).toSorted());
    expect(contributes.commands.map(({ category }) => category)).toEqual(
      contributes.commands.map(() => 'Volter Harness'),
    );
    expect(registered).toHaveLength(COMMAND_NAMES.length + 1);
  });

  it('behind the keys answer only while a request waits, as a key says that is kept', async () => {
    const attached = await AttachedEditor.open();
    const { contextKeys, commands } = attached.editor.host;
    for (const { command, when } of contributes.keybindings) {
      expect(commands.has(command)).toBe(true);
      expect(contextKeys.get(when)).toBe(false);
    }
  });

  it('without a runtime say so, and open nothing', async () => {
    const { editor, run, narrated } = lonelyEditor();
    for (const name of ['stop', 'disconnect', 'allow']) await run(name);
    expect(narrated()).toEqual(Array(3).fill('Volter Harness: no runtime is connected.'));
    expect(editor.host.questions).toEqual([]);
  });

  it('that fail are told by the editor and noted in the log', async () => {
    const { editor, run } = lonelyEditor();
    editor.onCommand('workbench.action.chat.open', () => {
      throw new Error('There is no Chat view here.');
    });
    await expect(run('openChat')).rejects.toThrow('There is no Chat view here.');
    expect(editor.host.channels[0]?.lines).toContain('error: openChat: There is no Chat view here.');
  });
});

describe('Stop the Turn', () => {
  it('[defect P20] stops what runs in the conversation in focus, and that alone', async () => {
    const attached = await AttachedEditor.open();
    const first = attached.send(COUNTING);
    await first.stream.until(({ text }) => text.includes('x003'));
    await second(attached);
    const other = attached.send(script({ repeat: { n: 30, text: 'y', pad: 3 }, delay: 10 }));
    await other.stream.until(({ text }) => text.includes('y003'));
    await attached.run('stop');
    await other.result;
    expect(other.stream.text).toContain('*Interrupted\\.*');
    expect(attached.api.connections.map(({ turn }) => turn)).toEqual(['running', 'idle']);
    first.stop();
    await first.result;
  });

  it('twice asks once; with a request that waits it denies that', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send(script({ text: 'Look.', calls: [bash('printf seen')] }));
    await turn.stream.until(({ buttons }) => buttons.length === 3);
    await Promise.all([attached.run('stop'), attached.run('stop')]);
    await turn.result;
    expect(turn.stream.text).toContain('Denied\\, because the turn was stopped');
  });

  it('where nothing runs says so', async () => {
    const attached = await AttachedEditor.open();
    await attached.run('stop');
    expect(attached.narrated).toEqual(['Volter Harness: nothing runs.']);
  });
});

describe('Disconnect…', () => {
  it('with one runtime ends that at once, and the runtime goes on', async () => {
    const attached = await AttachedEditor.open();
    await attached.run('disconnect');
    expect([idsOf(attached), attached.editor.host.questions]).toEqual([[], []]);
    expect(attached.narrated).toEqual(['Volter Harness: disconnected.']);
    await attached.api.connect({ baseUrl: attached.runtime.url, token: attached.runtime.mint('c-2'), clientId: 'c-2' });
    await until(() => attached.api.connections[0]?.phase === 'attached');
  });

  it('forgets the handover: the next window does not come back to it', async () => {
    const attached = await AttachedEditor.open();
    await attached.run('disconnect');
    expect(attached.editor.context.globalState.keys()).toEqual([]);
  });

  it('with several asks which, and ends that one', async () => {
    const attached = await AttachedEditor.open();
    const { id } = await second(attached);
    attached.editor.pick('Volter Harness · another/model');
    await attached.run('disconnect');
    expect(idsOf(attached)).toEqual(['environment']);
    expect(picker(attached.editor).items).toMatchObject([
      { description: attached.runtime.url, detail: 'Connected' },
      { id, label: 'Volter Harness · another/model' },
    ]);
  });

  it('that is left by Escape ends nothing', async () => {
    const attached = await AttachedEditor.open();
    const { id } = await second(attached);
    attached.editor.escape();
    await attached.run('disconnect');
    expect([idsOf(attached), attached.narrated]).toEqual([['environment', id], []]);
  });
});

describe('Show Status', () => {
  it('without a runtime offers to connect', async () => {
    const { editor, run } = lonelyEditor();
    editor.escape();
    await run('showStatus');
    expect(picker(editor).items.map(({ label }) => label)).toEqual([
      '$(comment-discussion) Open Chat',
      '$(bell) Answer what waits…',
      '$(plug) Connect to a runtime…',
      '$(output) Show output',
    ]);
  });

  it('offers what can be done with the runtimes there are', async () => {
    const attached = await AttachedEditor.open();
    await second(attached);
    attached.editor.escape();
    await attached.run('showStatus');
    expect(labelsOf(attached)).toEqual([
      '$(comment-discussion) Open Chat',
      '$(bell) Answer what waits…',
      '$(arrow-swap) Talk to Volter Harness · scripted/model',
      '$(refresh) Connect again',
      '$(plug) Connect to a runtime…',
      '$(debug-disconnect) Disconnect…',
      '$(output) Show output',
    ]);
  });

  it('takes a person to the conversation of another runtime', async () => {
    const attached = await AttachedEditor.open();
    const { runtime } = await second(attached);
    attached.editor.pick('$(arrow-swap) Talk to Volter Harness · scripted/model');
    await attached.run('showStatus');
    await attached.send('to the first').result;
    expect(JSON.stringify(attached.runtime.history())).toContain('to the first');
    expect(JSON.stringify(runtime.history())).not.toContain('to the first');
  });

  it('answers what waits', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send(script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' }));
    await turn.stream.until(({ buttons }) => buttons.length === 3);
    attached.editor.pick('$(bell) Answer what waits…');
    attached.editor.pick('Deny');
    await attached.run('showStatus');
    await turn.result;
    expect(turn.stream.text).toContain('*Denied\\.*');
  });

  it('connects again to one that is lost, where that is back', async () => {
    const attached = await AttachedEditor.open();
    attached.editor.pick('$(refresh) Connect again');
    const opened = attached.editor.host.channels[0]?.lines.length ?? 0;
    await attached.run('showStatus');
    await until(() => attached.api.connections[0]?.phase === 'attached');
    expect(attached.editor.host.channels[0]?.lines.slice(opened)).toEqual([
      `info: Connecting to ${attached.runtime.url} as editor-1 (environment).`,
    ]);
    expect((await attached.send('hello').result)?.errorDetails).toBeUndefined();
  });

  it('connects, disconnects, opens the chat and the output', async () => {
    const attached = await AttachedEditor.open();
    const { host } = attached.editor;
    attached.editor.pick('$(comment-discussion) Open Chat');
    await attached.run('showStatus');
    expect(host.executed.at(-1)?.command).toBe('workbench.action.chat.open');
    attached.editor.pick('$(output) Show output');
    await attached.run('showStatus');
    expect(host.channels[0]?.shown).toHaveLength(1);
    attached.editor.pick('$(plug) Connect to a runtime…');
    attached.editor.escape();
    await attached.run('showStatus');
    expect(host.questions.at(-1)?.title).toBe('Connect to a runtime (1/3)');
    expect(idsOf(attached)).toEqual(['environment']);
    attached.editor.pick('$(debug-disconnect) Disconnect…');
    await attached.run('showStatus');
    expect(idsOf(attached)).toEqual([]);
  });
});

describe('the plain ones', () => {
  it('Show Output shows the log, without anything heavier', () => {
    const { editor, run } = lonelyEditor();
    void run('showOutput');
    expect(editor.host.channels.map(({ name, shown }) => [name, shown.length])).toEqual([['Volter Harness', 1]]);
  });

  it('Open Chat opens the Chat view', async () => {
    const { editor, run } = lonelyEditor();
    await run('openChat');
    expect(editor.host.executed.at(-1)?.command).toBe('workbench.action.chat.open');
  });
});

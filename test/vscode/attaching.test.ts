import { chmodSync } from 'node:fs';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedRuntime } from '../../src/runtime/embedded.js';
import { activate } from '../../src/vscode/extension.js';
import { FakeEditor, type FakeEditorOptions } from '../doubles/editor.js';
import { AttachedEditor, clearHandover, handOver, until } from './attachedEditor.js';

afterEach(clearHandover);

async function runtime() {
  const started = await startEmbeddedRuntime();
  onTestFinished(() => started.kill());
  return started;
}

function editorWith(options: FakeEditorOptions = {}) {
  const editor = new FakeEditor(options);
  onTestFinished(async () => {
    for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
  });
  return editor;
}

const phaseOf = (api: ReturnType<typeof activate>) => api.connections[0]?.phase;

describe('the environment’s handover', () => {
  it('is taken, the file stays, and a window without it finds the runtime again', async () => {
    const attached = await AttachedEditor.open();
    expect(attached.api.connections).toMatchObject([
      { id: 'environment', phase: 'attached', label: 'Volter Harness · scripted/model', clientId: 'editor-1' },
    ]);
    clearHandover();
    const again = activate(await attached.editor.reload());
    await until(() => phaseOf(again) === 'attached');
    expect(JSON.stringify(attached.editor.context.globalState.keys())).toContain('environment');
  });

  it('that is half says what is missing, once, to a person', async () => {
    process.env['SUPERCODE_FRONTEND_URL'] = 'http://127.0.0.1:1';
    const editor = editorWith();
    const api = activate(editor.context);
    await until(() => editor.host.messages.length > 0);
    expect(editor.host.messages.map(({ text }) => text)).toEqual([
      expect.stringContaining('SUPERCODE_FRONTEND_CREDENTIAL_FILE'),
    ]);
    expect(api.connections).toEqual([]);
  });

  it('[defect F88] that says why there is no runtime is repeated where a prompt finds none', async () => {
    process.env['SUPERCODE_FRONTEND_UNAVAILABLE'] = 'The licence has run out.';
    const editor = editorWith();
    activate(editor.context);
    const result = await editor.send('supercode.chat', 'hello').result;
    expect(result?.errorDetails?.message).toBe('No runtime is connected: The licence has run out\\.');
  });

  it('[defect F93] with a credential that others may read is refused in words, and nothing is sent', async () => {
    const started = await runtime();
    handOver(started);
    chmodSync(process.env['SUPERCODE_FRONTEND_CREDENTIAL_FILE'] ?? '', 0o644);
    const editor = editorWith();
    const api = activate(editor.context);
    await until(() => phaseOf(api) === 'refused');
    const result = await editor.send('supercode.chat', 'hello').result;
    expect(result?.errorDetails?.message).toContain('credential file');
    expect(result?.errorDetails?.message).toContain('The prompt was not sent.');
  });
});

describe('connect()', () => {
  it('takes a runtime from another extension; its id is the same for the same runtime and client', async () => {
    const started = await runtime();
    const editor = editorWith();
    const api = activate(editor.context);
    let changes = 0;
    onTestFinished(() => {
      changed.dispose();
    });
    const changed = api.onDidChangeConnections(() => (changes += 1));
    const options = {
      baseUrl: `${started.url}/`,
      token: started.mint('c-1'),
      clientId: 'c-1',
      permissions: ['observe'] as const,
    };
    const id = await api.connect(options);
    await until(() => phaseOf(api) === 'attached');
    expect(changes).toBeGreaterThan(0);
    expect(await api.connect(options)).toBe(id);
    expect(api.connections).toHaveLength(1);
    await api.disconnect(id ?? '');
    expect(api.connections).toEqual([]);
  });

  it.each([
    ['http://example.com:80', 'token', 'me', 'does not name this machine'],
    ['https://127.0.0.1:1', 'token', 'me', 'is not plain http'],
    ['http://127.0.0.1:1', 'two words', 'me', 'one word'],
    ['http://127.0.0.1:1', 'token\n', 'me', 'one word'],
    ['http://127.0.0.1:1', 'token', 'a b', 'client id'],
  ])('refuses %s with token %j and client %j: %s', async (baseUrl, token, clientId, why) => {
    const api = activate(editorWith().context);
    await expect(api.connect({ baseUrl, token, clientId })).rejects.toThrow(why);
    expect(api.connections).toEqual([]);
  });

  it('with a minted token under another client id says that it belongs to one', async () => {
    const started = await runtime();
    const editor = editorWith();
    const api = activate(editor.context);
    await api.connect({ baseUrl: started.url, token: started.mint('c-1'), clientId: 'somebody-else' });
    await until(() => phaseOf(api) === 'refused');
    const result = await editor.send('supercode.chat', 'hello').result;
    expect(result?.errorDetails?.message).toContain('works only with the client id that it was minted for');
  });

  it('never puts a token into the log, a memento or what it tells others', async () => {
    const started = await runtime();
    const editor = editorWith();
    const api = activate(editor.context);
    const token = started.mint('c-1');
    await api.connect({ baseUrl: started.url, token, clientId: 'c-1' });
    await until(() => phaseOf(api) === 'attached');
    const { globalState, workspaceState } = editor.context;
    const kept = [globalState, workspaceState].map((memento) => memento.keys().map((key) => memento.get(key)));
    const lines = editor.host.channels.map(({ lines: said }) => said);
    expect(JSON.stringify([kept, lines, api.connections])).not.toContain(token);
  });

  it('without options asks for address, client and token, and keeps only the token out of the settings', async () => {
    const started = await runtime();
    const editor = editorWith();
    const api = activate(editor.context);
    const token = started.mint('c-1');
    editor.type(started.url);
    editor.type('c-1');
    editor.type(token);
    await api.connect();
    await until(() => phaseOf(api) === 'attached');
    expect([...editor.host.settings.entries()]).toEqual(
      expect.arrayContaining([
        ['supercode.frontend.baseUrl', started.url],
        ['supercode.frontend.clientId', 'c-1'],
      ]),
    );
    expect(JSON.stringify([...editor.host.settings])).not.toContain(token);
    expect(await editor.context.secrets.get('supercode.frontend.token')).toBe(token);
  });

  it('that is left at any step changes nothing', async () => {
    const editor = editorWith();
    const api = activate(editor.context);
    editor.type('http://127.0.0.1:1');
    editor.escape();
    await api.connect();
    expect(api.connections).toEqual([]);
    expect([...editor.host.settings]).toEqual([]);
  });
});

describe('the settings', () => {
  const asked = async (secrets: (editor: FakeEditor) => void) => {
    const started = await runtime();
    const editor = editorWith();
    secrets(editor);
    const api = activate(editor.context);
    editor.type(started.ownerToken);
    await editor.host.commands.get('supercode.frontend.setRuntimeToken')?.();
    editor.changeSetting('supercode.frontend.baseUrl', started.url);
    await until(() => phaseOf(api) === 'attached');
    return { editor, api, started };
  };

  it('name a runtime; the token is asked for once and kept in the secret storage', async () => {
    const { editor, started } = await asked(() => undefined);
    const again = activate(await editor.reload());
    await until(() => phaseOf(again) === 'attached');
    expect(await editor.context.secrets.get('supercode.frontend.token')).toBe(started.ownerToken);
    expect(again.connections[0]?.clientId).toMatch(/^vscode-[\w-]+$/);
  });

  it.each(['throws', 'forgets', 'hangs'] as const)(
    'work until the window closes where the secret storage %s',
    async (mode) => {
      const { editor } = await asked(({ secrets }) => {
        secrets.mode = mode;
      });
      expect(editor.host.messages.map(({ text }) => text)).toEqual([
        expect.stringContaining('works until this window closes'),
      ]);
    },
  );

  it('that are emptied end the connection', async () => {
    const { editor, api } = await asked(() => undefined);
    editor.changeSetting('supercode.frontend.baseUrl', '');
    await until(() => api.connections.length === 0);
  });
});

describe('two windows on one handover', () => {
  it('are one client: neither displaces the other, and one that closes leaves control to the other', async () => {
    const first = await AttachedEditor.open({ runtime: { leaseTtlMs: 900 } });
    const editor = editorWith();
    const second = activate(editor.context);
    await until(() => phaseOf(second) === 'attached');
    await first.send('from the first').result;
    expect((await editor.send('supercode.chat', 'from the second').result)?.errorDetails).toBeUndefined();
    for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
    const turn = first.send('once more from the first');
    expect((await turn.result)?.errorDetails).toBeUndefined();
    expect(first.runtime.history().filter(({ role }) => role === 'user')).toHaveLength(3);
  });
});

describe('an editor', () => {
  it('that grants nothing says so in one line of the log, and has the plain participant', () => {
    const editor = editorWith();
    activate(editor.context);
    expect([...editor.host.participants.keys()]).toEqual(['supercode.chat']);
    expect(editor.host.contextKeys.get('supercodeChatDefaultParticipant')).toBe(false);
    const lines = JSON.stringify(editor.host.channels.map(({ lines: said }) => said));
    expect(lines.match(/does not grant/g)).toHaveLength(1);
  });

  it('shows a model that names who answers, and takes no request itself', async () => {
    const attached = await AttachedEditor.open();
    const provider = attached.editor.host.modelProviders.get('supercode');
    const never = undefined as never;
    const models = await provider?.provideLanguageModelChatInformation({ silent: true }, never);
    expect(models).toMatchObject([{ id: 'runtime', name: 'Volter Harness · scripted/model' }]);
    const [model] = models ?? [];
    if (!model) throw new Error('no model');
    await expect(provider?.provideLanguageModelChatResponse(model, [], never, never, never)).rejects.toThrow(
      'takes no requests of its own',
    );
  });
});

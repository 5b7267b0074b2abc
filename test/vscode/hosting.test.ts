import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { activate } from '../../src/vscode/extension.js';
import { FakeEditor } from '../doubles/editor.js';
import { HostDouble } from '../doubles/host.js';
import { PROPOSALS } from '../../src/vscode/grants.js';
import { clearHandover, until } from './attachedEditor.js';
import { contentIn, resource, toldIn } from './conversations.js';

afterEach(clearHandover);

const HEARD = 'supercode.frontend.heard';

async function startedBy(
  host: HostDouble,
  more: Readonly<Record<string, string>> = host.environment,
  editor = new FakeEditor({ proposals: [], folders: [host.cwd] }),
) {
  Object.assign(process.env, more);
  const api = activate(editor.context);
  onTestFinished(async () => {
    for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
    await host.close();
  });
  await until(() => api.connections.some(({ phase }) => phase === 'attached') || editor.host.messages.length > 0);
  return { editor, api };
}

describe('a host that started the editor', () => {
  it('hands over its conversation under its own id, in place of what the environment says of a runtime', async () => {
    const host = await HostDouble.start();
    const handedOver = {
      SUPERCODE_FRONTEND_URL: 'http://127.0.0.1:1',
      SUPERCODE_FRONTEND_CLIENT_ID: 'editor-1',
      SUPERCODE_FRONTEND_CREDENTIAL_FILE: '/nowhere',
      SUPERCODE_FRONTEND_PERMISSIONS: 'observe',
    };
    const { editor, api } = await startedBy(host, { ...host.environment, ...handedOver });
    expect(api.connections.map(({ id, phase }) => [id, phase])).toEqual([[host.active, 'attached']]);
    const turn = editor.send('supercode.chat', 'hello');
    expect((await turn.result)?.errorDetails).toBeUndefined();
    await until(() => host.row().identity !== null);
    expect(host.count('select')).toBe(0);
  });

  it('keeps its conversations to itself: none is taken over or ended by somebody else', async () => {
    const host = await HostDouble.start();
    const { editor, api } = await startedBy(host);
    const run = (name: string, argument: unknown) =>
      Promise.resolve(editor.host.commands.get(`supercode.frontend.${name}`)?.(argument));
    const id = host.active ?? '';
    const handoff = { baseUrl: 'http://127.0.0.1:1', clientId: 'c', connectionId: id, credentialFile: '/nowhere' };
    await expect(run('connect', handoff)).rejects.toThrow('is managed by the product');
    await expect(run('disconnect', id)).rejects.toThrow('is managed by the product');
    expect(api.connections.map((each) => [each.id, each.phase])).toEqual([[id, 'attached']]);
  });

  it('and restarted the runtime in the middle of a turn: the next window says so', async () => {
    const host = await HostDouble.start();
    const editor = new FakeEditor({ proposals: PROPOSALS, folders: [host.cwd] });
    const first = await startedBy(host, host.environment, editor);
    const id = host.active ?? '';
    await first.editor.send('supercode.chat.default', 'hello').result;
    const { workspaceState } = first.editor.context;
    await until(() => workspaceState.get(HEARD) !== undefined);
    const heard = workspaceState.get<Record<string, object>>(HEARD)?.[id];
    await editor.reload();
    // As a window leaves it that is closed in mid-turn, of a process that has come much further.
    const left = { ...heard, sequence: 1_000, running: { prompt: 'never saved' } };
    await editor.context.workspaceState.update(HEARD, { [id]: left });
    const api = activate(editor.context);
    await until(() => api.connections.some(({ phase }) => phase === 'attached'));
    const told = toldIn(await contentIn(editor, resource(id)));
    expect(told).toContain('> never saved');
    expect(told.join()).toContain('The runtime was restarted');
  });

  it('that left half of what is needed is told of once, and the window does without', async () => {
    const host = await HostDouble.start();
    const { editor, api } = await startedBy(host, { SUPERCODE_FRONTEND_HOST_URL: host.url });
    expect(editor.host.messages.map(({ text }) => text).join()).toContain('SUPERCODE_FRONTEND_HOST_CREDENTIAL_FILE');
    expect([api.connections, host.calls]).toEqual([[], []]);
  });
});

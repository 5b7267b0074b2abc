import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { activate } from '../../src/vscode/extension.js';
import { FakeEditor } from '../doubles/editor.js';
import { HostDouble } from '../doubles/host.js';
import { clearHandover, until } from './attachedEditor.js';

afterEach(clearHandover);

async function startedBy(host: HostDouble, more: Readonly<Record<string, string>> = host.environment) {
  const editor = new FakeEditor({ proposals: [], folders: [host.cwd] });
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

  it('that left half of what is needed is told of once, and the window does without', async () => {
    const host = await HostDouble.start();
    const { editor, api } = await startedBy(host, { SUPERCODE_FRONTEND_HOST_URL: host.url });
    expect(editor.host.messages.map(({ text }) => text).join()).toContain('SUPERCODE_FRONTEND_HOST_CREDENTIAL_FILE');
    expect([api.connections, host.calls]).toEqual([[], []]);
  });
});

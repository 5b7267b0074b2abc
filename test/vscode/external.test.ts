import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedRuntime } from '../../src/runtime/embedded.js';
import type { FrontendStatus } from '../../src/vscode/status.js';
import { Uri } from '../doubles/vscode/uri.js';
import { AttachedEditor, bash, script, until } from './attachedEditor.js';

async function external(connectionId = 'played-back') {
  const runtime = await startEmbeddedRuntime();
  onTestFinished(() => runtime.kill());
  const credentialFile = join(runtime.workspace, 'external.token');
  writeFileSync(credentialFile, runtime.mint('c-9'), { mode: 0o600 });
  const handoff = { baseUrl: runtime.url, clientId: 'c-9', connectionId, credentialFile, label: 'Recording 7' };
  return { runtime, handoff };
}

const call = ({ editor }: AttachedEditor, name: string, ...args: readonly unknown[]) =>
  Promise.resolve(editor.host.commands.get(`supercode.frontend.${name}`)?.(...args));
const statusOf = async (attached: AttachedEditor) => (await call(attached, 'status', true)) as FrontendStatus;
const connectionOf = async (attached: AttachedEditor, id: string) =>
  (await statusOf(attached)).connections?.find((each) => each.id === id);

describe('a runtime from outside', () => {
  it('[defect E66, F95] is connected under the name that it is handed over with, and survives a reload', async () => {
    const attached = await AttachedEditor.open({ granted: true });
    const { handoff } = await external();
    expect(await call(attached, 'connect', handoff)).toBe('played-back');
    await until(() => attached.api.connections.find(({ id }) => id === 'played-back')?.phase === 'attached');
    expect(await connectionOf(attached, 'played-back')).toMatchObject({
      label: 'Recording 7',
      state: 'attached',
      resource: 'supercode://played-back/conversation',
      viewReady: false,
      pendingRequests: [],
    });
    const { activate } = await import('../../src/vscode/extension.js');
    const again = activate(await attached.editor.reload());
    await until(() => again.connections.find(({ id }) => id === 'played-back')?.phase === 'attached');
    expect(again.connections.map(({ id }) => id).sort()).toEqual(['environment', 'played-back']);
  });

  it('and another one at the same moment are both kept', async () => {
    const attached = await AttachedEditor.open();
    const [one, two] = [await external('one'), await external('two')];
    await Promise.all([call(attached, 'connect', one.handoff), call(attached, 'connect', two.handoff)]);
    const { activate } = await import('../../src/vscode/extension.js');
    const again = activate(await attached.editor.reload());
    await until(() => again.connections.length === 3);
    expect(again.connections.map(({ id }) => id).sort()).toEqual(['environment', 'one', 'two']);
  });

  it('is told to be ready once its history was shown, opens on demand, and is forgotten for good', async () => {
    const attached = await AttachedEditor.open({ granted: true });
    const { handoff } = await external();
    await call(attached, 'connect', handoff);
    await until(() => attached.api.connections.every(({ phase }) => phase === 'attached'));
    await call(attached, 'openSession', 'played-back');
    const opened = attached.editor.host.executed.at(-1);
    expect(`${opened?.command} ${String(opened?.args[0])}`).toBe('vscode.open supercode://played-back/conversation');
    const provider = attached.editor.host.sessionContents.get('supercode') as {
      provideChatSessionContent(resource: object): Promise<unknown>;
    };
    await provider.provideChatSessionContent(Uri.parse('supercode://played-back/conversation'));
    expect((await connectionOf(attached, 'played-back'))?.viewReady).toBe(true);
    await call(attached, 'disconnect', 'played-back');
    const { activate } = await import('../../src/vscode/extension.js');
    const again = activate(await attached.editor.reload());
    await until(() => again.connections.some(({ phase }) => phase === 'attached'));
    expect(again.connections.map(({ id }) => id)).toEqual(['environment']);
  });

  it.each([
    [{ connectionId: 'environment' }, 'belongs to a connection of this window'],
    [{ connectionId: 'settings' }, 'belongs to a connection of this window'],
    [{ connectionId: 'Not Good' }, 'lower-case'],
    [{ credentialFile: 'relative/token' }, 'absolute path'],
    [{ credentialFile: '' }, 'lacks credentialFile'],
    [{ baseUrl: 'http://example.com:1' }, 'does not name this machine'],
    [{ permissions: ['everything'] }, 'names "everything"'],
  ])('[defect F95] with %j is refused: %s', async (change, why) => {
    const attached = await AttachedEditor.open();
    const { handoff } = await external();
    await expect(call(attached, 'connect', { ...handoff, ...change })).rejects.toThrow(why);
    expect(attached.api.connections).toHaveLength(1);
  });
});

describe('the menu of a row of the list', () => {
  const row = (connection: string) => ({ resource: Uri.parse(`supercode://${connection}/conversation`), label: 'x' });

  it('disconnects that one, and no other', async () => {
    const attached = await AttachedEditor.open({ granted: true });
    const { handoff } = await external();
    await call(attached, 'connect', handoff);
    await until(() => attached.api.connections.every(({ phase }) => phase === 'attached'));
    await call(attached, 'disconnect', row('played-back'));
    expect(attached.api.connections.map(({ id }) => id)).toEqual(['environment']);
  });

  it('chooses permissions for that one, and no other', async () => {
    const attached = await AttachedEditor.open({ granted: true });
    const { handoff } = await external();
    await call(attached, 'connect', handoff);
    await until(() => attached.api.connections.every(({ phase }) => phase === 'attached'));
    attached.editor.pick('Auto approve');
    await call(attached, 'choosePermissions', row('played-back'));
    const asks = script({ calls: [bash('true')] });
    await call(attached, 'focusSession', 'supercode://played-back/conversation');
    const approved = attached.send(asks);
    await approved.result;
    expect(approved.stream.text).toContain('auto\\-approved');
    await call(attached, 'focusSession', 'supercode://environment/conversation');
    const asked = attached.send(asks);
    await attached.click(asked, 'Deny');
    await asked.result;
    expect(asked.stream.text).not.toContain('auto\\-approved');
  });
});

describe('what a host may ask', () => {
  it('[defect B35, B36] activation makes a conversation the one that is meant and shows nothing; focus is bookkeeping', async () => {
    const attached = await AttachedEditor.open({ granted: true });
    const { handoff } = await external();
    await call(attached, 'connect', handoff);
    const before = attached.editor.host.executed.filter(({ command }) => command !== 'setContext').length;
    await call(attached, 'activateSession', 'supercode://environment/conversation');
    expect((await statusOf(attached)).activeSession).toBe('environment');
    await call(attached, 'focusSession', 'supercode://played-back/conversation');
    expect((await statusOf(attached)).activeSession).toBe('played-back');
    await call(attached, 'focusSession', undefined);
    await call(attached, 'focusSession', 'supercode:/untitled-1');
    expect((await statusOf(attached)).activeSession).toBe('played-back');
    expect(attached.editor.host.executed.filter(({ command }) => command !== 'setContext')).toHaveLength(before);
    await expect(call(attached, 'activateSession', 'supercode://gone/conversation')).rejects.toThrow('no connection');
    // A failed one stands in the way of none.
    await call(attached, 'activateSession', 'supercode://environment/conversation');
  });

  it('stops a turn that waits for an answer, by connection', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send(script({ text: 'Look.', calls: [bash('true')] }));
    await turn.stream.until(({ buttons }) => buttons.length > 0);
    expect(await connectionOf(attached, 'environment')).toMatchObject({ pendingRequests: [1] });
    await call(attached, 'stopTurn', 'environment');
    await turn.result;
    expect(attached.api.connections[0]?.turn).toBe('idle');
    await expect(call(attached, 'stopTurn', 'gone')).rejects.toThrow('no connection');
  });
});

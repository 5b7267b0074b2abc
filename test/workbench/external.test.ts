import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../src/runtime/embedded.js';
import type { FrontendStatus } from '../../src/vscode/status.js';
import { editorChat, openSessions, sendPrompt, textOf, turnEnded } from './page.js';
import { Scene } from './scene.js';

const past = (prompt: string, reply: string) => [
  { role: 'user', content: prompt } as const,
  { role: 'assistant', content: reply } as const,
];

describe('a product that bundles the extension, with a runtime of its own beside the one handed over', () => {
  let scene: Scene;
  let outside: EmbeddedRuntime;
  let folder: string;
  beforeAll(async () => {
    scene = await Scene.open({
      host: 'granted',
      product: { hasCards: false },
      runtime: { sessionId: 'handed-over', history: past('the handed over prompt', 'The handed over reply.') },
    });
    folder = mkdtempSync(join(tmpdir(), 'outside-'));
    outside = await startEmbeddedRuntime({
      workspace: folder,
      sessionId: 'outside',
      history: past('the outside prompt', 'The outside reply.'),
    });
    writeFileSync(join(folder, 'token'), outside.mint('c-9'), { mode: 0o600 });
  });
  afterAll(async () => {
    await scene.close();
    await outside.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (name: string, ...args: readonly unknown[]) => scene.run(`supercode.frontend.${name}`, ...args);
  const handoff = () => ({
    baseUrl: outside.url,
    clientId: 'c-9',
    connectionId: 'played-back',
    credentialFile: join(folder, 'token'),
    label: 'Recording 7',
  });
  const status = async () => (await run('status', true)) as FrontendStatus;
  const connection = async (id: string) => (await status()).connections?.find((each) => each.id === id);
  const request = (prompt: string) =>
    editorChat(scene.page).locator('.monaco-list-row.request').getByText(prompt, { exact: true });
  const saidTo = (runtime: EmbeddedRuntime) =>
    runtime
      .history()
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content);

  const failed = (name: string) => {
    onTestFailed(async () => {
      await scene.shot(`external-failed-${name}`);
      console.error(JSON.stringify(await status().catch(String)));
    });
  };

  it('hands it over by name; it opens with its history, and is ready once that is shown', async () => {
    failed('opens');
    await request('the handed over prompt').waitFor();
    expect(await run('connect', handoff())).toBe('played-back');
    await expect.poll(async () => (await connection('played-back'))?.state).toBe('attached');
    await run('openSession', 'played-back');
    await request('the outside prompt').waitFor();
    await editorChat(scene.page).getByText('The outside reply.').waitFor();
    expect(await connection('played-back')).toMatchObject({
      label: 'Recording 7',
      resource: 'supercode://played-back/conversation',
      sessionId: 'outside',
      pendingRequests: [],
      viewReady: true,
    });
    await scene.shot('external-opened');
  });

  it('may use no name of a connection that is managed here', async () => {
    await expect(run('connect', { ...handoff(), connectionId: 'environment' })).rejects.toThrow('belongs to');
    expect((await status()).connections).toHaveLength(2);
  });

  it('[defect B34] keeps its conversation apart from the other, in the middle of a turn, and back', async () => {
    failed('switch');
    const slow = await sendPrompt(editorChat(scene.page), '/demo slow');
    await slow.getByText('item 003').waitFor();
    await run('openSession', 'environment');
    await request('the handed over prompt').waitFor();
    const response = await sendPrompt(editorChat(scene.page), 'said to the one handed over');
    await turnEnded(response);
    expect(await textOf(response)).toContain('said to the one handed over');
    expect(await textOf(editorChat(scene.page))).not.toContain('item 0');
    await scene.shot('external-other');
    await run('openSession', 'played-back');
    await request('/demo slow').waitFor();
    const back = editorChat(scene.page).locator('.monaco-list-row.response').last();
    const lines = async () => (await textOf(back)).match(/item \d{3}/g) ?? [];
    const seen = (await lines()).length;
    await expect.poll(async () => (await lines()).length).toBeGreaterThan(seen);
    // Nothing was lost, and nothing is there twice.
    const all = await lines();
    expect(all).toEqual(all.map((_, at) => `item ${String(at).padStart(3, '0')}`));
    expect(saidTo(scene.runtime)).toContain('said to the one handed over');
    expect(saidTo(outside)).not.toContain('said to the one handed over');
  });

  it('stops the turn of one conversation by name, and activation shows nothing', async () => {
    failed('stop');
    expect((await status()).connections?.map(({ id }) => id).sort()).toEqual(['environment', 'played-back']);
    await run('activateSession', 'supercode://environment/conversation');
    expect((await status()).activeSession).toBe('environment');
    await request('/demo slow').waitFor();
    await run('stopTurn', 'played-back');
    await turnEnded(editorChat(scene.page).locator('.monaco-list-row.response').last());
    await run('activateSession', 'supercode://played-back/conversation');
  });

  it('finds it under the same name after a reload, and goes on with it', async () => {
    failed('reload');
    await scene.page.waitForTimeout(6_000);
    await scene.reload();
    await request('/demo slow').waitFor();
    await expect.poll(async () => (await connection('played-back'))?.viewReady).toBe(true);
    const response = await sendPrompt(editorChat(scene.page), 'said after the reload');
    await turnEnded(response);
    expect(saidTo(outside)).toContain('said after the reload');
    const rows = await openSessions(scene.page);
    await rows.filter({ hasText: 'the outside prompt' }).first().waitFor();
    await rows.filter({ hasText: 'the handed over prompt' }).first().waitFor();
    await scene.shot('external-reloaded');
    await rows.filter({ hasText: 'the outside prompt' }).first().click({ button: 'right' });
    const menu = scene.page.locator('.monaco-menu');
    await menu.getByText('Choose Permissions…').waitFor();
    await menu.getByText('Disconnect…').waitFor();
    await scene.shot('external-menu');
    await scene.page.keyboard.press('Escape');
  });

  it('has it forgotten for good', async () => {
    failed('forgotten');
    await run('disconnect', 'played-back');
    await scene.page.waitForTimeout(1_000);
    await scene.reload();
    await expect.poll(async () => (await connection('environment'))?.state).toBe('attached');
    expect((await status()).connections?.map(({ id }) => id)).toEqual(['environment']);
    // Its tab is still there, and says what became of it.
    await editorChat(scene.page).page().getByText('is not connected').first().waitFor();
    await scene.shot('external-forgotten');
  });
});

describe('a product that answers approvals inside the turn', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open({
      host: 'granted',
      product: { hasCards: true },
      runtime: { sessionId: 'with-cards', history: past('an older prompt', 'An older reply.') },
    });
    await editorChat(scene.page).locator('.monaco-list-row.request').getByText('an older prompt').waitFor();
  });
  afterAll(async () => {
    await scene.close();
  });

  const cards = (response: Locator) => response.locator('.chat-confirmation-widget2, .chat-confirmation-widget');

  const waiting = async () =>
    ((await scene.run('supercode.frontend.status', true)) as FrontendStatus).connections?.[0]?.pendingRequests;

  it('is given its card in the place of buttons, and the answer of the card goes on with the turn', async () => {
    onTestFailed(() => scene.shot('card-failed'));
    const response = await sendPrompt(editorChat(scene.page), '/demo tour');
    await cards(response).first().waitFor();
    await scene.shot('card');
    expect(await response.locator('.chat-command-button').count()).toBe(0);
    const answer = (requestId: number, decision: string, label: string) =>
      scene.run('supercode.frontend.respondInTurnApproval', {
        connectionId: 'environment',
        requestId,
        label,
        response: { kind: 'approval', request_id: requestId, decision },
      });
    expect(await answer(1, 'allow', 'Allow')).toEqual({ status: 'responded' });
    await response.getByText('Next, an edit.').waitFor();
    await expect.poll(waiting).toEqual([2]);
    expect(await answer(1, 'deny', 'Deny')).toEqual({ status: 'resolved' });
    expect(await answer(2, 'deny', 'Deny')).toEqual({ status: 'responded' });
    await turnEnded(response);
    expect(await textOf(response)).toMatch(/Allowed\.[\s\S]*Denied\./);
    expect(
      scene.runtime
        .history()
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content),
    ).toEqual(['an older prompt', '/demo tour']);
  });

  it('leaves questions to buttons and the editor’s own form', async () => {
    onTestFailed(() => scene.shot('card-failed-question'));
    const response = await sendPrompt(editorChat(scene.page), '/demo question');
    await cards(response).first().waitFor();
    await scene.run('supercode.frontend.allow');
    await expect.poll(waiting).toEqual([4]);
    await editorChat(scene.page).locator('.chat-question-list-item').first().waitFor();
    await scene.run('supercode.frontend.deny');
    // Its end may be out of sight: the list stays where the card took it.
    await expect.poll(() => scene.isBusy()).toBe(false);
    expect(JSON.stringify(scene.runtime.history().at(-2)?.content)).toContain('declined to answer');
  });
});

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import type { ChatMessage } from '../../src/runtime/wire.js';
import { Wire } from '../conformance/wire.js';
import { editorChat, openSessions, press, sendPrompt, stopButton, textOf, turnEnded } from './page.js';
import { Scene } from './scene.js';

const HISTORY: readonly ChatMessage[] = [
  { role: 'system', content: 'You are a scripted agent.' },
  { role: 'user', content: 'please fix the flaky test' },
  { role: 'assistant', content: 'I fixed the **flaky** test.' },
];

describe('the sessions of an editor that grants them', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open({ host: 'granted', runtime: { sessionId: 'session-with-a-past', history: HISTORY } });
  });
  afterAll(async () => {
    await scene.close();
  });

  it('a runtime that arrives with a history has its conversation opened, and it goes on there', async () => {
    const chat = editorChat(scene.page);
    await chat.locator('.monaco-list-row.request').getByText('please fix the flaky test').waitFor();
    await chat.locator('.monaco-list-row.response').getByText('test.').first().waitFor();
    expect(await textOf(chat)).not.toContain('scripted agent.');
    const response = await sendPrompt(chat, 'and now?');
    await turnEnded(response);
    expect(await textOf(response)).toContain('and now?');
    await scene.shot('session-arrived');
  });

  it('the list names it by what was asked first, and says when it waits', async () => {
    const rows = await openSessions(scene.page);
    const row = rows.filter({ hasText: 'please fix the flaky test' });
    await row.first().waitFor();
    onTestFailed(() => scene.shot('session-failed'));
    const response = await sendPrompt(editorChat(scene.page), '/demo tour');
    await response.getByRole('button', { name: 'Allow', exact: true }).first().waitFor();
    await row.filter({ hasText: 'Waiting for your answer…' }).first().waitFor();
    // Who answers is the session's affair, and no mention in the composer.
    expect(await textOf(editorChat(scene.page).locator('.interactive-input-editor'))).not.toContain('@');
    await scene.shot('session-waits');
    await press(response.getByRole('button', { name: 'Deny', exact: true }).first());
    await press(response.getByRole('button', { name: 'Deny', exact: true }).nth(1));
    await turnEnded(response);
  });

  it('a reload in the middle of a turn goes on drawing it, asks once more what waits, and Stop stops it', async () => {
    const before = await sendPrompt(editorChat(scene.page), '/demo slow');
    await before.getByText('item 003').waitFor();
    await scene.page.waitForTimeout(6_000);
    await scene.reload();
    const chat = editorChat(scene.page);
    const response = chat.locator('.monaco-list-row.response').last();
    await response.getByText('item 003').waitFor();
    await chat.locator('.monaco-list-row.request').getByText('/demo slow').last().waitFor();
    onTestFailed(() => scene.shot('session-failed-reload'));
    const seen = (await textOf(response)).length;
    await expect.poll(async () => (await textOf(response)).length, { timeout: 10_000 }).toBeGreaterThan(seen);
    expect((await textOf(response)).match(/item 003/g)).toHaveLength(1);
    await scene.shot('session-reloaded');
    await stopButton(chat).click();
    await turnEnded(response);
    await expect.poll(() => scene.isBusy(), { timeout: 10_000 }).toBe(false);
    const next = await sendPrompt(chat, 'still there?');
    await turnEnded(next);
    expect(await textOf(next)).toContain('still there?');
  });

  const approvalOver = async () => {
    const before = await sendPrompt(editorChat(scene.page), '/demo tour');
    await before.getByRole('button', { name: 'Allow', exact: true }).first().waitFor();
    await scene.page.waitForTimeout(6_000);
    await scene.reload();
    return editorChat(scene.page).locator('.monaco-list-row.response').last();
  };

  it('a request that waited over a reload with nobody listening is shown as over, and not as answerable', async () => {
    onTestFailed(() => scene.shot('session-failed-denied'));
    const response = await approvalOver();
    await response.getByText('The turn ended before this request was answered.').first().waitFor();
    const chat = editorChat(scene.page);
    expect(await chat.getByRole('button', { name: 'Allow', exact: true }).count()).toBe(0);
    await scene.shot('session-denied');
  });

  it('one that another client kept alive is asked once more after the reload, and answered', async () => {
    onTestFailed(() => scene.shot('session-failed-kept'));
    const { url } = scene.runtime;
    const observer = new Wire(url, { token: scene.runtime.mint('observer-1'), clientId: 'observer-1' });
    const stream = await observer.listen();
    const response = await approvalOver();
    const allow = response.getByRole('button', { name: 'Allow', exact: true });
    await allow.first().waitFor();
    expect(await allow.count()).toBe(1);
    await scene.shot('session-kept');
    await press(allow.first());
    await response.getByText('Next, an edit.').waitFor();
    await press(response.getByRole('button', { name: 'Deny', exact: true }).nth(1));
    await turnEnded(response);
    expect(await textOf(response)).toMatch(/Allowed\.[\s\S]*Denied\./);
    await stream.close();
  });
});

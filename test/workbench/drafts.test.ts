import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../src/runtime/embedded.js';
import { editorChat, sendPrompt, textOf, turnEnded, typePrompt } from './page.js';
import { Scene } from './scene.js';

describe('what a person has written and not sent', () => {
  let scene: Scene;
  let outside: EmbeddedRuntime;
  let folder: string;
  beforeAll(async () => {
    const history = (prompt: string) => [
      { role: 'user' as const, content: prompt },
      { role: 'assistant' as const, content: 'Yes.' },
    ];
    scene = await Scene.open({
      host: 'granted',
      product: { hasCards: false },
      runtime: { sessionId: 'one', history: history('prompt of one') },
    });
    folder = mkdtempSync(join(tmpdir(), 'outside-'));
    outside = await startEmbeddedRuntime({ workspace: folder, sessionId: 'two', history: history('prompt of two') });
    const credentialFile = join(folder, 'token');
    writeFileSync(credentialFile, outside.mint('c-9'), { mode: 0o600 });
    const handoff = { baseUrl: outside.url, clientId: 'c-9', connectionId: 'two', credentialFile };
    await scene.run('supercode.frontend.connect', handoff);
    // One that arrives with a history opens by itself.
    await editorChat(scene.page).locator('.monaco-list-row.request').getByText('prompt of two').waitFor();
  });
  afterAll(async () => {
    await scene.close();
    await outside.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (id: string, prompt: string) => {
    await scene.run('supercode.frontend.openSession', id);
    await editorChat(scene.page).locator('.monaco-list-row.request').getByText(prompt, { exact: true }).waitFor();
  };
  const one = () => open('environment', 'prompt of one');
  const two = () => open('two', 'prompt of two');
  const draft = async () => {
    const lines = editorChat(scene.page).locator('.interactive-input-editor .view-lines');
    return (await textOf(lines)).trim();
  };

  it('stays with its conversation, through another one and a reload', async () => {
    onTestFailed(() => scene.shot('drafts-failed'));
    await one();
    await typePrompt(editorChat(scene.page), 'a draft for one');
    await two();
    expect(await draft()).toBe('');
    await typePrompt(editorChat(scene.page), 'a draft for two');
    await one();
    await expect.poll(draft).toBe('a draft for one');
    await two();
    await expect.poll(draft).toBe('a draft for two');
    await scene.page.waitForTimeout(6_000);
    await scene.reload();
    await two();
    await expect.poll(draft).toBe('a draft for two');
    await one();
    await expect.poll(draft).toBe('a draft for one');
  });

  it('[defect A18] is gone once it was sent, also after a reload', async () => {
    onTestFailed(() => scene.shot('drafts-failed-sent'));
    await one();
    const response = await sendPrompt(editorChat(scene.page), 'sent from one');
    await turnEnded(response);
    expect(await draft()).toBe('');
    await scene.page.waitForTimeout(6_000);
    await scene.reload();
    await one();
    expect(await draft()).toBe('');
    await two();
    await expect.poll(draft).toBe('a draft for two');
    await scene.shot('drafts');
  });
});

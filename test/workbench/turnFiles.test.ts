import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { press, runCommand, sendPrompt, textOf, turnEnded } from './page.js';
import { Scene } from './scene.js';

describe.each(['stock', 'granted'] as const)('a turn after the fact, in the %s editor', (host) => {
  let scene: Scene;
  let folder: string;
  beforeAll(async () => {
    scene = await Scene.open({ host });
    folder = mkdtempSync(join(tmpdir(), 'saved-turn-'));
  });
  afterAll(async () => {
    await scene.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const document = () => scene.page.locator('.part.editor .editor-instance:visible .view-lines');

  it('has what it changed shown as a patch, from the end of its response', async () => {
    onTestFailed(() => scene.shot('turn-failed-review'));
    const response = await sendPrompt(scene.chat, `${scene.at}/demo tour`);
    const allow = response.getByRole('button', { name: 'Allow', exact: true });
    await press(allow.first());
    await response.getByText('Next, an edit.').waitFor();
    await press(allow.nth(1));
    await turnEnded(response);
    await press(response.getByRole('button', { name: 'Review changes' }));
    await document().getByText('+Hello from your editor!').first().waitFor();
    await scene.shot('turn-review');
    expect((await textOf(document())).replaceAll('\u00a0', ' ')).toContain('supercode-demo.md');
  });

  it('is saved as a log and as a report, without its secrets', async () => {
    onTestFailed(() => scene.shot('turn-failed-save'));
    const secret = `ghp_${'a1B2c3D4'.repeat(5)}`;
    await turnEnded(await sendPrompt(scene.chat, `${scene.at}keep ${secret} to yourself`));
    await runCommand(scene.page, 'Volter Harness: Save This Turn…');
    await scene.page.waitForTimeout(500);
    await scene.page.keyboard.press('Enter');
    await scene.page.waitForTimeout(1_000);
    await scene.shot('turn-save-dialog');
    const turns = scene.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'to yourself' });
    if ((await turns.count()) > 0) await turns.first().click();
    await scene.page.waitForTimeout(1_000);
    const input = scene.page.locator('.quick-input-widget input').first();
    await input.fill(join(folder, 'report.md'));
    await scene.shot('turn-save-path');
    await scene.page.keyboard.press('Enter');
    await expect.poll(() => readdirSync(folder).sort(), { timeout: 10_000 }).toEqual(['report.jsonl', 'report.md']);
    await document().getByText('redacted').first().waitFor();
    await scene.shot('turn-saved');
    const saved = ['report.jsonl', 'report.md'].map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    expect(saved).toContain('to yourself');
    for (const hidden of [secret, scene.runtime.workspace, ...scene.tokens]) expect(saved).not.toContain(hidden);
  });
});

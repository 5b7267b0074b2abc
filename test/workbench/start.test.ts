import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { onTerminal, plain } from '../cli/bins.js';
import { openPage, press, sendPrompt, textOf, turnEnded, waitForModel } from './page.js';
import { takeShot } from './scene.js';

const START = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));

it('npm start without VS Code: the workbench at the printed address, the Chat view open, nothing left behind', async () => {
  // Short: sockets are made in there, whose paths have a limit.
  const temporary = mkdtempSync(join(tmpdir(), 's-'));
  onTestFinished(() => {
    rmSync(temporary, { recursive: true, force: true });
  });
  const started = performance.now();
  const { child, wrote, ended } = onTerminal(START, [], {
    TMPDIR: temporary,
    // As in a terminal of a remote window, whose `code` is of no use here; and no browser shall open by itself.
    VSCODE_IPC_HOOK_CLI: '/nowhere',
    DISPLAY: '',
    WAYLAND_DISPLAY: '',
    BROWSER: '',
  });
  // A terminal that is gone ends what runs on it.
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (text: string) => (printed += text));
  await wrote('Ctrl-C here ends all of it.');
  const seconds = (performance.now() - started) / 1000;
  const url = /^ +(http:\S+folder=\S+)/m.exec(plain(printed))?.[1] ?? '';
  const folder = new URL(url).searchParams.get('folder') ?? '';
  expect(readdirSync(folder)).toEqual([]);
  expect(plain(printed)).toMatch(/Type first +\/demo tour/);

  const password = /password once: (\w+)/.exec(plain(printed))?.[1] ?? '';
  expect(password).toMatch(/^[0-9a-f]{12}$/);
  // Whoever does not have it gets no editor.
  expect((await fetch(url, { redirect: 'manual' })).status).toBe(302);
  const open = await openPage(url, { password });
  try {
    const { page } = open;
    const chat = page.locator('.part.auxiliarybar .interactive-session');
    await chat.locator('.interactive-input-editor').waitFor();
    await waitForModel(chat, 'Volter Harness · scripted/model');
    await wrote('The editor is attached.');
    const response = await sendPrompt(chat, '/demo tour');
    const allow = response.getByRole('button', { name: 'Allow', exact: true });
    await press(allow.first());
    await response.getByText('Next, an edit.').waitFor();
    await takeShot(page, 'start');
    await press(allow.nth(1));
    await turnEnded(response);
    expect(await textOf(response)).toContain('That is the whole loop');
    expect(readFileSync(join(folder, 'supercode-demo.md'), 'utf8')).toContain('Hello from your editor!');
    await takeShot(page, 'start-done');
  } finally {
    await open.close();
  }

  child.stdin.write('\x03');
  expect((await ended).code).toBe(0);
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(temporary)).toEqual([]);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  console.log(`The workbench was there after ${seconds.toFixed(1)} s.`);
});

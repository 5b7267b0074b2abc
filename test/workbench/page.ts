import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Locator, type Page } from 'playwright-core';

/** What is asked of an element in the page: Node's types know none. */
interface Row {
  getAttribute(name: string): string | null;
}

export interface OpenPage {
  readonly page: Page;
  /** What the window wrote to its console. */
  readonly console: readonly string[];
  close(): Promise<void>;
}

const VIEWPORT = { width: 1400, height: 900 };

export interface PageOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  /** What the workbench asks for before it lets anybody in. */
  readonly password?: string;
}

/** Opens a workbench and waits until it is drawn. */
export async function openPage(url: string, { viewport = VIEWPORT, password }: PageOptions = {}): Promise<OpenPage> {
  const browser = await chromium.launch({
    executablePath: browserPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const page = await (await browser.newContext({ viewport, locale: 'en-US' })).newPage();
  page.setDefaultTimeout(15_000);
  const lines: string[] = [];
  page.on('console', (message) => lines.push(`[${message.type()}] ${message.text()}`));
  await page.goto(url);
  if (password !== undefined) {
    await page.locator('input[type=password]').fill(password);
    await page.keyboard.press('Enter');
  }
  await drawn(page);
  return { page, console: lines, close: () => browser.close() };
}

export async function drawn(page: Page): Promise<void> {
  await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
}

function browserPath(): string {
  const name = process.env['CHROMIUM'] ?? 'chromium';
  const folders = name.includes('/') ? [''] : (process.env['PATH'] ?? '').split(':');
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not on the PATH: run scripts/setup-workbench.sh.`);
  return found;
}

/** Shows the Chat view; returns it once its input can be typed in. */
export async function openChat(page: Page): Promise<Locator> {
  const chat = page.locator('.part.auxiliarybar .interactive-session');
  const input = chat.locator('.interactive-input-editor');
  if (!(await input.isVisible())) await runCommand(page, 'Chat: Open Chat');
  await input.waitFor();
  return chat;
}

/** The chat in the editor area: a session of the list that was opened there. */
export const editorChat = (page: Page) => page.locator('.part.editor .editor-instance:visible .interactive-session');

/** Shows the list of sessions and returns its rows. */
export async function openSessions(page: Page): Promise<Locator> {
  const list = page.locator('.agent-sessions-viewer');
  if (!(await list.isVisible())) await runCommand(page, 'Chat Agent Sessions: Show Agent Sessions Sidebar');
  await list.waitFor();
  return page.locator('.agent-session-item-row');
}

/** Waits until the model picker shows `name`; before that the editor sends no prompt. */
export async function waitForModel(chat: Locator, name: string): Promise<void> {
  await chat.locator('.interactive-input-part').getByText(name, { exact: true }).waitFor({ timeout: 30_000 });
}

/** Types into the input; whatever it held is replaced. */
export async function typePrompt(chat: Locator, text: string): Promise<void> {
  const page = chat.page();
  await chat.locator('.interactive-input-editor').click();
  // A sticky participant has left its name there.
  await page.keyboard.press('ControlOrMeta+A');
  // Typed brackets would be closed by the editor.
  if (text.includes('[')) await page.keyboard.insertText(text);
  else await page.keyboard.type(text);
  // Else Enter accepts the suggestion.
  if ((await page.locator('.suggest-widget.visible').count()) > 0) await page.keyboard.press('Escape');
}

/** Sends a prompt and returns the row of its response. */
export async function sendPrompt(chat: Locator, text: string): Promise<Locator> {
  // Only rows in view exist, so the new one is addressed by its index; a count goes wrong.
  const last = await chat
    .locator('.interactive-list .monaco-list-rows .monaco-list-row')
    .evaluateAll((rows: readonly Row[]) => Math.max(-1, ...rows.map((row) => Number(row.getAttribute('data-index')))));
  await typePrompt(chat, text);
  await chat.page().keyboard.press('Enter');
  const response = chat.locator(`.interactive-list .monaco-list-row.response[data-index="${last + 2}"]`);
  await response.waitFor();
  return response;
}

/** Presses a button wherever it has scrolled to: a list draws more rows than are in view. */
export async function press(button: Locator): Promise<void> {
  await button.waitFor({ state: 'attached' });
  await button.dispatchEvent('click');
}

/** What a row says; the editors in it write their blanks as no-break spaces. */
export async function textOf(row: Locator): Promise<string> {
  return (await row.innerText()).replaceAll('\u00a0', ' ');
}

export const stopButton = (chat: Locator) => chat.locator('.interactive-input-part a.codicon-stop-circle');

export async function turnEnded(response: Locator, timeout = 30_000): Promise<void> {
  await response.locator('.interactive-response:not(.chat-response-loading)').waitFor({ timeout });
}

/** Runs a command by its title in the command palette. */
export async function runCommand(page: Page, title: string): Promise<void> {
  await page.keyboard.press('F1');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill(`>${title}`);
  await page.locator('.quick-input-list .monaco-list-row').first().filter({ hasText: title }).waitFor();
  await page.keyboard.press('Enter');
}

/** Opens a file of the workspace by its name. */
export async function openFile(page: Page, name: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+P');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill(name);
  await page.locator('.quick-input-list .monaco-list-row').first().filter({ hasText: name }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.part.editor .tab').filter({ hasText: name }).first().waitFor();
}

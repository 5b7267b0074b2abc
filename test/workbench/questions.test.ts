import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { Wire } from '../conformance/wire.js';
import { editorChat, press, sendPrompt, textOf, turnEnded } from './page.js';
import { Scene } from './scene.js';

const HISTORY = [
  { role: 'user', content: 'an older prompt' },
  { role: 'assistant', content: 'An older answer.' },
] as const;

/** The editor's own questions, above the composer of a session. */
describe('the questions of an agent in an editor that has its own form for them', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open({ host: 'granted', runtime: { sessionId: 'asks-questions', history: HISTORY } });
    await editorChat(scene.page).locator('.monaco-list-row.request').getByText('an older prompt').waitFor();
  });
  afterAll(async () => {
    await scene.close();
  });

  const questions = () => editorChat(scene.page).locator('.chat-question-carousel-container');
  const option = (label: string, among: Locator = questions()) =>
    among.locator('.chat-question-list-item').filter({ hasText: label }).first();
  const results = () =>
    scene.runtime
      .history()
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => JSON.stringify(content));

  it('are answered there, inside the running turn', async () => {
    onTestFailed(() => scene.shot('questions-failed'));
    const response = await sendPrompt(editorChat(scene.page), '/demo question');
    await press(response.getByRole('button', { name: 'Allow', exact: true }));
    await option('PostgreSQL').click();
    await option('Linux').click();
    await option('Windows').click();
    await scene.shot('questions');
    await questions().getByRole('button', { name: 'Submit' }).click();
    await turnEnded(response);
    expect(await textOf(response)).toMatch(/Answered\.[\s\S]*Thank you/);
    expect(results().at(-1)).toMatch(/PostgreSQL.*Linux.*Windows/);
  });

  it('of two requests that wait at once are each answered with what was chosen for it', async () => {
    onTestFailed(() => scene.shot('questions-failed-two'));
    const response = await sendPrompt(editorChat(scene.page), '/demo questions');
    await allowBoth(response);
    const of = (title: string) => questions().filter({ hasText: title });
    await of('Which size').waitFor();
    await scene.shot('questions-two');
    // The later one first.
    await option('Large', of('Which size')).click();
    await submit(of('Which size'));
    await option('Green', of('Which colour')).click();
    await submit(of('Which colour'));
    await turnEnded(response);
    expect((await textOf(response)).match(/Answered\./g)).toHaveLength(2);
    const [colour, size] = results().slice(-2);
    expect(colour).toMatch(/Green/);
    expect(size).toMatch(/Large/);
  });

  it('wait under their buttons after a reload, where the editor would drop an answer to its own form', async () => {
    onTestFailed(() => scene.shot('questions-failed-reload'));
    const { url } = scene.runtime;
    const observer = new Wire(url, { token: scene.runtime.mint('observer-1'), clientId: 'observer-1' });
    const stream = await observer.listen();
    const before = await sendPrompt(editorChat(scene.page), '/demo questions');
    await allowBoth(before);
    await before.getByRole('button', { name: 'Answer…' }).nth(1).waitFor({ state: 'attached' });
    await scene.page.waitForTimeout(6_000);
    await scene.reload();
    const chat = editorChat(scene.page);
    const response = chat.locator('.monaco-list-row.response').last();
    const answer = response.getByRole('button', { name: 'Answer…' });
    await answer.nth(1).waitFor({ state: 'attached' });
    expect(await questions().count()).toBe(0);
    const pick = (label: string) => scene.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: label });
    await press(answer.nth(0));
    await pick('Red').click();
    await press(answer.nth(1));
    await pick('Small').click();
    await turnEnded(response);
    const [colour, size] = results().slice(-2);
    expect(colour).toMatch(/Red/);
    expect(size).toMatch(/Small/);
    await stream.close();
  });
});

async function allowBoth(response: Locator): Promise<void> {
  for (const at of [0, 1]) await press(response.getByRole('button', { name: 'Allow', exact: true }).nth(at));
}

async function submit(carousel: Locator): Promise<void> {
  const button = carousel.getByRole('button', { name: 'Submit' });
  if ((await button.count()) > 0) await button.click();
}

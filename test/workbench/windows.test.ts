import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChat, openPage, sendPrompt, textOf, turnEnded, waitForModel } from './page.js';
import { Scene } from './scene.js';

describe('two windows on one handover', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open({ host: 'stock' });
  });
  afterAll(async () => {
    await scene.close();
  });

  it('are one client to the runtime: neither displaces the other, and one that closes leaves control behind', async () => {
    const other = await openPage(scene.workbench.url);
    const chat = await openChat(other.page);
    await waitForModel(chat, 'Volter Harness · scripted/model');
    for (const [window, prompt] of [
      [scene.chat, 'first window'],
      [chat, 'second window'],
      [scene.chat, 'first window again'],
    ] as const) {
      const response = await sendPrompt(window, `@supercode ${prompt}`);
      await turnEnded(response);
      expect(await textOf(response)).toContain(prompt);
    }
    await other.close();
    const response = await sendPrompt(scene.chat, '@supercode on its own');
    await turnEnded(response);
    expect(await textOf(response)).toContain('on its own');
    expect(scene.runtime.history().filter(({ role }) => role === 'user')).toHaveLength(4);
    await scene.shot('two-windows');
  });
});

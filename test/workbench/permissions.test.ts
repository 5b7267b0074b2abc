import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import type { RequestBroker, Response } from '../../src/runtime/requests.js';
import { startAskingRuntime } from '../support/startAskingRuntime.js';
import { editorChat, runCommand, sendPrompt, stopButton, textOf, turnEnded } from './page.js';
import { Scene } from './scene.js';

describe('who answers, chosen in the middle of a turn', () => {
  let scene: Scene;
  let broker: RequestBroker;
  const answers: Response[] = [];
  beforeAll(async () => {
    scene = await Scene.open({
      host: 'granted',
      start: async (options) => {
        const asking = await startAskingRuntime(options);
        ({ broker } = asking);
        return asking.runtime;
      },
      runtime: {
        sessionId: 'asks-twice',
        history: [
          { role: 'user', content: 'an older prompt' },
          { role: 'assistant', content: 'An older reply.' },
        ],
      },
    });
    await editorChat(scene.page).locator('.monaco-list-row.request').getByText('an older prompt').waitFor();
  });
  afterAll(async () => {
    await scene.close();
  });

  const ask = (subject: string) => {
    const asked = { tool: 'bash', subject, raw_args: { command: subject } };
    void broker.ask('approval', asked).then((answer) => {
      if (answer) answers.push(answer);
    });
  };
  const choose = async (name: string) => {
    await runCommand(scene.page, 'Volter Harness: Choose Permissions…');
    await scene.page.keyboard.press('Enter');
    await scene.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().click();
    // The choice is made once the list is gone, and a little later.
    await scene.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await scene.page.waitForTimeout(500);
  };

  it('answers the two that wait and the one that comes, says so of each, and no more once it is taken back', async () => {
    onTestFailed(() => scene.shot('permissions-failed'));
    answers.length = 0;
    const chat = editorChat(scene.page);
    const response = await sendPrompt(chat, '/demo slow');
    await response.getByText('item 002').waitFor();
    ask('echo first');
    ask('echo second');
    const allow = response.getByRole('button', { name: 'Allow', exact: true });
    await allow.nth(1).waitFor({ state: 'attached' });
    expect(answers).toEqual([]);
    await scene.shot('permissions-two-wait');
    await choose('Auto approve');
    await response.getByText('auto-approved: bash: echo second').waitFor();
    expect(await textOf(response)).toContain('auto-approved: bash: echo first');
    ask('echo third');
    await response.getByText('auto-approved: bash: echo third').waitFor();
    expect(answers.map((answer) => 'decision' in answer && answer.decision)).toEqual(['allow', 'allow', 'allow']);
    await scene.shot('permissions-auto');
    await choose('Ask for approval');
    ask('echo fourth');
    await allow.nth(2).waitFor({ state: 'attached' });
    expect(answers).toHaveLength(3);
    await stopButton(chat).click();
    await turnEnded(response);
  });
});

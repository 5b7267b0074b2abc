import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import type { Session } from '../../src/runtime/session.js';
import { Wire } from '../conformance/wire.js';
import { onPublished } from '../support/published.js';
import { openFile, press, runCommand, sendPrompt, stopButton, textOf, turnEnded } from './page.js';
import { Scene } from './scene.js';

/** The runtimes of this process publish through here, so that a test can add what a newer runtime would say. */
const sessions = new Map<string, Session>();
onPublished((session) => sessions.set(session.id, session));

describe.each(['stock', 'granted'] as const)('a conversation in the %s editor', (host) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open({ host });
  });
  afterAll(async () => {
    await scene.close();
  });

  const send = (prompt: string) => sendPrompt(scene.chat, `${scene.at}${prompt}`);

  /** A test with a picture of how it ended, and with the logs where it failed. */
  const shown = (name: string, run: () => Promise<void>) => {
    it(name, async () => {
      onTestFailed(async () => {
        await scene.shot(`failed-${name.replace(/\W+/g, '-').slice(0, 60)}`);
        console.error((await scene.workbench.logs()).split('\n').filter((line) => /volter|supercode/i.test(line)));
      });
      await scene.newChat();
      await run();
      await scene.shot(name.replace(/\W+/g, '-').slice(0, 60));
    });
  };

  shown('streams text, asks before a tool runs, runs it once it is allowed, and shows the diff', async () => {
    const response = await send('/demo tour');
    await response.getByText('I am a scripted agent').waitFor();
    const allow = response.getByRole('button', { name: 'Allow', exact: true });
    await allow.first().waitFor();
    // Asked, and not yet run.
    expect(await textOf(response)).not.toMatch(/Ran bash|Tool bash finished/);
    await scene.shot('asks');
    await press(allow.first());
    await response.getByText('Next, an edit.').waitFor();
    await press(allow.nth(1));
    await turnEnded(response);
    const text = await textOf(response);
    expect(text).toContain('That is the whole loop: text as it is written, tools that wait for you');
    expect(text).toMatch(/\+Hello from your editor!/);
    expect(text.match(/Allowed\./g)).toHaveLength(2);
    expect(readFileSync(join(scene.runtime.workspace, 'supercode-demo.md'), 'utf8')).toContain(
      'Hello from your editor!',
    );
    if (host === 'granted') {
      // One row for each call, changed in place, and the mark of a file that was touched.
      expect(await response.locator('.chat-tool-invocation-part').count()).toBe(2);
      expect(text).toContain('Ran bash');
    } else {
      expect(text).toContain('Tool bash finished');
    }
    expect(text).toMatch(/scripted\/model · [\d.]+ s · [\d,]+ tokens/);
  });

  shown('denies by a click, and a second click on another answer changes nothing', async () => {
    const response = await send('/demo parallel');
    for (const at of [0, 1, 2]) {
      await press(response.getByRole('button', { name: 'Deny', exact: true }).nth(at));
    }
    await turnEnded(response);
    expect((await textOf(response)).match(/Denied\./g)).toHaveLength(3);
    await press(response.getByRole('button', { name: 'Allow', exact: true }).first());
    await scene.page.locator('.part.statusbar').getByText('already resolved').waitFor();
  });

  shown('asks the questions of a form, and sends what was answered', async () => {
    const response = await send('/demo question');
    await press(response.getByRole('button', { name: 'Allow', exact: true }));
    await press(response.getByRole('button', { name: 'Answer…' }));
    const picks = scene.page.locator('.quick-input-list .monaco-list-row');
    await picks.filter({ hasText: 'PostgreSQL' }).click();
    await picks.filter({ hasText: 'Linux' }).click();
    await picks.filter({ hasText: 'Windows' }).click();
    await scene.shot('form');
    await scene.page.keyboard.press('Enter');
    await turnEnded(response);
    const text = await textOf(response);
    expect(text).toContain('Answered.');
    expect(text).toContain('Thank you');
    expect(
      scene.runtime
        .history()
        .map(({ content }) => JSON.stringify(content))
        .join(),
    ).toMatch(/PostgreSQL.*Linux.*Windows/);
  });

  shown('a form that is left changes nothing, and can be opened again', async () => {
    const response = await send('/demo question');
    await press(response.getByRole('button', { name: 'Allow', exact: true }));
    const answer = response.getByRole('button', { name: 'Answer…' });
    await press(answer);
    await scene.page.locator('.quick-input-list .monaco-list-row').first().waitFor();
    await scene.page.keyboard.press('Escape');
    await scene.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await press(answer);
    await scene.page.locator('.quick-input-list .monaco-list-row').first().waitFor();
    await scene.page.keyboard.press('Escape');
    await press(response.getByRole('button', { name: 'Decline' }));
    await turnEnded(response);
    expect(await textOf(response)).toContain('Declined.');
  });

  shown('stops a turn, and the next prompt is answered', async () => {
    const response = await send('/demo slow');
    await response.getByText('item 003').waitFor();
    await stopButton(scene.chat).click();
    await turnEnded(response);
    expect(await textOf(response)).not.toContain('item 200');
    const next = await send('are you there?');
    await next.getByText('are you there?').waitFor();
    await turnEnded(next);
  });

  shown('tells why a turn failed', async () => {
    const response = await send('/demo failure');
    await press(response.getByRole('button', { name: 'Allow', exact: true }));
    await response.locator('.chat-notification-widget').getByText('overloaded, as this demo promised').waitFor();
    await turnEnded(response);
    expect(await response.getByText('overloaded, as this demo promised').count()).toBe(1);
  });

  shown('shows an event of a kind that it does not know', async () => {
    const response = await send('/demo slow');
    await response.getByText('item 001').waitFor();
    sessions.get(scene.runtime.sessionId)?.publish({ type: 'brand_new_kind', note: 'from the future' });
    await response.getByText('brand_new_kind').first().waitFor();
    await response.getByText('from the future').first().waitFor();
    await stopButton(scene.chat).click();
    await turnEnded(response);
  });

  shown('takes a prompt into the turn that runs, and goes on drawing it', async () => {
    const first = await send('/demo slow');
    await first.getByText('item 002').waitFor();
    const second = await send('and be quick about it');
    await second.getByText('item 0').first().waitFor();
    await turnEnded(first);
    expect(await textOf(second)).not.toContain('item 001');
    await stopButton(scene.chat).click();
    await turnEnded(second);
    // Nothing that was queued is left behind: the editor takes the next prompt without a question.
    const next = await send('still there?');
    await next.getByText('still there?').waitFor();
    await turnEnded(next);
    expect(await scene.page.locator('.monaco-dialog-box').count()).toBe(0);
  });

  const said = () =>
    scene.runtime
      .history()
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content);

  shown('runs a repeated prompt as a new turn, and says so', async () => {
    const response = await send('once more');
    await turnEnded(response);
    await response.hover();
    await response.locator('a.codicon-refresh').first().click();
    await scene.chat.getByText('runs as a new turn').waitFor();
    await expect.poll(() => said().slice(-2)).toEqual(['once more', 'once more']);
    await expect.poll(() => scene.isBusy()).toBe(false);
  });

  shown('runs an edited prompt as a new turn, and says so', async () => {
    await turnEnded(await send('the first wording'));
    const request = scene.chat.locator('.monaco-list-row.request').filter({ hasText: 'the first wording' });
    const editor = scene.chat.locator('.interactive-list .interactive-input-editor');
    // The list may draw its rows anew under the first click.
    for (let clicks = 0; clicks < 5 && !(await editor.isVisible()); clicks++) {
      await request.locator('.value').click();
      await scene.page.waitForTimeout(500);
    }
    await editor.click();
    await scene.page.keyboard.press('ControlOrMeta+A');
    await scene.page.keyboard.insertText(`${scene.at}a better wording`);
    await scene.shot('edited');
    await scene.page.keyboard.press('Enter');
    await scene.chat.getByText('runs as a new turn').waitFor();
    await expect.poll(() => said().slice(-2)).toEqual(['the first wording', 'a better wording']);
    await expect.poll(() => scene.isBusy()).toBe(false);
  });

  shown('sends an attached file as labelled context', async () => {
    writeFileSync(join(scene.runtime.workspace, 'notes.txt'), 'line one ·§é—–→\nline two\n');
    await openFile(scene.page, 'notes.txt');
    await runCommand(scene.page, 'Chat: Add File to Chat');
    const response = await send('what is in here?');
    await response.getByText('line one ·§é—–→').first().waitFor();
    await turnEnded(response);
    expect(await textOf(response)).toMatch(/notes\.txt[\s\S]*line one ·§é—–→/);
  });

  shown('takes control back from another client, and answers what that one’s turn asks', async () => {
    const { url } = scene.runtime;
    const rival = new Wire(url, { token: scene.runtime.mint('rival-1'), clientId: 'rival-1' });
    await rival.call('attach');
    await rival.call('take_control');
    const response = await send('who is in control?');
    await turnEnded(response);
    expect(await textOf(response)).toContain('who is in control?');
    expect(await rival.call('lease')).toMatchObject({ result: { controller: { client_id: 'editor-1' } } });
  });

  shown('keeps the conversation over a reload, and goes on with it', async () => {
    await turnEnded(await send('before the reload'));
    // The editor writes down now and then which chat it shows.
    await scene.page.waitForTimeout(6_000);
    await scene.reload();
    await scene.chat.locator('.monaco-list-row.request').getByText('before the reload').first().waitFor();
    const response = await send('after the reload');
    await response.getByText('after the reload').waitFor();
    await turnEnded(response);
    expect(scene.runtime.history().filter(({ role }) => role === 'user').length).toBeGreaterThan(3);
  });

  shown('says that the runtime is gone, and goes on once it is back', async () => {
    await scene.killRuntime();
    await scene.startRuntimeAgain();
    const response = await send('are you back?');
    await response.getByText('are you back?').waitFor();
    await turnEnded(response);
  });

  it('tells nothing of its tokens in any log', async () => {
    await runCommand(scene.page, 'Volter Harness: Show Output');
    const logs = `${await scene.workbench.logs()}${scene.open.console.join('\n')}`;
    expect(logs).toMatch(/Connecting to http:\/\/127\.0\.0\.1/);
    for (const token of scene.tokens) expect(logs).not.toContain(token);
    if (host === 'stock') expect(logs).toContain('This editor does not grant defaultChatParticipant');
  });
});

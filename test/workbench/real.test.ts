import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startWorkbench, type Workbench } from '../../scripts/workbench.mjs';
import { openRealPeer } from '../conformance/peers/real.js';
import type { Peer } from '../conformance/peer.js';
import { withRealRuntime } from '../conformance/real/required.js';
import { Wire } from '../conformance/wire.js';
import {
  openChat,
  openPage,
  press,
  sendPrompt,
  stopButton,
  textOf,
  turnEnded,
  waitForModel,
  type OpenPage,
} from './page.js';
import { handover, takeShot } from './scene.js';

const script = (...steps: readonly object[]) => `[[script]] ${JSON.stringify(steps)}`;
const bash = (command: string, id: string) => ({ name: 'bash', id, args: { command } });

withRealRuntime('the real runtime in the workbench', () => {
  let peer: Peer;
  let workbench: Workbench;
  let open: OpenPage;
  beforeAll(async () => {
    peer = await openRealPeer();
    const token = await peer.mint('editor-1');
    workbench = await startWorkbench({
      vsix: inject('vsix').granted,
      proposals: true,
      env: handover(peer, 'editor-1', token),
      settings: { 'chat.agent.collapseCompletedResponses': false },
      folder: peer.workspace,
    });
    open = await openPage(workbench.url);
  });
  afterAll(async () => {
    await open.close();
    await workbench.stop();
    await peer.close();
  });

  it('streams, asks, is allowed and denied, is stopped, and answers again', async () => {
    const { page } = open;
    const { model } = await new Wire(peer.url, { token: peer.ownerToken }).describe();
    const chat = await openChat(page);
    await waitForModel(chat, `Volter Harness · ${model}`);

    const asked = await sendPrompt(
      chat,
      script(
        { text: 'Looking. ', calls: [bash('printf seen-it', 'c1')] },
        { text: 'Once more. ', calls: [bash('printf never', 'c2')] },
        { text: 'All done.' },
      ),
    );
    await press(asked.getByRole('button', { name: 'Allow', exact: true }).first());
    await asked.getByText('Once more.').waitFor();
    await press(asked.getByRole('button', { name: 'Deny', exact: true }).nth(1));
    await turnEnded(asked);
    const text = await textOf(asked);
    expect(text).toMatch(/Allowed\.[\s\S]*Denied\.[\s\S]*All done\./);
    await takeShot(page, 'real-asked');

    const slow = await sendPrompt(chat, script({ repeat: { n: 400, text: 'item ', pad: 3 }, delay: 30 }));
    await slow.getByText('item 003').waitFor();
    await stopButton(chat).click();
    await turnEnded(slow);
    expect(await textOf(slow)).not.toContain('item 399');

    const failed = await sendPrompt(chat, script({ status: 400, body: { error: { message: 'no such model here' } } }));
    await failed.locator('.chat-notification-widget').getByText('no such model here').waitFor();

    const last = await sendPrompt(chat, script({ text: 'Still here.' }));
    await turnEnded(last);
    expect(await textOf(last)).toContain('Still here.');
    await takeShot(page, 'real-end');
  });
});

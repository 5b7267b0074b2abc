import { describe, expect, it } from 'vitest';
import type { FakeEditor } from '../doubles/editor.js';
import { CancellationTokenSource } from '../doubles/vscode/basics.js';
import type { ProposedCall } from '../doubles/vscode/responseStream.js';
import { Uri } from '../doubles/vscode/uri.js';
import { AttachedEditor, bash, script } from './attachedEditor.js';

const CAPABILITY = 'volter.chat.inTurnApprovalCapability';
const withCards = (editor: FakeEditor) => {
  editor.onCommand(CAPABILITY, () => ({ version: 1 }));
};

interface CardData {
  readonly kind: string;
  readonly version: number;
  readonly answers: readonly { connectionId: string; requestId: number; label: string; response: object }[];
}

/** Sends a prompt in the session of the conversation, as an editor does that has such. */
function sendInSession({ editor }: AttachedEditor, prompt: string) {
  const item = { chatSessionItem: { resource: Uri.parse('supercode://environment/conversation') } };
  const context = Object.assign(editor.chatContext().context, { chatSessionContext: item });
  const stream = editor.responseStream();
  const handler = editor.host.participants.get('supercode')?.requestHandler;
  const token = new CancellationTokenSource().token;
  const result = Promise.resolve(handler?.(editor.chatRequest(prompt), context, stream as never, token));
  const cards = () =>
    stream.parts
      .filter((part): part is ProposedCall => 'name' in part && part.name === 'confirmation')
      .map(({ args }) => ({ title: args[0], data: args[2] as CardData, buttons: args[3] }));
  return { stream, result, cards };
}

const respond = async ({ editor }: AttachedEditor, answer: unknown) =>
  (await editor.host.commands.get('supercode.frontend.respondInTurnApproval')?.(answer)) as { status: string };

describe('an approval where the host answers cards inside the turn', () => {
  it('[defect C39, P18] is a card with the offered answers, unchanged and in order, and its click is answered once', async () => {
    const attached = await AttachedEditor.open({ granted: true, prepare: withCards });
    const { stream, result, cards } = sendInSession(attached, script({ calls: [bash('ls -l')] }, { text: 'Done.' }));
    await stream.until(() => cards().length > 0);
    expect(stream.buttons).toEqual([]);
    const [card] = cards();
    expect(card).toMatchObject({
      buttons: ['Allow', 'Allow for session', 'Deny'],
      data: {
        kind: 'supercode.inTurnApproval',
        version: 1,
        answers: [
          {
            connectionId: 'environment',
            requestId: 1,
            label: 'Allow',
            response: { kind: 'approval', request_id: 1, decision: 'allow' },
          },
          { label: 'Allow for session' },
          { label: 'Deny' },
        ],
      },
    });
    const answer = card?.data.answers[0];
    expect(await respond(attached, answer)).toEqual({ status: 'responded' });
    expect(await respond(attached, card?.data.answers[2])).toEqual({ status: 'resolved' });
    await result;
    expect(stream.text).toContain('Done.');
  });

  it('[defect C40] keeps its choices where the answer did not get through, and says so', async () => {
    const attached = await AttachedEditor.open({ granted: true, prepare: withCards });
    const { stream, cards } = sendInSession(attached, script({ calls: [bash('ls')] }));
    await stream.until(() => cards().length > 0);
    await attached.runtime.kill();
    expect(await respond(attached, cards()[0]?.data.answers[0])).toEqual({ status: 'failed' });
    expect(await respond(attached, { connectionId: 'environment' })).toEqual({ status: 'unavailable' });
  });

  it('is buttons for a question, outside of the session, and where the host has another version or none', async () => {
    const attached = await AttachedEditor.open({
      granted: true,
      prepare: withCards,
      runtime: { toolApproval: 'never' },
    });
    const asked = sendInSession(attached, '/demo question');
    await asked.stream.until(({ buttons }) => buttons.length > 0);
    expect(asked.cards()).toEqual([]);
    const decline = asked.stream.buttons.find(({ title }) => title === 'Decline');
    await attached.editor.host.commands.get(decline?.command ?? '')?.(...((decline?.arguments ?? []) as unknown[]));
    await asked.result;
  });

  it.each([
    ['no such command', () => undefined],
    [
      'another version',
      (editor: FakeEditor) => {
        editor.onCommand(CAPABILITY, () => ({ version: 2 }));
      },
    ],
    [
      'one that throws',
      (editor: FakeEditor) => {
        editor.onCommand(CAPABILITY, () => {
          throw new Error('no');
        });
      },
    ],
  ])('is buttons where the host has %s', async (_, prepare) => {
    const attached = await AttachedEditor.open({ granted: true, prepare });
    const { stream, result, cards } = sendInSession(attached, script({ calls: [bash('ls')] }, { text: 'Done.' }));
    await stream.until(({ buttons }) => buttons.length > 0);
    expect(cards()).toEqual([]);
    const deny = stream.buttons.find(({ title }) => title === 'Deny');
    await attached.editor.host.commands.get(deny?.command ?? '')?.(...((deny?.arguments ?? []) as unknown[]));
    await result;
  });

  it('is there for the next prompt where what provides it comes later than the window', async () => {
    const attached = await AttachedEditor.open({ granted: true });
    withCards(attached.editor);
    const { stream, result, cards } = sendInSession(attached, script({ calls: [bash('ls')] }, { text: 'Done.' }));
    await stream.until(() => cards().length > 0);
    expect(await respond(attached, cards()[0]?.data.answers[0])).toEqual({ status: 'responded' });
    await result;
  });

  it('is buttons in a chat that is not the session', async () => {
    const attached = await AttachedEditor.open({ granted: true, prepare: withCards });
    const turn = attached.send(script({ calls: [bash('ls')] }, { text: 'Done.' }));
    await attached.click(turn, 'Deny');
    await turn.result;
  });
});

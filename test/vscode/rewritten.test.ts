import { describe, expect, it } from 'vitest';
import type * as vscode from 'vscode';
import type { TurnDouble } from '../doubles/editor.js';
import { ChatRequestTurn2, ChatResponseTurn } from '../doubles/vscode/chatParts.js';
import { Uri } from '../doubles/vscode/uri.js';
import { AttachedEditor } from './attachedEditor.js';

const SAID = 'runs as a new turn';
const chat = Uri.parse('vscode-chat-session://local/one');
const other = Uri.parse('vscode-chat-session://local/other');

/** What an editor keeps of a prompt and its response. */
async function turnOf(prompt: string, { result }: TurnDouble): Promise<vscode.ChatContext['history']> {
  return [
    new ChatRequestTurn2(prompt, undefined, [], 'supercode.chat', []),
    new ChatResponseTurn([], (await result) ?? {}, 'supercode.chat'),
  ];
}

describe('a prompt that was edited or repeated', () => {
  it('runs as a new turn behind what was said, and that is told', async () => {
    const attached = await AttachedEditor.open();
    const first = await turnOf('one', attached.send('one', { sessionResource: chat }));
    const second = await turnOf('two', attached.send('two', { sessionResource: chat, history: first }));
    const edited = attached.send('two, better', { sessionResource: chat, history: first });
    await edited.result;
    expect(edited.stream.text).toContain(SAID);
    expect(
      attached.runtime
        .history()
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content),
    ).toEqual(['one', 'two', 'two, better']);
    expect(second).toHaveLength(2);
  });

  it('is told where it was the first of its chat', async () => {
    const attached = await AttachedEditor.open();
    await attached.send('one', { sessionResource: chat }).result;
    const edited = attached.send('one, better', { sessionResource: chat });
    await edited.result;
    expect(edited.stream.text).toContain(SAID);
  });

  it('is told from one that goes on, from one of another chat, and from one behind a Stop', async () => {
    const attached = await AttachedEditor.open();
    const first = await turnOf('one', attached.send('one', { sessionResource: chat }));
    const goesOn = attached.send('two', { sessionResource: chat, history: first });
    const elsewhere = attached.send('three', { sessionResource: other });
    await Promise.all([goesOn.result, elsewhere.result]);
    expect(goesOn.stream.text + elsewhere.stream.text).not.toContain(SAID);
    const stopped = attached.send('/demo slow', { sessionResource: other, history: await turnOf('three', elsewhere) });
    await stopped.stream.until(({ text }) => text.includes('item'));
    stopped.stop();
    await stopped.result;
    // The editor keeps no result of a response that was stopped.
    const behind = attached.send('four', { sessionResource: other });
    await behind.result;
    expect(behind.stream.text).not.toContain(SAID);
  });
});

import { describe, expect, it } from 'vitest';
import { activate } from '../../src/vscode/extension.js';
import type { SessionContent } from '../../src/vscode/proposed.js';
import { ChatRequestTurn2, ChatResponseMarkdownPart, ChatResponseTurn2 } from '../doubles/vscode/chatParts.js';
import { Uri } from '../doubles/vscode/uri.js';
import { until } from './attachedEditor.js';
import { ProxiedEditor } from './proxiedEditor.js';

async function toldIn({ attached }: ProxiedEditor): Promise<readonly string[]> {
  const provider = attached.editor.host.sessionContents.get('supercode') as {
    provideChatSessionContent(resource: object): Promise<SessionContent>;
  };
  const { history } = await provider.provideChatSessionContent(Uri.parse('supercode://environment/conversation'));
  return history.flatMap((turn) => {
    if (turn instanceof ChatRequestTurn2) return [`> ${turn.prompt}`];
    const parts = turn instanceof ChatResponseTurn2 ? turn.response : [];
    return parts.flatMap((part) => (part instanceof ChatResponseMarkdownPart ? [part.value.value.trim()] : []));
  });
}

/** The window is reloaded, and meanwhile another process goes on with the session. */
async function reloadedOverRestart(line: ProxiedEditor): Promise<void> {
  const { editor } = line.attached;
  line.proxy.upstream = null;
  const context = editor.reload();
  await context;
  await line.restartUnseen();
  const api = activate(await context);
  await until(() => api.connections.some(({ phase }) => phase === 'attached'));
  await editor.settled();
}

describe('a window that finds its runtime restarted', () => {
  it('in the middle of a turn says so in the conversation, and keeps what was saved of it', async () => {
    const line = await ProxiedEditor.open({ granted: true });
    await line.attached.send('one two three').result;
    const running = line.attached.send('/demo slow');
    await running.stream.until(({ text }) => text.includes('item'));
    // What is noted for the next window is noted behind the turn's beginning.
    await new Promise((resolve) => setTimeout(resolve, 600));
    await reloadedOverRestart(line);
    const told = await toldIn(line);
    expect(told.slice(0, 1)).toEqual(['> one two three']);
    expect(told).toContain('> /demo slow');
    expect(told.join()).toContain('The runtime was restarted');
  });

  it('between two turns says so where it is no part of the conversation', async () => {
    const line = await ProxiedEditor.open({ granted: true });
    await line.attached.send('one two three').result;
    await new Promise((resolve) => setTimeout(resolve, 600));
    await reloadedOverRestart(line);
    expect((await toldIn(line)).join()).not.toContain('restarted');
    await until(() => line.attached.narrated.length > 0);
    expect(line.attached.narrated).toEqual([
      'Volter Harness · scripted/model was restarted; its conversation goes on from what it had saved.',
    ]);
  });
});

it('a window that finds its runtime as it was says nothing', async () => {
  const line = await ProxiedEditor.open({ granted: true });
  await line.attached.send('one two three').result;
  await new Promise((resolve) => setTimeout(resolve, 600));
  const api = activate(await line.attached.editor.reload());
  await until(() => api.connections.some(({ phase }) => phase === 'attached'));
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(line.attached.narrated).toEqual([]);
});

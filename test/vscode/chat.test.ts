import { describe, expect, it } from 'vitest';
import {
  ChatResponseProgressPart,
  ChatResponseThinkingProgressPart,
  ChatToolInvocationPart,
} from '../doubles/vscode/chatParts.js';
import { AttachedEditor, bash, script, until } from './attachedEditor.js';

const progressOf = (parts: readonly unknown[]) =>
  parts.flatMap((part) => (part instanceof ChatResponseProgressPart ? part.value : []));
const rowsOf = (parts: readonly unknown[]) =>
  parts.filter((part): part is ChatToolInvocationPart => part instanceof ChatToolInvocationPart);

describe.each([
  ['stock', false],
  ['granted', true],
])('a prompt in the %s editor', (_, granted) => {
  it('is answered in the text that the runtime streamed, and ends with who wrote it and what it took', async () => {
    const attached = await AttachedEditor.open({ granted });
    const turn = attached.send(script({ chunks: ['One ', 'two\n\n', 'three ', '🙂.'], delay: 20 }));
    const result = await turn.result;
    expect(turn.stream.text).toContain('One two\n\nthree 🙂.');
    const footer = /scripted\/model · [\d.]+ s · [\d,]+ tokens/;
    if (granted) expect(result).toMatchObject({ details: expect.stringMatching(footer) as string });
    else expect(turn.stream.text.replaceAll('\\', '')).toMatch(footer);
    expect(result?.errorDetails).toBeUndefined();
  });

  it('shows a tool as it runs and as it ended, with the answer that let it run', async () => {
    const attached = await AttachedEditor.open({ granted });
    const turn = attached.send(script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' }));
    await attached.click(turn, 'Allow');
    await turn.result;
    expect(turn.stream.buttons.map(({ title }) => title)).toEqual(['Allow', 'Allow for session', 'Deny']);
    expect(turn.stream.text).toContain('Allowed');
    if (granted) {
      const rows = rowsOf(turn.stream.parts);
      expect(new Set(rows.map(({ toolCallId }) => toolCallId)).size).toBe(1);
      expect(rows.map(({ isComplete, enablePartialUpdate }) => [isComplete, enablePartialUpdate])).toEqual([
        [false, true],
        [true, true],
      ]);
      expect(JSON.stringify(rows.at(-1)?.toolSpecificData)).toContain('seen');
    } else {
      expect(progressOf(turn.stream.parts).join('\n')).toContain('Running bash');
      expect(turn.stream.text).toContain('seen');
    }
    expect(attached.narrated.at(-1)).toContain('Allow: bash: printf seen');
  });

  it('that fails is an error of the response, told once', async () => {
    const attached = await AttachedEditor.open({ granted });
    const turn = attached.send(script({ status: 400, body: { error: { message: 'no such model' } } }));
    const result = await turn.result;
    expect(result?.errorDetails?.message).toContain('no such model');
    expect(turn.stream.text).not.toContain('no such model');
  });

  it('is stopped by the person, and the next one is answered', async () => {
    const attached = await AttachedEditor.open({ granted });
    const turn = attached.send(script({ repeat: { n: 500, text: 'item ', pad: 3 }, delay: 20 }));
    await turn.stream.until(({ text }) => text.includes('item 003'));
    turn.stop();
    const drawn = turn.stream.parts.length;
    await turn.result;
    expect(turn.stream.parts.length).toBe(drawn);
    expect(attached.api.connections[0]?.turn).toBe('idle');
    const next = attached.send('hello again');
    await next.result;
    expect(next.stream.text).toContain('hello again');
  });

  it('streams reasoning apart from the answer', async () => {
    const attached = await AttachedEditor.open({ granted });
    const turn = attached.send('/demo reasoning');
    await turn.result;
    const thoughts = turn.stream.parts.filter((part) => part instanceof ChatResponseThinkingProgressPart);
    expect(thoughts.length > 0).toBe(granted);
    if (!granted) expect(turn.stream.text).toMatch(/^> .*small example/m);
  });
});

describe('a prompt', () => {
  it('is told what it waits for while nothing else is drawn', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send(script({ first: 300, text: 'Look.', calls: [bash('true')] }));
    await attached.click(turn, 'Deny');
    await turn.result;
    expect(progressOf(turn.stream.parts)).toEqual(expect.arrayContaining(['Working…', 'Waiting for your answer…']));
  });

  it('never has a line of progress in the middle of streamed text', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send(script({ chunks: ['One ', 'two ', 'three.'], delay: 200 }));
    await turn.result;
    const first = turn.stream.parts.findIndex((part) => 'value' in part && JSON.stringify(part.value).includes('One'));
    const last = turn.stream.parts.findIndex((part) => 'value' in part && JSON.stringify(part.value).includes('three'));
    expect(progressOf(turn.stream.parts.slice(first, last))).toEqual([]);
  });

  it('that was stopped before it was sent is never sent', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send('too late');
    turn.stop();
    await turn.result;
    const next = attached.send('in time');
    await next.result;
    expect(
      attached.runtime
        .history()
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content),
    ).toEqual(['in time']);
  });

  it('during a turn steers it: the first handler returns, and the second goes on drawing', async () => {
    const attached = await AttachedEditor.open();
    const first = attached.send(
      script(
        { chunks: ['before ', 'and '], delay: 30, calls: [bash('sleep 0.2')] },
        { chunks: ['behind.'], first: 50 },
      ),
    );
    await attached.click(first, 'Allow');
    first.askToYield();
    expect(await first.result).not.toHaveProperty('errorDetails');
    expect(attached.api.connections[0]?.turn).toBe('running');
    const second = attached.send('and mind the tests');
    await second.result;
    expect(first.stream.text).toContain('before and');
    expect(first.stream.text).not.toContain('behind.');
    expect(second.stream.text).toContain('behind.');
    expect(second.stream.text).not.toContain('before and');
    expect(JSON.stringify(attached.runtime.history())).toContain('and mind the tests');
  });

  it('that is steered behind the end of its turn is sent as a turn of its own, and nothing is lost', async () => {
    const attached = await AttachedEditor.open();
    const first = attached.send(script({ chunks: ['one ', 'two ', 'three.'], delay: 40 }));
    await first.stream.until(({ text }) => text.includes('one'));
    first.askToYield();
    await first.result;
    await until(() => attached.api.connections[0]?.turn === 'idle');
    const second = attached.send('hello');
    await second.result;
    expect(`${first.stream.text}${second.stream.text}`).toContain('one two three.');
    expect(second.stream.text).toContain('hello');
  });

  it('after Stop leaves nothing queued behind', async () => {
    const attached = await AttachedEditor.open();
    attached.editor.onCommand('workbench.action.chat.removeAllPendingRequests', () => undefined);
    const turn = attached.send(script({ repeat: { n: 200, text: 'x', pad: 3 }, delay: 20 }));
    await turn.stream.until(({ text }) => text.includes('x003'));
    turn.stop();
    turn.askToYield();
    await turn.result;
    expect(attached.editor.host.executed.map(({ command }) => command)).toContain(
      'workbench.action.chat.removeAllPendingRequests',
    );
  });

  it('goes to the conversation that this chat is about, whatever is in focus', async () => {
    const attached = await AttachedEditor.open();
    const { startEmbeddedRuntime } = await import('../../src/runtime/embedded.js');
    const other = await startEmbeddedRuntime();
    try {
      const first = attached.send('to the first');
      const result = await first.result;
      const id = await attached.api.connect({ baseUrl: other.url, token: other.mint('c-2'), clientId: 'c-2' });
      await until(() => attached.api.connections.find((each) => each.id === id)?.phase === 'attached');
      const { ChatResponseTurn2 } = await import('../doubles/vscode/chatParts.js');
      const history = [new ChatResponseTurn2([], result ?? {}, 'supercode.chat')] as never;
      await attached.send('to the second').result;
      await attached.send('also to the first', { history }).result;
      const saidTo = (runtime: typeof other) =>
        runtime
          .history()
          .filter(({ role }) => role === 'user')
          .map(({ content }) => content);
      expect(saidTo(attached.runtime)).toEqual(['to the first', 'also to the first']);
      expect(saidTo(other)).toEqual(['to the second']);
    } finally {
      await other.kill();
    }
  });

  it('without a runtime says what to do', async () => {
    const { FakeEditor } = await import('../doubles/editor.js');
    const { activate } = await import('../../src/vscode/extension.js');
    const editor = new FakeEditor();
    activate(editor.context);
    const result = await editor.send('supercode.chat', 'hello').result;
    expect(result?.errorDetails?.message).toContain('Volter Harness: Connect to a Runtime…');
  });

  it('to a runtime that is gone fails in words, and is answered once that is back', async () => {
    const attached = await AttachedEditor.open();
    const { port } = new URL(attached.runtime.url);
    await attached.runtime.kill();
    const turn = attached.send('anyone?');
    await turn.stream.until(({ parts }) => progressOf(parts).some((line) => line.includes('lost')));
    const { startEmbeddedRuntime } = await import('../../src/runtime/embedded.js');
    const { handOver } = await import('./attachedEditor.js');
    const { sessionId, workspace } = attached.runtime;
    const history = attached.runtime.history();
    const again = await startEmbeddedRuntime({ port: Number(port), sessionId, workspace, history });
    handOver(again);
    try {
      const first = await turn.result;
      // The credential of the process before may be refused first; the next prompt reads the file again.
      const reply = first?.errorDetails ? attached.send('anyone?') : turn;
      const result = await reply.result;
      expect(result?.errorDetails).toBeUndefined();
      expect(reply.stream.text).toContain('anyone?');
    } finally {
      await again.kill();
    }
  }, 30_000);

  it('shows the conversation so far on demand', async () => {
    const attached = await AttachedEditor.open();
    await attached.send('first words').result;
    const turn = attached.send('', { command: 'history' });
    await turn.result;
    expect(turn.stream.text).toMatch(/> first words/);
  });
});

import { createServer, type AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { activate } from '../../src/vscode/extension.js';
import { FakeEditor } from '../doubles/editor.js';
import { CancellationTokenSource } from '../doubles/vscode/basics.js';
import { ChatResponseProgressPart } from '../doubles/vscode/chatParts.js';
import type { ResponseStream } from '../doubles/vscode/responseStream.js';
import { Uri } from '../doubles/vscode/uri.js';
import { AttachedEditor, bash, script, until } from './attachedEditor.js';
import { ProxiedEditor } from './proxiedEditor.js';

const COUNTING = script({ repeat: { n: 300, text: 'x', pad: 3 }, delay: 10 });
const ASKING = script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' });
const QUEUE = 'workbench.action.chat.removeAllPendingRequests';

const progressOf = ({ parts }: ResponseStream) =>
  parts.flatMap((part) => (part instanceof ChatResponseProgressPart ? part.value : []));
const messageOf = async (result: Promise<vscode.ChatResult | undefined>) => (await result)?.errorDetails?.message;
const promptsOf = ({ runtime }: AttachedEditor | ProxiedEditor) =>
  runtime.history().filter(({ role }) => role === 'user').length;

/** An editor that waits for a runtime which takes connections and never says anything. */
async function connecting() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const editor = new FakeEditor();
  const api = activate(editor.context);
  onTestFinished(async () => {
    for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const id = (await api.connect({ baseUrl, token: 'token', clientId: 'me' })) ?? '';
  const turn = editor.send('supercode.chat', 'anyone?');
  await turn.stream.until((stream) => progressOf(stream).includes('Connecting to the runtime…'));
  return { editor, api, id, turn };
}

describe('a prompt whose connection goes away in mid-turn', () => {
  it('ends in words where a person disconnects', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send(COUNTING);
    await turn.stream.until(({ text }) => text.includes('x003'));
    await attached.run('disconnect');
    expect(await messageOf(turn.result)).toMatch(/the runtime goes on with it|the turn may go on there/);
    expect(attached.api.connections).toEqual([]);
  });

  it('ends in words where the runtime no longer knows this client', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(COUNTING);
    await turn.stream.until(({ text }) => text.includes('x003'));
    line.proxy.upstream = { url: line.runtime.url, token: 'e'.repeat(64) };
    line.proxy.cut();
    expect(await messageOf(turn.result)).toContain('does not know this credential');
    expect(line.phase).toBe('refused');
  });

  it('goes on where a person connects again, and ends as the turn does', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const rival = await line.rival().listen();
    onTestFinished(() => rival.close());
    const turn = attached.send(ASKING);
    await turn.stream.until(({ buttons }) => buttons.length === 3);
    attached.editor.pick('$(refresh) Connect again');
    await attached.run('showStatus');
    await until(() => line.phase === 'attached' && line.proxy.streams.length === 2);
    await attached.click(turn, 'Allow');
    expect((await turn.result)?.errorDetails).toBeUndefined();
    expect(turn.stream.text).toContain('Done.');
  });

  it.each(['disconnect', 'connect again'])('while it is sent into the running turn ends as well: %s', async (how) => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const first = attached.send(ASKING);
    await first.stream.until(({ buttons }) => buttons.length === 3);
    line.proxy.faults = {
      call: ({ name }) => (name === 'steer' ? { kind: 'delay', ms: 60_000, before: true } : undefined),
    };
    const second = attached.send('and mind the tests');
    await until(() => line.proxy.count('steer') === 1);
    if (how === 'disconnect') {
      await attached.run('disconnect');
      expect(await messageOf(second.result)).toBeDefined();
    } else {
      attached.editor.pick('$(refresh) Connect again');
      await attached.run('showStatus');
      await second.stream.until(({ text }) => text.includes('Your message was not sent'));
      second.stop();
      await second.result;
    }
    await first.result;
  });

  it('while it waits for another turn to stop ends as well', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const first = attached.send(ASKING);
    await first.stream.until(({ buttons }) => buttons.length === 3);
    line.proxy.faults = {
      call: ({ name }) => (name === 'interrupt' ? { kind: 'delay', ms: 60_000, before: true } : undefined),
    };
    first.stop();
    const second = attached.send('next');
    await second.stream.until((stream) => progressOf(stream).includes('Waiting for the turn before to stop…'));
    await attached.run('disconnect');
    expect(await messageOf(second.result)).toBeDefined();
    await first.result;
    expect(line.proxy.count('send_input')).toBe(1);
  });

  it('and that is made again is a conversation of its own: nothing undrawn of the one before is missed', async () => {
    const attached = await AttachedEditor.open();
    const { url: baseUrl } = attached.runtime;
    const options = { baseUrl, token: attached.runtime.mint('c-2'), clientId: 'c-2' };
    const id = (await attached.api.connect(options)) ?? '';
    const isThere = () => attached.api.connections.find((each) => each.id === id)?.phase === 'attached';
    await until(isThere);
    for (const prompt of ['one', 'two', 'three']) await attached.send(prompt).result;
    const first = attached.send(COUNTING);
    await first.stream.until(({ text }) => text.includes('x003'));
    first.askToYield();
    await first.result;
    await attached.run('stop');
    await until(() => attached.api.connections.every(({ turn }) => turn === 'idle'));
    await attached.api.disconnect(id);
    await attached.api.connect(options);
    await until(isThere);
    const next = attached.send('afresh');
    await next.result;
    expect(next.stream.text).toContain('You said: afresh');
  });
});

describe('a prompt while there is no answer yet', () => {
  it('is let go by Stop, and by a person who disconnects', async () => {
    const { api, id, turn, editor } = await connecting();
    turn.stop();
    expect(await messageOf(turn.result)).toBeUndefined();
    const again = editor.send('supercode.chat', 'anyone?');
    await again.stream.until((stream) => progressOf(stream).length > 0);
    await api.disconnect(id);
    expect(await messageOf(again.result)).toBe('The connection was closed. The prompt was not sent.');
  });

  it('[fault 29] whose response the editor closed waits in silence, and does not fail', async () => {
    const { turn, api, id } = await connecting();
    turn.stream.close();
    await api.disconnect(id);
    await expect(turn.result).resolves.toBeDefined();
  });
});

describe('a prompt that is stopped', () => {
  it('while its context is read is not sent, and leaves nothing queued', async () => {
    const attached = await AttachedEditor.open();
    attached.editor.onCommand(QUEUE, () => undefined);
    const stat = vi.spyOn(vscode.workspace.fs, 'stat').mockReturnValue(new Promise(() => undefined));
    onTestFinished(() => {
      stat.mockRestore();
    });
    const reference = { id: 'file', name: 'file', value: Uri.file('/somewhere/slow.ts') };
    const turn = attached.send('read this', { references: [reference] });
    await until(() => stat.mock.calls.length > 0);
    turn.askToYield();
    turn.stop();
    expect(await turn.result).toEqual({});
    expect(turn.stream.parts).toEqual([]);
    expect(attached.editor.host.executed.map(({ command }) => command)).toContain(QUEUE);
    await attached.send('next').result;
    expect(promptsOf(attached)).toBe(1);
  });

  it('before the handler is called is never sent, and nothing is written', async () => {
    const attached = await AttachedEditor.open();
    const { editor } = attached;
    const source = new CancellationTokenSource();
    source.cancel();
    const stream = editor.responseStream();
    stream.close();
    const handler = editor.host.participants.get('supercode.chat')?.requestHandler;
    const { context } = editor.chatContext();
    const result = await handler?.(editor.chatRequest('too late'), context, stream, source.token);
    expect(result).toEqual({});
    await attached.send('next').result;
    expect(promptsOf(attached)).toBe(1);
  });

  it('is let go in the end though its turn does not end; what is sent then waits for that', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const turn = attached.send(COUNTING);
    await turn.stream.until(({ text }) => text.includes('x003'));
    line.proxy.faults = {
      call: ({ name }) => (name === 'interrupt' ? { kind: 'delay', ms: 60_000, before: true } : undefined),
    };
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    turn.stop();
    await until(() => line.proxy.count('interrupt') === 1);
    vi.advanceTimersByTime(21_000);
    expect(await messageOf(turn.result)).toBeUndefined();
    const next = attached.send('next');
    await next.stream.until((stream) => progressOf(stream).includes('Waiting for the turn before to stop…'));
    next.stop();
    await next.result;
    expect(line.proxy.count('send_input')).toBe(1);
  });

  it('while it is sent into a running turn stops that turn', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const first = attached.send(COUNTING);
    await first.stream.until(({ text }) => text.includes('x003'));
    line.proxy.faults = {
      call: ({ name }) => (name === 'steer' ? { kind: 'delay', ms: 200, before: true } : undefined),
    };
    const second = attached.send('and mind the tests');
    await until(() => line.proxy.count('steer') === 1);
    second.stop();
    await Promise.all([first.result, second.result]);
    expect(line.proxy.count('interrupt')).toBe(1);
    expect(first.stream.text).toContain('*Interrupted\\.*');
  });

  it('with prompts queued behind it works where the editor can’t clear them', async () => {
    const attached = await AttachedEditor.open();
    attached.editor.onCommand(QUEUE, () => {
      throw new Error('no such command');
    });
    const turn = attached.send(COUNTING);
    await turn.stream.until(({ text }) => text.includes('x003'));
    turn.stop();
    turn.askToYield();
    expect(await messageOf(turn.result)).toBeUndefined();
    expect(attached.editor.host.channels[0]?.lines.at(-1)).toContain('no such command');
  });
});

describe.each([
  ['stock', false],
  ['granted', true],
])('a response that the %s editor closes by itself', (_, granted) => {
  it('is written no more; the turn goes on, and the next prompt is answered', async () => {
    const attached = await AttachedEditor.open({ granted });
    const turn = attached.send(script({ repeat: { n: 20, text: 'x', pad: 3 }, delay: 10 }, { text: '' }));
    await turn.stream.until(({ text }) => text.includes('x003'));
    turn.stream.close();
    const drawn = turn.stream.parts.length;
    await expect(turn.result).resolves.toBeDefined();
    expect(turn.stream.parts).toHaveLength(drawn);
    expect(attached.api.connections[0]).toMatchObject({ turn: 'idle', phase: 'attached' });
    const next = attached.send('and on');
    expect((await next.result)?.errorDetails).toBeUndefined();
    expect(next.stream.text).toContain('You said: and on');
    const lines = attached.editor.host.channels[0]?.lines.filter((line) => line.includes('has been closed'));
    expect(lines).toHaveLength(1);
  });

  it('while it waits for an answer can be answered all the same', async () => {
    const attached = await AttachedEditor.open({ granted });
    const turn = attached.send(ASKING);
    await turn.stream.until(({ buttons }) => buttons.length === 3);
    turn.stream.close();
    await attached.click(turn, 'Deny');
    await expect(turn.result).resolves.toBeDefined();
    expect(attached.narrated.at(-1)).toContain('$(check) Deny');
  });
});

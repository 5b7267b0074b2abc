import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ChatMessage } from '../../src/runtime/wire.js';
import type { SessionContent } from '../../src/vscode/proposed.js';
import { CancellationTokenSource } from '../doubles/vscode/basics.js';
import { ChatResponseTurn2, ChatToolInvocationPart } from '../doubles/vscode/chatParts.js';
import { Uri } from '../doubles/vscode/uri.js';
import { AttachedEditor, bash, script, until } from './attachedEditor.js';
import { contentOf, controllerOf, follow, pickPermission, resource, toldIn } from './conversations.js';
import { ProxiedEditor } from './proxiedEditor.js';

const HISTORY: readonly ChatMessage[] = [
  { role: 'system', content: 'You are an agent.' },
  { role: 'user', content: 'please fix the flaky test' },
  { role: 'assistant', content: 'I fixed it.' },
];

const opened = (options: Parameters<typeof AttachedEditor.open>[0] = {}) =>
  AttachedEditor.open({ granted: true, ...options });

/** Without what keeps it from being read as Markdown. */
const plain = (text: string) => text.replaceAll('\\', '');

describe('a session', () => {
  it('shows what was saved and what was said since, without the system prompt', async () => {
    const attached = await opened({ runtime: { sessionId: 's', history: HISTORY } });
    await attached.send('hello').result;
    const content = await contentOf(attached);
    expect(toldIn(content).slice(0, 3)).toEqual(['> please fix the flaky test', 'I fixed it.', '> hello']);
    expect(content.activeResponseCallback).toBeUndefined();
    expect(content.requestHandler).toBeDefined();
  });

  it('goes on drawing the turn that runs, from its start, asks what waits once, and ends with it', async () => {
    const attached = await opened();
    const turn = attached.send(script({ text: 'Look. ', calls: [bash('printf seen')] }, { text: 'Done.' }));
    await turn.stream.until(({ buttons }) => buttons.length > 0);
    const content = await contentOf(attached);
    expect(toldIn(content).at(-1)).toMatch(/^> \[\[script\]\]/);
    const { stream, drawn } = follow(attached, content);
    await stream.until(({ buttons }) => buttons.length > 0);
    const [button] = stream.buttons;
    await attached.editor.host.commands.get(button?.command ?? '')?.(...((button?.arguments ?? []) as unknown[]));
    await drawn;
    await turn.result;
    expect(stream.buttons).toHaveLength(3);
    expect(stream.text).toMatch(/Look\.[\s\S]*Allowed[\s\S]*Done\./);
  });

  it('that is stopped stops the turn itself, and waits for its end', async () => {
    const attached = await opened();
    const turn = attached.send(script({ repeat: { n: 500, text: 'item ', pad: 3 }, delay: 20 }));
    await turn.stream.until(({ text }) => text.includes('item 003'));
    const { stream, drawn, stop } = follow(attached, await contentOf(attached));
    await stream.until(({ text }) => text.includes('item 005'));
    stop();
    await drawn;
    await turn.result;
    expect(attached.api.connections[0]?.turn).toBe('idle');
  });

  it('has a prompt of its own go to its own conversation', async () => {
    const attached = await opened();
    const { startEmbeddedRuntime } = await import('../../src/runtime/embedded.js');
    const other = await startEmbeddedRuntime();
    try {
      await attached.api.connect({ baseUrl: other.url, token: other.mint('c-2'), clientId: 'c-2' });
      await until(() => attached.api.connections.every(({ phase }) => phase === 'attached'));
      const handler = (await contentOf(attached)).requestHandler;
      const context = { ...attached.editor.chatContext().context, yieldRequested: false };
      const bound = Object.assign(context, { chatSessionContext: { chatSessionItem: { resource: resource() } } });
      const stream = attached.editor.responseStream();
      await handler?.(attached.editor.chatRequest('to the first'), bound, stream, new CancellationTokenSource().token);
      expect(stream.text).toContain('to the first');
      expect(other.history().some(({ role }) => role === 'user')).toBe(false);
    } finally {
      await other.kill();
    }
  });

  it('[defect D55] that is new has nothing to stop, and says which conversation its prompt goes on with', async () => {
    const attached = await opened({ runtime: { sessionId: 'past', history: HISTORY } });
    const running = attached.send('/demo slow');
    await running.stream.until(({ text }) => text.includes('item'));
    const draft = Uri.parse('supercode:/untitled-1');
    const content = await contentOf(attached, draft);
    expect(content.history).toEqual([]);
    expect(content.activeResponseCallback).toBeUndefined();
    running.stop();
    await running.result;
    const { context } = attached.editor.chatContext();
    const bound = Object.assign(context, { chatSessionContext: { chatSessionItem: { resource: draft } } });
    const stream = attached.editor.responseStream();
    const request = attached.editor.chatRequest('go on');
    await content.requestHandler?.(request, bound, stream, new CancellationTokenSource().token);
    expect(plain(stream.text)).toContain('goes on with “please fix the flaky test”');
    expect(stream.text).toContain('go on');
  });

  it('of a runtime that is not connected says so', async () => {
    const attached = await opened();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const content = contentOf(attached, resource('gone'));
    // Another extension may hand it over in a moment.
    await vi.advanceTimersByTimeAsync(5_000);
    const [marker, reply] = toldIn(await content).map(plain);
    expect(marker).toBe('> ⟨supercode runtime history⟩');
    expect(reply).toMatch(/^This conversation is not connected\. Connect to its runtime, .*CommandButtonPart$/);
  });

  it('whose runtime another extension hands over a moment later waits for it', async () => {
    const attached = await opened();
    const { startEmbeddedRuntime } = await import('../../src/runtime/embedded.js');
    const other = await startEmbeddedRuntime({ sessionId: 'later', history: HISTORY });
    onTestFinished(() => other.kill());
    const options = { baseUrl: other.url, token: other.mint('c-2'), clientId: 'c-2' };
    const id = await attached.api.connect(options);
    await attached.api.disconnect(id ?? '');
    const content = contentOf(attached, resource(id));
    await attached.api.connect(options);
    expect(toldIn(await content)).toEqual(['> please fix the flaky test', 'I fixed it.']);
  });

  it('of a runtime that refuses this client says why, behind what is known', async () => {
    const line = await ProxiedEditor.open({ granted: true, runtime: { sessionId: 'known', history: HISTORY } });
    await line.lose();
    line.proxy.faults = { call: () => ({ kind: 'answer', status: 401 }), open: () => ({ status: 401 }) };
    line.proxy.upstream = { url: line.runtime.url, token: 'none' };
    await until(() => line.phase === 'refused');
    const told = toldIn(await contentOf(line.attached)).map(plain);
    expect(told.slice(0, 2)).toEqual(['> please fix the flaky test', 'I fixed it.']);
    expect(told.at(-2)).toBe('> ⟨supercode runtime history⟩');
    expect(told.at(-1)).toMatch(/credential.*CommandButtonPart$/);
  });
});

describe('the list of sessions', () => {
  it('has true times, tells what waits, and publishes only what differs', async () => {
    const attached = await opened();
    const { publications } = controllerOf(attached);
    await until(() => publications.length > 0);
    const turn = attached.send(script({ repeat: { n: 60, text: 'x', pad: 3 }, delay: 20, calls: [bash('true')] }));
    await until(() => publications.at(-1)?.[0]?.status === 3);
    await attached.click(turn, 'Deny');
    await turn.result;
    await until(() => publications.at(-1)?.[0]?.status === 1);
    // Sixty deltas, a request and an answer: nothing of the text is published.
    expect(publications.length).toBeLessThanOrEqual(6);
    const { timing } = publications.at(-1)?.[0] ?? {};
    expect(timing?.created).toBeGreaterThan(Date.now() - 60_000);
    expect(timing?.lastRequestEnded).toBeGreaterThanOrEqual(timing?.lastRequestStarted ?? Infinity);
  });
});

describe('a long conversation full of tools', () => {
  const output = 'x'.repeat(64 * 1024);
  const turns = Array.from({ length: 9 }, (_, turn): readonly ChatMessage[] => {
    const calls = Array.from({ length: 20 }, (_each, at) => ({
      id: `call_${turn}_${at}`,
      type: 'function' as const,
      function: { name: 'bash', arguments: '{"command":"ls"}' },
    }));
    return [
      { role: 'user', content: `prompt ${turn}` },
      { role: 'assistant', content: 'Looking.', tool_calls: calls },
      ...calls.map(({ id }): ChatMessage => ({ role: 'tool', content: output, tool_call_id: id })),
    ];
  });
  const runtime = { sessionId: 's', history: turns.flat() };

  it('[defect E65] is opened with few code blocks, and says what is left out', async () => {
    const attached = await opened({ runtime });
    const { history } = await contentOf(attached);
    const parts = history.flatMap((turn) => (turn instanceof ChatResponseTurn2 ? turn.response : []));
    const rows = parts.filter((part) => part instanceof ChatToolInvocationPart);
    expect(rows).toHaveLength(80);
    expect(parts.length).toBeLessThanOrEqual(80 + 2 * 9);
    for (const row of rows) expect(JSON.stringify(row).length).toBeLessThan(10_000);
    expect(/allow|approv|\bran\b/i.exec(JSON.stringify(parts))?.[0]).toBeUndefined();
    const told = plain(toldIn({ history } as SessionContent).join('\n'));
    expect(told.match(/20 tool calls: bash ×20 \(details not shown\)/g)).toHaveLength(5);
    expect(told).toContain('> prompt 0');
  });

  it('[defect E65] is told as bounded Markdown where the editor grants nothing', async () => {
    const attached = await AttachedEditor.open({ runtime });
    const turn = attached.send('', { command: 'history' });
    await turn.result;
    const { text } = turn.stream;
    expect((text.match(/^`{3,}$/gm) ?? []).length / 2).toBeLessThanOrEqual(160);
    expect(text.length).toBeLessThan(2 ** 20);
    expect(text.match(/\*\*Tool\*\* `bash` called/g)).toHaveLength(80);
    expect(plain(text).match(/20 tool calls: bash ×20 \(details not shown\)/g)).toHaveLength(5);
  });
});

describe('a runtime that arrives with a history', () => {
  const openings = ({ editor }: AttachedEditor) =>
    editor.host.executed.filter(({ command }) => command === 'vscode.open' || command === 'workbench.action.chat.open');

  it('has its conversation opened, once', async () => {
    const attached = await opened({ runtime: { sessionId: 's', history: HISTORY } });
    await until(() => openings(attached).length > 0);
    expect(openings(attached)).toMatchObject([{ command: 'vscode.open' }]);
    const { activate } = await import('../../src/vscode/extension.js');
    const again = activate(await attached.editor.reload());
    await until(() => again.connections[0]?.phase === 'attached');
    await attached.editor.settled();
    expect(openings(attached)).toHaveLength(1);
  });

  it('and one without leaves the window alone', async () => {
    const attached = await opened();
    await attached.send('hello').result;
    expect(openings(attached)).toEqual([]);
  });
});

describe('permissions', () => {
  it('picked during a turn answer what waits and what comes, each noted, and no question', async () => {
    const attached = await opened();
    const state = await controllerOf(attached).getChatSessionInputState(resource());
    expect(state.groups).toMatchObject([{ kind: 'permissions', selected: { id: 'ask' } }]);
    const turn = attached.send(
      script({ calls: [bash('printf one', 'c1')] }, { calls: [bash('printf two', 'c2')] }, { text: 'Done.' }),
    );
    await turn.stream.until(({ buttons }) => buttons.length > 0);
    pickPermission(state, 'autoApprove');
    await turn.result;
    expect(plain(turn.stream.text).match(/auto-approved/g)).toHaveLength(2);
    expect(turn.stream.buttons).toHaveLength(3);
    const asked = attached.send('/demo question');
    await attached.click(asked, 'Decline');
    await asked.result;
    expect(asked.stream.text).toContain('Declined');
  });

  it('are kept by conversation where they differ from the default, and only there', async () => {
    const attached = await opened();
    const { workspaceState } = attached.editor.context;
    const kept = () => workspaceState.get('supercode.frontend.permissionsByConversation');
    const state = await controllerOf(attached).getChatSessionInputState(resource());
    expect(kept()).toBeUndefined();
    pickPermission(state, 'autoApprove');
    await until(() => JSON.stringify(kept()).includes('autoApprove'));
    const { activate } = await import('../../src/vscode/extension.js');
    const again = activate(await attached.editor.reload());
    await until(() => again.connections[0]?.phase === 'attached');
    const restored = await controllerOf(attached).getChatSessionInputState(resource());
    expect(restored.groups[0]?.selected?.id).toBe('autoApprove');
    pickPermission(restored, 'ask');
    await until(
      () =>
        JSON.stringify(attached.editor.context.workspaceState.get('supercode.frontend.permissionsByConversation')) ===
        '{}',
    );
  });

  it('of one that may not answer are the harness’s own', async () => {
    const attached = await opened({ permissions: 'observe,interact' });
    const state = await controllerOf(attached).getChatSessionInputState(resource());
    expect(state.groups[0]?.items.map(({ id }) => id)).toEqual(['harness']);
    attached.editor.escape();
    await attached.run('choosePermissions');
  });

  it('can be chosen in any editor, by a command', async () => {
    const attached = await AttachedEditor.open();
    attached.editor.pick('Auto approve');
    await attached.run('choosePermissions');
    const turn = attached.send(script({ calls: [bash('printf one')] }, { text: 'Done.' }));
    await turn.result;
    expect(plain(turn.stream.text)).toContain('auto-approved');
    expect(turn.stream.buttons).toEqual([]);
  });
});

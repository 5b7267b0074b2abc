import { afterEach, describe, expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
import { activate } from '../../src/vscode/extension.js';
import { PROPOSALS } from '../../src/vscode/grants.js';
import type { FrontendStatus } from '../../src/vscode/status.js';
import { FakeEditor, type TurnDouble } from '../doubles/editor.js';
import { CancellationTokenSource } from '../doubles/vscode/basics.js';
import { ChatResponseCommandButtonPart } from '../doubles/vscode/chatParts.js';
import { AttachedEditor, bash, clearHandover, script, until } from './attachedEditor.js';
import {
  anotherRuntime,
  command,
  contentOf,
  controllerOf,
  pickedIn,
  pickPermission,
  resource,
  slowRuntime,
  toldIn,
} from './conversations.js';
import { ProxiedEditor } from './proxiedEditor.js';

const LOOK = script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' });
const KEPT = 'supercode.frontend.permissionsByConversation';

const granted = (options: Parameters<typeof ProxiedEditor.open>[0] = {}) =>
  ProxiedEditor.open({ granted: true, ...options });
const asked = (turn: TurnDouble) => turn.stream.until(({ buttons }) => buttons.length >= 3);
const statusOf = async (attached: AttachedEditor) => (await command(attached, 'status', true)) as FrontendStatus;
const focusOf = async (attached: AttachedEditor) => (await statusOf(attached)).activeSession;
const shownIn = ({ editor }: AttachedEditor) =>
  editor.host.executed.filter(({ command: name }) => name !== 'setContext');
const errorsIn = ({ editor }: AttachedEditor) => editor.host.messages.map(({ text }) => text);

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a prompt', () => {
  it('[defect A18] that was sent is put back nowhere: not into the composer, not into what is kept', async () => {
    const { attached } = await granted();
    await attached.send('say xylophone').result;
    const again = activate(await attached.editor.reload());
    await until(() => again.connections[0]?.phase === 'attached');
    await contentOf(attached);
    await attached.editor.settled();
    expect(JSON.stringify(shownIn(attached))).not.toContain('xylophone');
    const { globalState, workspaceState } = attached.editor.context;
    const kept = [globalState, workspaceState].flatMap((memento) => memento.keys().map((key) => memento.get(key)));
    expect(kept.length).toBeGreaterThan(0);
    expect(JSON.stringify(kept)).not.toContain('xylophone');
  });

  it('[defect B37] sent while its runtime is still being attached to arrives once', async () => {
    const { attached } = await granted();
    const other = await slowRuntime(attached);
    const turn = attached.send('patience');
    await turn.stream.until(({ parts }) => parts.length > 0);
    expect(other.proxy.count('send_input')).toBe(0);
    other.release();
    expect((await turn.result)?.errorDetails).toBeUndefined();
    expect(turn.stream.text).toContain('patience');
    expect(other.proxy.count('send_input')).toBe(1);
  });

  it('[defect B37] whose runtime refuses the attachment is not sent, and that is said', async () => {
    const { attached } = await granted();
    const other = await anotherRuntime(attached, { call: () => ({ kind: 'answer', status: 401 }) });
    await other.connect({ wait: false });
    expect((await attached.send('patience').result)?.errorDetails?.message).toContain('The prompt was not sent.');
    expect(other.proxy.count('send_input')).toBe(0);
  });

  it('[defect P30] has its attachments byte for byte', async () => {
    const { attached, runtime } = await granted();
    const text = 'let a = "·§é—–→\u2028\u{1f600}\\u0085";\n';
    const uri = attached.editor.writeFile(vscode.Uri.file('/tmp/a.ts'), text);
    await attached.send('look', { references: [{ id: 'a', value: uri }] as never }).result;
    expect(JSON.stringify(runtime.history())).toContain(JSON.stringify(text).slice(1, -1));
  });

  it('[defect P23] of a session goes through the one handler that the participant has as well, and is sent once', async () => {
    const { attached, proxy } = await granted();
    const handler = (await contentOf(attached)).requestHandler;
    expect(handler).toBe(attached.editor.host.participants.get('supercode')?.requestHandler);
    const { context } = attached.editor.chatContext();
    const bound = Object.assign(context, { chatSessionContext: { chatSessionItem: { resource: resource() } } });
    const stream = attached.editor.responseStream();
    await handler?.(attached.editor.chatRequest('once'), bound, stream, new CancellationTokenSource().token);
    expect([stream.text.includes('once'), proxy.count('send_input')]).toEqual([true, 1]);
  });
});

describe('which conversation is meant', () => {
  it('[defect B24] is ready as soon as it is attached and in focus, whatever else is not', async () => {
    const { attached } = await granted();
    const other = await slowRuntime(attached);
    expect((await statusOf(attached)).setupHandoff.complete).toBe(false);
    await command(attached, 'focusSession', resource().toString());
    expect(await statusOf(attached)).toMatchObject({ activeSession: 'environment', setupHandoff: { complete: true } });
    expect((await attached.send('hello').result)?.errorDetails).toBeUndefined();
    other.release();
  });

  it('[defect B31] is the one opened last, though the one before took longer', async () => {
    const { attached } = await granted();
    const other = await slowRuntime(attached);
    const slow = contentOf(attached, resource(other.id));
    await contentOf(attached);
    other.release();
    await slow;
    expect(await focusOf(attached)).toBe('environment');
  });

  it('[defect B31] stays where the editor cancels the opening, without an error', async () => {
    const { attached } = await granted();
    attached.editor.onCommand('vscode.open', () => Promise.reject(new Error('Canceled')));
    await command(attached, 'openSession', 'environment');
    expect([errorsIn(attached), await focusOf(attached)]).toEqual([[], 'environment']);
  });

  it('[defect B35] is the one activated last, though the one before took longer', async () => {
    const { attached } = await granted();
    const other = await slowRuntime(attached);
    const slow = command(attached, 'activateSession', resource(other.id).toString());
    await command(attached, 'activateSession', resource().toString());
    other.release();
    await slow;
    expect(await focusOf(attached)).toBe('environment');
    await command(attached, 'activateSession', resource(other.id).toString());
    expect(await focusOf(attached)).toBe(other.id);
  });

  it('[defect B33, B35] stays where an activation fails: nothing is cleared, and the next one is not held up', async () => {
    const { attached, proxy } = await granted();
    const other = await anotherRuntime(attached, {
      open: () => ({ status: 401 }),
      call: () => ({ kind: 'answer', status: 401 }),
    });
    const id = await other.connect({ wait: false });
    await command(attached, 'focusSession', resource().toString());
    const turn = attached.send(LOOK);
    await asked(turn);
    const shown = shownIn(attached).length;
    const failing = command(attached, 'activateSession', resource(id).toString());
    await expect(failing).rejects.toThrow('credential');
    expect([shownIn(attached).length, await focusOf(attached)]).toEqual([shown, 'environment']);
    await command(attached, 'activateSession', resource().toString());
    await attached.click(turn, 'Allow');
    await turn.result;
    expect([proxy.count('interrupt'), turn.stream.text.includes('Done.')]).toEqual([0, true]);
  });

  it('[defect B36] is activated though the editor never finishes to show it', async () => {
    const { attached } = await granted();
    attached.editor.onCommand('vscode.open', () => new Promise(() => undefined));
    void command(attached, 'openSession', 'environment');
    await command(attached, 'activateSession', resource().toString());
    expect(await focusOf(attached)).toBe('environment');
  });

  it('[defect B38] may change often: each is registered once, attached once, and told nothing of it', async () => {
    const { attached, proxy } = await granted();
    const other = await anotherRuntime(attached);
    const id = await other.connect();
    const { host } = attached.editor;
    const registered = () => [host.participants.size, host.sessionContents.size, host.sessionControllers.size];
    const before = registered();
    for (let at = 0; at < 5; at++) {
      await command(attached, 'activateSession', resource(id).toString());
      await command(attached, 'activateSession', resource().toString());
    }
    expect(registered()).toEqual(before);
    expect([proxy.streams.length, other.proxy.streams.length]).toEqual([1, 1]);
    expect([await contentOf(attached), await contentOf(attached, resource(id))].map(toldIn)).toEqual([[], []]);
  });

  it('[defect D55] is none for a draft: Stop there stops nothing of any other', async () => {
    const { attached, proxy } = await granted();
    const turn = attached.send(LOOK);
    await asked(turn);
    await command(attached, 'focusSession', 'supercode:/untitled-1');
    await expect(command(attached, 'stopTurn', 'supercode:/untitled-1')).rejects.toThrow('no connection');
    await expect(command(attached, 'stopTurn', undefined)).rejects.toThrow('no connection');
    const draft = attached.send('of a draft');
    draft.stop();
    await draft.result;
    expect([proxy.count('interrupt'), proxy.count('respond')]).toEqual([0, 0]);
    await attached.click(turn, 'Allow');
    await turn.result;
    expect(turn.stream.text).toContain('Done.');
  });
});

describe('what waits for an answer', () => {
  it('[defect B34] in a conversation that is not live takes no answer, and no other conversation gets it', async () => {
    const line = await granted();
    const { attached } = line;
    const other = await anotherRuntime(attached);
    const turn = attached.send(LOOK);
    await asked(turn);
    const id = await other.connect();
    const theirs = attached.send(LOOK);
    await asked(theirs);
    await attached.api.disconnect('environment');
    await turn.result;
    await attached.click(turn, 'Allow');
    expect(attached.narrated.at(-1)).toBe('Volter Harness: already resolved.');
    expect([line.proxy.count('respond'), other.proxy.count('respond')]).toEqual([0, 0]);
    expect(attached.api.connections.find((each) => each.id === id)?.waiting).toBe(1);
  });

  it('[defect C40] goes on waiting where the answer of a form did not get through, and can be answered again', async () => {
    const line = await granted({ runtime: { toolApproval: 'never' } });
    const { attached, proxy } = line;
    const turn = attached.send('/demo question');
    proxy.faults = { call: ({ name }) => (name === 'respond' ? { kind: 'answer', status: 500 } : undefined) };
    const fill = async () => {
      attached.editor.pick('SQLite');
      attached.editor.pick('Linux');
      await attached.click(turn, 'Answer…');
    };
    await fill();
    expect(errorsIn(attached)).toEqual([expect.stringContaining('it can be given again')]);
    expect([line.accepted, attached.api.connections[0]?.waiting]).toEqual([[], 1]);
    proxy.faults = {};
    await fill();
    await turn.result;
    expect(line.accepted).toEqual(['1 accept']);
  });

  it('[defect C43] has its answers in one row, in their order, whatever streams around them', async () => {
    const { attached } = await granted();
    const turn = attached.send(
      script({ text: 'Before. ', calls: [bash('printf one', 'c1'), bash('printf two', 'c2')] }, { text: 'After.' }),
    );
    await attached.click(turn, 'Allow', 0);
    await attached.click(turn, 'Deny', 1);
    await turn.result;
    const rows: string[][] = [];
    let previous: unknown;
    for (const part of turn.stream.parts) {
      if (part instanceof ChatResponseCommandButtonPart) {
        if (!(previous instanceof ChatResponseCommandButtonPart)) rows.push([]);
        rows.at(-1)?.push(part.value.title);
      }
      previous = part;
    }
    expect(rows).toEqual([
      ['Allow', 'Allow for session', 'Deny'],
      ['Allow', 'Allow for session', 'Deny'],
    ]);
  });

  it('[defect C52] stays so in what a host is told, though a message comes in between', async () => {
    const { attached } = await granted();
    const turn = attached.send(LOOK);
    await asked(turn);
    const between = attached.send('a word in between');
    await until(() => attached.api.connections[0]?.waiting === 1);
    expect((await statusOf(attached)).connections?.[0]?.pendingRequests).toEqual([1]);
    await attached.click(turn, 'Deny');
    await Promise.all([turn.result, between.result]);
    expect((await statusOf(attached)).connections?.[0]?.pendingRequests).toEqual([]);
  });
});

describe('permissions', () => {
  it('[defect C46] are kept only where a person picked other than the default', async () => {
    const { attached } = await granted();
    const kept = () => attached.editor.context.workspaceState.get(KEPT);
    const controller = controllerOf(attached);
    for (let at = 0; at < 3; at++) await controller.getChatSessionInputState(resource());
    const state = await controller.getChatSessionInputState(resource());
    pickPermission(state, 'ask');
    await attached.editor.settled();
    expect(kept()).toBeUndefined();
    pickPermission(state, 'autoApprove');
    await until(() => Object.values(kept() ?? {}).length === 1);
    pickPermission(state, 'ask');
    await until(() => Object.values(kept() ?? {}).length === 0);
  });

  it('[defect C47, P26] picked in one conversation change there, in each of its views, and nowhere else', async () => {
    const { attached } = await granted();
    const other = await anotherRuntime(attached);
    const id = await other.connect();
    const controller = controllerOf(attached);
    const [mine, second, theirs] = await Promise.all(
      [resource(), resource(), resource(id)].map((each) => controller.getChatSessionInputState(each)),
    );
    if (!mine || !second || !theirs) throw new Error('no state');
    const untouched = theirs.groups;
    pickPermission(mine, 'autoApprove');
    await until(() => pickedIn(second) === 'autoApprove');
    await attached.editor.settled();
    expect(theirs.groups).toBe(untouched);
    expect(pickedIn(theirs)).toBe('ask');
  });

  it('[defect C48, P26] of a conversation that is new are the default, whatever the one before has', async () => {
    const { attached } = await granted();
    const controller = controllerOf(attached);
    pickPermission(await controller.getChatSessionInputState(resource()), 'autoApprove');
    const other = await anotherRuntime(attached);
    const id = await other.connect();
    expect(pickedIn(await controller.getChatSessionInputState(resource(id)))).toBe('ask');
    const turn = attached.send(LOOK);
    await asked(turn);
    expect(other.proxy.count('respond')).toBe(0);
    await attached.click(turn, 'Deny');
    await turn.result;
  });

  it('[defect P26] picked in a conversation hold there again once it is connected again', async () => {
    const { attached } = await granted();
    const other = await anotherRuntime(attached);
    const id = await other.connect();
    const controller = controllerOf(attached);
    pickPermission(await controller.getChatSessionInputState(resource(id)), 'autoApprove');
    await until(() => Object.values(attached.editor.context.workspaceState.get(KEPT, {})).length === 1);
    await attached.api.disconnect(id);
    await other.connect();
    expect(pickedIn(await controller.getChatSessionInputState(resource(id)))).toBe('autoApprove');
    expect(pickedIn(await controller.getChatSessionInputState(resource()))).toBe('ask');
    await attached.send(LOOK).result;
    expect(other.proxy.count('respond')).toBe(1);
  });

  it('[defect C49, C50] are one group, whose names stay as they are once something is sent', async () => {
    const { attached } = await granted();
    const state = await controllerOf(attached).getChatSessionInputState(resource());
    const seen = () => state.groups.map(({ kind, name, items }) => [kind, name, items.map((item) => item.name)]);
    const before = seen();
    expect(before).toEqual([['permissions', 'Permissions', ['Ask for approval', 'Auto approve']]]);
    await attached.send('hello').result;
    expect(seen()).toEqual(before);
  });
});

describe('what is shown', () => {
  it('[defect E66] of a session that could not be loaded is there the next time, with no further connection', async () => {
    const { attached } = await granted();
    const other = await anotherRuntime(attached);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const unknown = contentOf(attached, resource('runtime-000000000000'));
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    expect(toldIn(await unknown).join()).toContain('not connected');
    const id = await other.connect();
    await attached.send('hello').result;
    other.proxy.faults = { open: () => ({ status: 503 }), call: () => ({ kind: 'break' }) };
    other.proxy.cut();
    await until(() => attached.api.connections.find((each) => each.id === id)?.phase === 'reconnecting');
    const loading = contentOf(attached, resource(id));
    other.proxy.faults = {};
    expect(toldIn(await loading)[0]).toBe('> hello');
    expect(toldIn(await contentOf(attached, resource(id)))[0]).toBe('> hello');
    expect((await statusOf(attached)).connections?.find((each) => each.id === id)?.viewReady).toBe(true);
  });

  it('[defect E66] after the extension failed to load once is what it should be: the next use loads it again', async () => {
    vi.spyOn(vscode.window, 'createStatusBarItem').mockImplementationOnce(() => {
      throw new Error('not now');
    });
    const editor = new FakeEditor();
    activate(editor.context);
    await expect(editor.send('supercode.chat', 'hello').result).rejects.toThrow('not now');
    const { result } = editor.send('supercode.chat', 'hello');
    expect((await result)?.errorDetails?.message).toContain('No runtime is connected');
    for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
  });

  it('[defect E66] after the editor did not say what it can do is shown all the same, in plain form', async () => {
    vi.spyOn(vscode.commands, 'getCommands').mockRejectedValueOnce(new Error('not now'));
    const { attached } = await granted();
    const turn = attached.send(LOOK);
    await attached.click(turn, 'Allow');
    await turn.result;
    expect(turn.stream.text).toContain('Done.');
  });

  it('[defect F88] where there is no runtime is why, each time and after a reload, and never a conversation', async () => {
    process.env['SUPERCODE_FRONTEND_UNAVAILABLE'] = 'The licence has run out.';
    const editor = new FakeEditor();
    try {
      for (const context of [editor.context, () => editor.reload()]) {
        const api = activate(typeof context === 'function' ? await context() : context);
        for (let at = 0; at < 2; at++) {
          const turn = editor.send('supercode.chat', 'hello');
          expect((await turn.result)?.errorDetails?.message).toContain('The licence has run out');
          expect([turn.stream.parts, api.connections]).toEqual([[], []]);
        }
      }
    } finally {
      clearHandover();
      for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
    }
  });

  it('[defect F88] where there is no runtime is an empty session, not one with a made-up turn', async () => {
    const editor = new FakeEditor({ proposals: PROPOSALS });
    activate(editor.context);
    const provider = editor.host.sessionContents.get('supercode') as {
      provideChatSessionContent(resource: object): Promise<{ readonly history: readonly unknown[] }>;
    };
    const content = await provider.provideChatSessionContent(vscode.Uri.parse('supercode:/untitled-1'));
    expect(content).toMatchObject({ history: [] });
    for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
  });

  it('[defect F96] as the version is that of the package that runs', async () => {
    const { attached } = await granted({ editor: { proposals: [], manifest: { version: '7.8.9-test' } } });
    expect((await statusOf(attached)).version).toBe('7.8.9-test');
  });

  it('[defect G99, P36] while much streams: the list stays, and a request is there at once', async () => {
    const { attached } = await granted();
    const { publications } = controllerOf(attached);
    const turn = attached.send(script({ repeat: { n: 2000, text: 'x', pad: 4 }, delay: 0, calls: [bash('true')] }));
    await turn.stream.until(({ text }) => text.includes('x0001'));
    await until(() => publications.length > 0);
    const listed = publications.length;
    await asked(turn);
    // No list holds it back: it is answerable before the list has told of it.
    expect(turn.stream.buttons.map(({ title }) => title)).toContain('Deny');
    // That the turn began, and that something waits.
    expect(publications.length - listed).toBeLessThanOrEqual(2);
    await attached.click(turn, 'Deny');
    await turn.result;
    expect(turn.stream.text.match(/x\d{4}/g)).toHaveLength(2000);
  });

  it('[defect P24] in the list that was asked for too early comes by itself', async () => {
    const { attached } = await granted();
    const controller = controllerOf(attached);
    const other = await slowRuntime(attached);
    await controller.refreshHandler();
    expect(controller.publications.at(-1)?.length ?? 0).toBeLessThan(2);
    other.release();
    await until(() => controller.publications.at(-1)?.length === 2);
  });

  it.each([
    ['messages that are no list', { history: {} }],
    ['no messages', { history: null }],
    ['a replay that is no list', { replay: 'none' }],
    ['no descriptor', { descriptor: {} }],
  ])('[defect P10] stays as it is where a snapshot has %s, and goes on with the next one', async (_, broken) => {
    const { attached, proxy } = await granted();
    await attached.send('hello').result;
    const before = toldIn(await contentOf(attached));
    let edits = 0;
    proxy.faults = {
      call: ({ name }) =>
        name === 'attach' && edits++ === 0
          ? { kind: 'edit', edit: (answer) => ({ ...answer, result: { ...(answer.result as object), ...broken } }) }
          : undefined,
    };
    proxy.cut();
    await until(() => proxy.count('attach') >= 3 && attached.api.connections[0]?.phase === 'attached');
    expect(toldIn(await contentOf(attached))).toEqual(before);
    const turn = attached.send('and on');
    await turn.result;
    expect(turn.stream.text).toContain('and on');
    expect(toldIn(await contentOf(attached)).slice(0, before.length)).toEqual(before);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FrontendStatus } from '../../src/vscode/status.js';
import { bash, script, until } from './attachedEditor.js';
import {
  anotherRuntime,
  command,
  contentOf,
  controllerOf,
  follow,
  pickPermission,
  resource,
  toldIn,
} from './conversations.js';
import { ProxiedEditor } from './proxiedEditor.js';

const LOOK = script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' });

/** Both orders of two things that a person, a host or a runtime does, each waited for, and both at once. */
const MEETINGS = [
  { meeting: 'one after the other', swapped: false, atOnce: false },
  { meeting: 'the other way round', swapped: true, atOnce: false },
  { meeting: 'at once', swapped: false, atOnce: true },
  { meeting: 'at once, the other way round', swapped: true, atOnce: true },
] as const;

async function meet<A, B>(
  { swapped, atOnce }: (typeof MEETINGS)[number],
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<readonly [PromiseSettledResult<Awaited<A>>, PromiseSettledResult<Awaited<B>>]> {
  const settle = async <T>(promise: Promise<T>) => (await Promise.allSettled([promise]))[0];
  if (swapped) {
    const theirs = settle(second());
    if (!atOnce) await theirs;
    return [await settle(first()), await theirs];
  }
  const ours = settle(first());
  if (!atOnce) await ours;
  const theirs = await settle(second());
  return [await ours, theirs];
}

const open = () => ProxiedEditor.open({ granted: true });

describe.each(MEETINGS)('$meeting', (meeting) => {
  it('[defect B34, B38] disconnecting, and opening the session: it ends in words, answers nothing, and leaves the other alone', async () => {
    const line = await open();
    const { attached } = line;
    const other = await anotherRuntime(attached);
    const turn = attached.send(LOOK);
    await turn.stream.until(({ buttons }) => buttons.length === 3);
    const id = await other.connect();
    const [, opened] = await meet(
      meeting,
      () => attached.api.disconnect('environment'),
      () => contentOf(attached),
    );
    if (opened.status === 'rejected') {
      expect(String(opened.reason)).toContain('not connected');
    } else {
      const { stream, drawn } = follow(attached, opened.value);
      await drawn;
      for (const { command: name, arguments: args = [] } of stream.buttons)
        await attached.editor.host.commands.get(name)?.(...(args as unknown[]));
    }
    await turn.result;
    expect([line.proxy.count('respond'), line.proxy.count('interrupt')]).toEqual([0, 0]);
    expect(attached.api.connections.map((each) => [each.id, each.phase])).toEqual([[id, 'attached']]);
    expect(other.proxy.count('respond') + other.proxy.count('send_input')).toBe(0);
    const next = attached.send('to the other');
    await next.result;
    expect([next.stream.text.includes('to the other'), other.proxy.count('send_input')]).toEqual([true, 1]);
  });

  it('[defect P21] opening the session of a turn, and the end of that turn: all of it is shown, once, and it ends', async () => {
    const line = await open();
    const { attached } = line;
    const turn = attached.send(LOOK);
    await turn.stream.until(({ buttons }) => buttons.length === 3);
    const [opened] = await meet(
      meeting,
      () => contentOf(attached),
      async () => {
        await attached.click(turn, 'Allow');
        await turn.result;
      },
    );
    if (opened.status === 'rejected') throw opened.reason;
    const { stream, drawn } = follow(attached, opened.value);
    await drawn;
    const shown = `${toldIn(opened.value).join('\n')}${stream.text}`;
    expect(shown.match(/Look\./g)).toHaveLength(2);
    expect(shown.match(/Done\./g)).toHaveLength(2);
    expect(line.accepted).toEqual(['1 allow']);
    expect(attached.api.connections[0]?.turn).toBe('idle');
  });

  it('[defect B31] a change of focus, and a prompt: it goes to one conversation, and the chat stays with it', async () => {
    const line = await open();
    const { attached } = line;
    const other = await anotherRuntime(attached);
    const id = await other.connect();
    const sent = () => [line.proxy.count('send_input'), other.proxy.count('send_input')];
    const [, prompted] = await meet(
      meeting,
      () => command(attached, 'focusSession', resource().toString()),
      async () => attached.send('hello').result,
    );
    const isFirst = meeting.swapped ? [0, 1] : [1, 0];
    expect(sent()).toEqual(isFirst);
    if (prompted.status === 'rejected') throw prompted.reason;
    const history = [{ result: prompted.value ?? {}, response: [], participant: 'supercode.chat.default' }] as never;
    await command(attached, 'focusSession', resource(meeting.swapped ? 'environment' : id).toString());
    await attached.send('and on', { history }).result;
    expect(sent()).toEqual(isFirst.map((count) => 2 * count));
  });

  it('[defect F95, P24] a runtime handed over, and its session opened, or the status asked: there or not, never half', async () => {
    const line = await open();
    const { attached } = line;
    const { runtime, proxy } = await anotherRuntime(attached);
    const credentialFile = join(runtime.workspace, 'external.token');
    writeFileSync(credentialFile, proxy.token, { mode: 0o600 });
    const handoff = { baseUrl: proxy.url, clientId: 'c-2', connectionId: 'played-back', credentialFile };
    const opening = () => command(attached, 'openSession', 'played-back');
    const asking = () => command(attached, 'status', true) as Promise<FrontendStatus>;
    const [connected, [opened, told]] = await meet(
      meeting,
      () => command(attached, 'connect', handoff),
      () => Promise.allSettled([opening(), asking()]),
    ).then(([first, second]) => {
      if (second.status === 'rejected') throw second.reason;
      return [first, second.value] as const;
    });
    expect(connected).toEqual({ status: 'fulfilled', value: 'played-back' });
    const isKnown = !meeting.swapped;
    expect(opened.status).toBe(isKnown ? 'fulfilled' : 'rejected');
    if (told.status === 'rejected') throw told.reason;
    expect(told.value.connections?.map(({ id }) => id)).toEqual(
      isKnown ? ['environment', 'played-back'] : ['environment'],
    );
    await until(() => attached.api.connections.every(({ phase }) => phase === 'attached'));
    await opening();
    expect((await asking()).connections?.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'environment attached',
      'played-back attached',
    ]);
    expect(proxy.streams).toHaveLength(1);
    expect(attached.editor.host.questions).toEqual([]);
  });

  it('[defect C47, P26] automatic approval picked, and a request: answered once in this conversation, never in the other', async () => {
    const line = await open();
    const { attached } = line;
    const other = await anotherRuntime(attached);
    const id = await other.connect();
    const theirs = attached.send(LOOK);
    await theirs.stream.until(({ buttons }) => buttons.length === 3);
    await command(attached, 'focusSession', resource().toString());
    const state = await controllerOf(attached).getChatSessionInputState(resource());
    const [, sent] = await meet(
      meeting,
      () => {
        pickPermission(state, 'autoApprove');
        return Promise.resolve();
      },
      async () => {
        const turn = attached.send(LOOK);
        if (!meeting.atOnce && meeting.swapped) await turn.stream.until(({ buttons }) => buttons.length === 3);
        return { turn };
      },
    );
    if (sent.status === 'rejected') throw sent.reason;
    await sent.value.turn.result;
    expect(line.accepted).toEqual(['1 allow']);
    expect(other.proxy.count('respond')).toBe(0);
    expect(attached.api.connections.find((each) => each.id === id)?.waiting).toBe(1);
    await attached.click(theirs, 'Deny');
    await theirs.result;
    expect(other.proxy.count('respond')).toBe(1);
  });
});

describe('a session that was opened in a turn which is over by the time that it is drawn', () => {
  it.each([
    ['nothing runs', false],
    ['another client’s turn runs', true],
  ])(
    '[defect P21, P20] shows the end of that turn and no more, and Stop in it stops nothing: %s',
    async (_, isNext) => {
      const line = await open();
      const { attached, proxy } = line;
      const turn = attached.send(LOOK);
      await turn.stream.until(({ buttons }) => buttons.length === 3);
      const content = await contentOf(attached);
      await attached.click(turn, 'Allow');
      await turn.result;
      const rival = line.rival();
      if (isNext) {
        await rival.ok('take_control');
        await rival.ok('send_input', { prompt: script({ repeat: { n: 500, text: 'theirs', pad: 3 }, delay: 20 }) });
        await until(() => attached.api.connections[0]?.turn === 'running');
      }
      const { stream, drawn, stop } = follow(attached, content);
      await drawn;
      stop();
      await attached.editor.settled();
      expect(stream.text).toMatch(/Look\.[^]*Done\./);
      expect(stream.text).not.toContain('theirs');
      expect(proxy.count('interrupt')).toBe(0);
      expect(attached.api.connections[0]?.turn).toBe(isNext ? 'running' : 'idle');
    },
  );
});

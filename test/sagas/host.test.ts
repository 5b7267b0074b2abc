import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { selectAgents, selectConversationRows, selectIsReady, selectOperation } from '../../src/selectors/host.js';
import { selectSavedHistory } from '../../src/selectors/savedHistory.js';
import { setupEnded, watchedChanged } from '../../src/store/host.js';
import {
  openRequested,
  refreshRequested,
  rememberRequested,
  selectRequested,
  setupRequested,
} from '../../src/store/hostIntents.js';
import type { SetupKind } from '../../src/protocol/host.js';
import { connectionTo, HostClientDouble, rowNamed } from '../doubles/hostClient.js';
import { DESCRIPTOR, RuntimeDouble } from '../doubles/runtime.js';
import { READY } from '../support/hostAnswers.js';
import { settle, Window } from '../support/window.js';

const A = 'http://127.0.0.1:1001';
const B = 'http://127.0.0.1:1002';
const CODEX = { harness: 'codex', model: '', effort: '' };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A window with a host, and what answers at A and at B. */
async function hosted(host = new HostClientDouble(), isJoined = true) {
  const window = new Window();
  const runtimes = { a: new RuntimeDouble(), b: new RuntimeDouble() };
  window.serve(A, runtimes.a);
  window.serve(B, runtimes.b);
  if (isJoined) await window.join(host);
  const { app } = window;
  let operations = 0;
  const ask = (intent: (operation: string) => Parameters<typeof app.dispatch>[0]) => {
    const operation = `op-${++operations}`;
    app.dispatch(intent(operation));
    return () => selectOperation(app.getState(), operation);
  };
  return {
    window,
    app,
    host,
    ...runtimes,
    ask,
    root: () => app.getState(),
    watch: (watched = true) => {
      app.dispatch(watchedChanged({ watched }));
    },
    select: (selection = CODEX) => ask((operation) => selectRequested(operation, selection)),
    open: (id: string) => ask((operation) => openRequested(operation, id)),
    refresh: () => ask((operation) => refreshRequested(operation)),
    setup: (step: SetupKind, harness: string) => ask((operation) => setupRequested(operation, step, harness)),
    phases: () =>
      Object.fromEntries(Object.entries(app.getState().connections).map(([id, { phase }]) => [id, phase.name])),
  };
}

/** How often the state became another one while something happened. */
async function changesDuring(window: Window, what: () => Promise<void>): Promise<number> {
  let changes = 0;
  let last = window.app.getState();
  const leave = window.app.subscribe(() => {
    if (window.app.getState() !== last) changes += 1;
    last = window.app.getState();
  });
  await what();
  leave();
  return changes;
}

describe('what a host says', () => {
  it('is asked once at the start, and attached to, under the conversation’s own id', async () => {
    const { host, root, phases, a } = await hosted(new HostClientDouble().serving('live', A));
    expect(host.calls).toEqual(['state']);
    expect(phases()).toEqual({ live: 'attached' });
    expect(root().connections['live']).toMatchObject({ origin: 'host', target: { credential: { kind: 'file' } } });
    expect([selectIsReady(root()), a.count('openEvents')]).toEqual([true, 1]);
  });

  it('[defect F85] F12: for a minute is nothing; then it is attached to once, and nothing starts a second time', async () => {
    const host = new HostClientDouble().serving('live', A);
    const answer = host.hold('state');
    const { root, phases, a, watch } = await hosted(host);
    watch();
    await settle(60_000);
    expect([selectIsReady(root()), selectAgents(root()), host.calls]).toEqual([undefined, [], ['state']]);
    answer();
    await settle(40_000);
    expect([phases(), a.count('openEvents'), host.calls]).toEqual([{ live: 'attached' }, 1, ['state']]);
  });

  it('F13: is kept where one answer is a refusal, a broken line or nonsense', async () => {
    const { window, host, root, watch, phases } = await hosted();
    watch();
    const before = root().host;
    host.refuse('state', 'Try later.');
    host.fault('state');
    const changes = await changesDuring(window, () => settle(15_100));
    expect(host.count('state')).toBe(4);
    expect([changes, root().host.snapshot === before.snapshot]).toEqual([0, true]);
    expect(phases()).toEqual({});
    expect(window.logged.filter((line) => line.startsWith('The host: '))).toHaveLength(2);
  });

  it('[defect G98] F15: a hundred times the same publishes nothing after the first', async () => {
    const { window, host, root, watch } = await hosted();
    watch();
    const before = root();
    const actions = window.actions.length;
    const changes = await changesDuring(window, () => settle(100 * 5_000 + 100));
    expect(host.count('state')).toBe(101);
    expect([changes, window.actions.length - actions]).toEqual([0, 0]);
    expect(root()).toBe(before);
  });

  it('changes only what is new: other rows stay the same objects, wherever they stand now', async () => {
    const host = new HostClientDouble().serving('live', A, { sessions: [rowNamed('live'), rowNamed('old')] });
    const { root, refresh } = await hosted(host);
    const rows = selectConversationRows(root());
    const { modelsByHarness, setup } = root().host.snapshot ?? {};
    host.edit({ sessions: [rowNamed('new'), rowNamed('old'), rowNamed('live', { title: 'Named' })] });
    refresh();
    await settle();
    const after = selectConversationRows(root());
    const byId = (id: string) => [rows, after].map((list) => list.find((row) => row.id === id));
    expect(after.map(({ title }) => title)).toEqual(['new', 'old', 'Named']);
    expect(byId('old')[0]).toBe(byId('old')[1]);
    expect(byId('live')[0]).not.toBe(byId('live')[1]);
    expect(root().host.snapshot?.modelsByHarness).toBe(modelsByHarness);
    expect(root().host.snapshot?.setup).toBe(setup);
    expect(selectConversationRows(root())).toBe(after);
  });

  it('F16: no connection, a connection, another one: the old attachment ends before the new one begins', async () => {
    const { host, root, refresh, phases, a, b } = await hosted();
    expect(phases()).toEqual({});
    host.serving('live', A);
    refresh();
    await settle();
    expect(phases()).toEqual({ live: 'attached' });
    let wasClosed: boolean | undefined;
    const openEvents = b.openEvents.bind(b);
    b.openEvents = () => {
      wasClosed = a.stream.closed;
      return openEvents();
    };
    host.serving('live', B);
    refresh();
    await settle();
    expect([wasClosed, a.count('openEvents'), b.count('openEvents')]).toEqual([true, 1, 1]);
    host.edit({ connection: connectionTo(B, 2) });
    refresh();
    await settle();
    expect([b.count('openEvents'), b.streams[0]?.closed, b.streams[1]?.closed]).toEqual([2, true, false]);
    expect(root().connections['live']?.target.credential).toEqual({ kind: 'file', path: '/private/credential-2' });
    host.edit({ connection: undefined });
    refresh();
    await settle();
    expect([phases(), b.stream.closed]).toEqual([{ live: 'closed' }, true]);
  });

  it('[defect A17] opens nothing where nothing is active', async () => {
    const host = new HostClientDouble();
    host.edit({ sessions: [rowNamed('old', { identity: 'v1:old' })], connection: connectionTo(A) });
    const { phases, a } = await hosted(host);
    expect([phases(), a.calls, host.calls]).toEqual([{}, [], ['state']]);
  });

  it('[defect A9] a project that is opened again attaches to its conversation, and selects nothing', async () => {
    const host = new HostClientDouble().serving('live', A);
    host.editRow('live', { identity: 'v1:session-1' });
    const { phases } = await hosted(host);
    expect([phases(), host.count('select'), host.count('open')]).toEqual([{ live: 'attached' }, 0, 0]);
  });

  it('[defect G100] leaves alone what others attached to', async () => {
    const { window, host, phases, refresh } = await hosted(new HostClientDouble().serving('live', A));
    window.open('outside');
    await settle();
    host.edit({ connection: undefined, sessions: [], activeSession: null });
    refresh();
    await settle();
    expect(phases()).toEqual({ live: 'closed', outside: 'attached' });
  });
});

describe('asking again by itself', () => {
  it('is done about every 5 s while nothing is ready and somebody looks, and not otherwise', async () => {
    const { host, watch } = await hosted();
    await settle(60_000);
    expect(host.count('state')).toBe(1);
    watch();
    await settle(0);
    expect(host.count('state')).toBe(2);
    await settle(10_100);
    expect(host.count('state')).toBe(4);
    watch(false);
    await settle(60_000);
    expect(host.count('state')).toBe(4);
    watch();
    host.serving('live', A);
    await settle(60_000);
    expect(host.count('state')).toBe(5);
  });

  it('waits for the answer first, however long that takes', async () => {
    const { host, watch } = await hosted();
    const answer = host.hold('state');
    watch();
    await settle(180_000);
    expect(host.count('state')).toBe(2);
    answer();
    await settle(4_900);
    expect(host.count('state')).toBe(2);
    await settle(200);
    expect(host.count('state')).toBe(3);
  });

  it('[defect G98] ten idle minutes with a runtime cost one reading', async () => {
    const { host, watch } = await hosted(new HostClientDouble().serving('live', A));
    watch();
    await settle(600_000);
    expect(host.calls).toEqual(['state']);
  });

  it('[defect F77, F80] goes on each second while a step of the setup has no effect that is seen, in a chat too', async () => {
    const { window, host, root, watch, setup, phases } = await hosted(new HostClientDouble().serving('live', A));
    watch();
    const step = setup('login', 'claude-code');
    await settle();
    expect(step()).toMatchObject({ phase: 'done', result: { step: { program: '/p', env: { PATH: 'login' } } } });
    await settle(10_100);
    expect([host.count('state'), root().host.outstanding]).toEqual([11, { step: 'login', harness: 'claude-code' }]);
    const [codex, claude] = READY.setup.agents;
    host.edit({ setup: { ...READY.setup, actions: [], agents: [codex, { ...claude, signedIn: true }] } });
    await settle(60_000);
    expect([host.count('state'), root().host.outstanding, phases()]).toEqual([12, null, { live: 'attached' }]);
    expect(window.seen('connections/opened')).toBe(1);
  });

  it('goes on no more once nobody waits for the step', async () => {
    const { app, host, watch, setup } = await hosted(new HostClientDouble().serving('live', A));
    watch();
    setup('install', 'claude-code');
    await settle(3_100);
    app.dispatch(setupEnded());
    const before = host.count('state');
    await settle(60_000);
    expect(host.count('state')).toBe(before);
  });

  it('[defect F81, F86] notices a sign-in made elsewhere, and the models that come with it; one attachment', async () => {
    const { host, root, watch, phases, a } = await hosted();
    watch();
    await settle(15_100);
    host.serving('live', A);
    await settle(5_100);
    expect([phases(), a.count('openEvents'), root().host.snapshot?.harnesses.length]).toEqual([
      { live: 'attached' },
      1,
      2,
    ]);
  });

  it('[defect P29] ends with the host: said once, and what is attached stays', async () => {
    const { window, host, root, watch, setup, phases } = await hosted(new HostClientDouble().serving('live', A));
    watch();
    setup('login', 'claude-code');
    host.vanish('state');
    await settle(600_000);
    expect(host.count('state')).toBe(2);
    expect(root().host.phase).toEqual({ name: 'gone', message: 'The host has ended.' });
    expect(window.seen('host/gone')).toBe(1);
    expect(window.logged.filter((line) => line.includes('The host has ended.'))).toHaveLength(1);
    expect(phases()['live']).not.toBe('closed');
  });

  it('a host that is gone is asked for nothing, but is looked for again where somebody wants that', async () => {
    const { host, root, select, refresh } = await hosted();
    host.vanish('state');
    const first = refresh();
    await settle();
    const selection = select();
    await settle();
    const ended = { phase: 'failed', message: 'The host has ended.' };
    expect([first(), selection()]).toEqual([ended, ended]);
    expect(host.count('select')).toBe(0);
    refresh();
    await settle();
    expect(root().host.phase).toEqual({ name: 'joined' });
  });
});

describe('what is asked of a host', () => {
  it('is done one after the other, and one that is refused does not keep the next from being done', async () => {
    const { host, select, open } = await hosted(new HostClientDouble().serving('live', A));
    const answer = host.hold('select');
    host.refuse('open', 'Busy.');
    const [first, second, third] = [select(), open('other'), select({ ...CODEX, model: 'm' })];
    await settle(1_000);
    expect(host.calls).toEqual(['state', 'select codex//']);
    answer();
    await settle();
    expect(host.calls).toEqual(['state', 'select codex//', 'open other', 'state', 'select codex/m/']);
    expect([first()?.phase, second(), third()?.phase]).toEqual(['done', { phase: 'failed', message: 'Busy.' }, 'done']);
  });

  it('is done once, however often it is said under one name', async () => {
    const { app, host } = await hosted(new HostClientDouble().serving('live', A));
    const intent = selectRequested('choice', CODEX);
    for (let times = 0; times < 3; times++) app.dispatch(intent);
    app.dispatch(selectRequested('choice', CODEX));
    await settle();
    app.dispatch(intent);
    await settle();
    expect(host.count('select')).toBe(1);
  });

  it('a new conversation is attached to in place of the old one', async () => {
    const { host, select, phases, a, b } = await hosted(new HostClientDouble().serving('live', A));
    host.serving('new', B, { sessions: [rowNamed('live'), rowNamed('new')] });
    const choice = select();
    await settle();
    expect(choice()).toEqual({ phase: 'done', result: { kind: 'select', activeSession: 'new' } });
    expect([phases(), a.stream.closed, b.count('openEvents')]).toEqual([{ live: 'closed', new: 'attached' }, true, 1]);
  });

  it('a selection that fails is asked about before anything is decided, and not made again', async () => {
    const { host, root, select, phases } = await hosted(new HostClientDouble().serving('live', A));
    host.refuse('select', 'Started, but there is no credential.');
    host.edit({ activeSession: 'new', sessions: [rowNamed('live'), rowNamed('new')], connection: undefined });
    const choice = select();
    await settle();
    expect(host.calls).toEqual(['state', 'select codex//', 'state']);
    expect(choice()).toEqual({ phase: 'failed', message: 'Started, but there is no credential.' });
    expect([root().host.snapshot?.activeSession, phases()]).toEqual(['new', { live: 'closed' }]);
  });

  it('[defect A15] a conversation that can’t be opened leaves the one that is open as it is, and is replaced by nothing', async () => {
    const { host, open, phases, a } = await hosted(new HostClientDouble().serving('live', A));
    host.refuse('open', 'Its history is not available.');
    const opening = open('gone');
    await settle(1_000);
    expect(opening()).toEqual({ phase: 'failed', message: 'Its history is not available.' });
    expect([phases(), a.count('openEvents'), a.stream.closed]).toEqual([{ live: 'attached' }, 1, false]);
    expect([host.count('open'), host.count('select')]).toEqual([1, 0]);
  });

  it('[defect A14] an opening during the start waits for what the start hands over', async () => {
    const host = new HostClientDouble().serving('live', A);
    const answer = host.hold('state');
    const { open, phases } = await hosted(host);
    const opening = open('live');
    await settle(3_000);
    expect(host.calls).toEqual(['state']);
    answer();
    await settle();
    expect(host.calls).toEqual(['state', 'open live']);
    expect([opening()?.phase, phases()]).toEqual(['done', { live: 'attached' }]);
  });

  it('[defect A10, A13] a conversation that starts afresh under its id is there, empty, once and usable', async () => {
    const host = new HostClientDouble().serving('live', A, {
      sessions: [rowNamed('live'), rowNamed('old', { identity: 'v1:x' })],
    });
    const { window, root, open, phases, b } = await hosted(host);
    host.edit({ sessions: [rowNamed('live'), rowNamed('old')], activeSession: 'old', connection: connectionTo(B) });
    open('old');
    await settle();
    expect([phases(), selectSavedHistory(root(), 'old')]).toEqual([{ live: 'closed', old: 'attached' }, []]);
    expect(selectConversationRows(root()).map(({ id, isBound }) => [id, isBound])).toEqual([
      ['live', false],
      ['old', false],
    ]);
    window.submit('hello', 'old');
    await settle();
    expect(b.calls.filter((call) => call.startsWith('sendInput'))).toEqual(['sendInput hello']);
  });

  it('the history of an opened conversation stands in where the runtime has no prompt saved', async () => {
    const saved = { role: 'user', text: 'before', images: 0, toolCalls: [], toolCallId: null } as const;
    const { host, root, open } = await hosted(new HostClientDouble().serving('live', A));
    host.history = [saved];
    host.serving('old', B, { sessions: [rowNamed('live'), rowNamed('old', { identity: 'v1:x' })] });
    open('old');
    await settle();
    expect(selectSavedHistory(root(), 'old')).toEqual([saved]);
    expect(selectSavedHistory(root(), 'live')).toEqual([]);
  });

  it('so it does where the conversation was attached to already, which goes on', async () => {
    const saved = { role: 'user', text: 'before', images: 0, toolCalls: [], toolCallId: null } as const;
    const host = new HostClientDouble().serving('live', A);
    host.editRow('live', { identity: 'v1:x' });
    const { root, open, a } = await hosted(host);
    host.history = [saved];
    open('live');
    await settle();
    expect([selectSavedHistory(root(), 'live'), a.count('openEvents')]).toEqual([[saved], 1]);
  });

  it('[defect F72] a step of the setup that is refused is looked at anew: most often it is done already', async () => {
    const { host, root, setup } = await hosted();
    host.refuse('setup', 'This step is no longer offered.');
    host.serving('live', A);
    const step = setup('login', 'codex');
    await settle();
    expect(step()).toEqual({ phase: 'failed', message: 'This step is no longer offered.' });
    expect([selectIsReady(root()), root().host.outstanding]).toEqual([true, null]);
    const again = setup('login', 'claude-code');
    await settle();
    expect(again()?.phase).toBe('done');
  });

  it('[defect F73] each step is run with the environment of its own answer', async () => {
    const { setup } = await hosted();
    const [install, login] = [setup('install', 'codex'), setup('login', 'codex')];
    await settle();
    expect([install(), login()].map((operation) => operation?.phase === 'done' && operation.result)).toMatchObject([
      { step: { env: { PATH: 'install' } } },
      { step: { env: { PATH: 'login' } } },
    ]);
  });

  it('a step of the setup does not wait for a start that takes its time', async () => {
    const { host, select, setup } = await hosted();
    host.hold('select');
    select();
    const step = setup('login', 'codex');
    await settle();
    expect(step()?.phase).toBe('done');
  });

  it('a binding asked for by hand is made, and its outcome told', async () => {
    const { host, root, ask } = await hosted(new HostClientDouble().serving('live', A));
    const refusedFirst = ask((operation) => rememberRequested(operation, 'live', 'native'));
    await settle();
    host.isSaved = true;
    const then = ask((operation) => rememberRequested(operation, 'live', 'native'));
    await settle();
    expect([refusedFirst()?.phase, then()?.phase]).toEqual(['failed', 'done']);
    expect(root().host.snapshot?.sessions[0]?.identity).toBe('v1:native');
  });

  it('keeps the newest operations, and every one that is still to be answered', async () => {
    const { host, root, select, refresh } = await hosted(new HostClientDouble().serving('live', A));
    host.hold('select');
    const choice = select();
    for (let times = 0; times < 100; times++) refresh();
    await settle();
    expect(choice()?.phase).toBe('asked');
    expect(Object.keys(root().host.operations).length).toBeLessThan(40);
    expect(host.count('state')).toBeLessThanOrEqual(3);
  });

  it('an attachment that is refused makes the host be asked once what holds now', async () => {
    const host = new HostClientDouble().serving('live', A);
    const { phases, a, b } = await hosted(host, false).then(async (scene) => {
      scene.a.refuse('openEvents', 'unauthenticated');
      await scene.window.join(host);
      return scene;
    });
    await settle(60_000);
    expect([phases(), host.count('state'), a.count('openEvents')]).toEqual([{ live: 'refused' }, 2, 1]);
    expect(b.calls).toEqual([]);
  });

  it('an attachment that failed is tried again where somebody opens the conversation', async () => {
    const { host, open, phases, a } = await hosted(new HostClientDouble(), true);
    a.refuse('openEvents', 'unauthenticated');
    host.serving('live', A);
    const first = open('live');
    await settle();
    expect([first()?.phase, phases()]).toEqual(['done', { live: 'refused' }]);
    open('live');
    await settle();
    expect(phases()).toEqual({ live: 'attached' });
  });

  it('nothing of it is left in the state that a secret could be in', async () => {
    const { root } = await hosted(new HostClientDouble().serving('live', A));
    expect(JSON.stringify(root().connections['live']?.target)).toContain('/private/credential-1');
    expect(JSON.stringify(root())).not.toMatch(/[0-9a-f]{64}/);
  });
});

describe('an answer of before', () => {
  it.each(['the reading', 'the selection'])(
    'is not taken for how things are after a selection: %s answers first',
    async (first) => {
      const { host, root, select, refresh, phases, a, b } = await hosted(new HostClientDouble().serving('live', A));
      const tellOld = host.holdWithOldNews();
      const reading = refresh();
      await settle();
      host.serving('new', B, { sessions: [rowNamed('live'), rowNamed('new')] });
      const answer = host.hold('select');
      const choice = select();
      await settle();
      for (const go of first === 'the reading' ? [tellOld, answer] : [answer, tellOld]) {
        go();
        await settle();
      }
      expect(root().host.snapshot?.activeSession).toBe('new');
      expect([phases(), reading()?.phase, choice()?.phase]).toEqual([
        { live: 'closed', new: 'attached' },
        'done',
        'done',
      ]);
      expect([a.count('openEvents'), b.count('openEvents'), host.count('select')]).toEqual([1, 1, 1]);
      expect(host.count('state')).toBe(2);
    },
  );

  it('is asked for again where the selection was refused meanwhile', async () => {
    const { host, root, select, refresh } = await hosted(new HostClientDouble().serving('live', A));
    const tellOld = host.holdWithOldNews();
    const reading = refresh();
    await settle();
    host.refuse('select');
    host.editRow('live', { title: 'Newer' });
    select();
    await settle();
    tellOld();
    await settle();
    expect(root().host.snapshot?.sessions[0]?.title).toBe('Newer');
    expect(reading()?.phase).toBe('done');
    // The old one, the one in its place, and what the refusal asked for in between.
    expect(host.count('state')).toBe(4);
  });

  it('whoever asks during a reading is told of the next one, all of them of one', async () => {
    const { host, refresh } = await hosted(new HostClientDouble().serving('live', A));
    const answer = host.hold('state');
    const first = refresh();
    await settle();
    const others = [refresh(), refresh(), refresh()];
    answer();
    await settle();
    expect([first, ...others].map((operation) => operation()?.phase)).toEqual(Array(4).fill('done'));
    expect(host.count('state')).toBe(3);
  });
});

it('a runtime’s own words and the host’s answer may come in either order: the turn goes on, and the list is right', async () => {
  for (const isFirst of [true, false]) {
    const host = new HostClientDouble().serving('live', A);
    const { window, root, refresh, a } = await hosted(host);
    a.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
    window.submit('hello', 'live');
    await settle();
    const answer = host.hold('state');
    refresh();
    await settle();
    host.editRow('live', { title: 'Named' });
    host.edit({ busy: true });
    const speak = () => {
      a.stream.send({ sequence: 1, kind: 'user_message', text: 'hello' }, { sequence: 2, kind: 'turn_started' });
    };
    for (const go of isFirst ? [answer, speak] : [speak, answer]) {
      go();
      await settle();
    }
    expect(root().turn['live']?.current.phase).toBe('running');
    expect(selectConversationRows(root())[0]?.title).toBe('Named');
    expect(a.count('sendInput')).toBe(1);
    await window.app.stop();
  }
});

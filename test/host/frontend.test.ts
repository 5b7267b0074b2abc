import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApp, type App } from '../../src/sagas/app.js';
import { hostSaga } from '../../src/sagas/host.js';
import { untilState } from '../../src/sagas/untilState.js';
import { selectConversation, selectOperation, selectUnsavedNotice } from '../../src/selectors/host.js';
import { selectSavedHistory } from '../../src/selectors/savedHistory.js';
import { hostFromEnvironment, nodeHostClient } from '../../src/services/node/host.js';
import { nodeServices } from '../../src/services/node/services.js';
import { watchedChanged } from '../../src/store/host.js';
import type { HostOperation } from '../../src/store/hostState.js';
import { openRequested, refreshRequested, selectRequested } from '../../src/store/hostIntents.js';
import { hostSlices } from '../../src/store/hostSlices.js';
import type { RootState } from '../../src/store/state.js';
import { submitRequested } from '../../src/store/turn.js';
import { CODEX, HostDouble } from '../doubles/host.js';

/** A whole frontend without an editor, on a host and its runtimes over real lines. */
class Frontend {
  readonly logged: string[] = [];
  readonly actions: string[] = [];
  readonly app: App;

  constructor(readonly host: HostDouble) {
    const log = (line: string) => this.logged.push(line);
    this.app = createApp({
      services: nodeServices({ log }),
      recorder: (createStore) => (reducer, preloaded) => {
        const store = createStore(reducer, preloaded);
        return {
          ...store,
          dispatch: (action) => {
            this.actions.push(JSON.stringify(action));
            return store.dispatch(action);
          },
        };
      },
    });
    const handover = hostFromEnvironment(host.environment);
    if (!handover) throw new Error('There is no host.');
    this.app.extend('host', hostSlices, hostSaga(nodeHostClient(handover, { log })));
    onTestFinished(() => this.app.stop());
  }

  get root(): RootState {
    return this.app.getState();
  }

  until(wanted: (root: RootState) => boolean): Promise<void> {
    return untilState(this.app, wanted);
  }

  async attached(id?: string): Promise<string> {
    const live = (root: RootState) =>
      Object.entries(root.connections).find(([of, { phase }]) => phase.name === 'attached' && (id ?? of) === of)?.[0];
    await this.until((root) => live(root) !== undefined);
    return live(this.root) ?? '';
  }

  async outcome(intent: (operation: string) => Parameters<App['dispatch']>[0]): Promise<HostOperation | undefined> {
    const operation = randomUUID();
    this.app.dispatch(intent(operation));
    await this.until((root) => selectOperation(root, operation)?.phase !== 'asked');
    return selectOperation(this.root, operation);
  }

  open(id: string) {
    return this.outcome((operation) => openRequested(operation, id));
  }

  select(harness = 'codex') {
    return this.outcome((operation) => selectRequested(operation, { harness, model: '', effort: '' }));
  }

  /** How the turn of a prompt ended. */
  async say(connection: string, prompt = 'hello'): Promise<string | undefined> {
    const turnId = randomUUID();
    this.app.dispatch(submitRequested({ connection, turnId, prompt, at: Date.now() }));
    const ended = (root: RootState) => root.turn[connection]?.ended.find((end) => end.turnId === turnId);
    await this.until((root) => ended(root) !== undefined);
    return ended(this.root)?.outcome;
  }

  isBound(id: string): Promise<void> {
    return this.until((root) => (root.identity[id]?.saved ?? null) !== null);
  }
}

async function frontend(prepare: (host: HostDouble) => void = () => undefined): Promise<Frontend> {
  const host = await HostDouble.start();
  onTestFinished(() => host.close());
  prepare(host);
  return new Frontend(host);
}

describe('a frontend on a host', () => {
  it('[defect A1, A2] the first prompt of a new conversation, a follow-up and an opening by another window each work', async () => {
    const window = await frontend();
    const { host } = window;
    const id = await window.attached();
    expect(await window.say(id)).toBe('succeeded');
    await window.isBound(id);
    expect(host.row(id)).toMatchObject({ identity: `v1:codex:${host.running?.nativeId}`, title: 'hello' });
    const tries = host.count('remember');
    expect(await window.say(id, 'more')).toBe('succeeded');
    expect([host.count('remember'), selectUnsavedNotice(window.root, id)]).toEqual([tries, undefined]);
    await window.select();
    await window.app.stop();

    const next = new Frontend(host);
    await next.attached();
    expect(await next.open(id)).toMatchObject({ phase: 'done', result: { activeSession: id } });
    await next.attached(id);
    expect(selectSavedHistory(next.root, id).map(({ text }) => text)).toContain('hello');
    expect(await next.say(id, 'again')).toBe('succeeded');
    await next.isBound(id);
    expect([host.rows.length, host.count('select')]).toEqual([2, 1]);
  });

  it('[defect A11] a dead identity of the active row is in no new conversation’s way', async () => {
    const window = await frontend();
    const id = await window.attached();
    window.host.row(id).identity = 'v1:codex:dead';
    expect(await window.say(id)).toBe('succeeded');
    await window.isBound(id);
    expect(window.host.row(id).identity).toBe(`v1:codex:${window.host.running?.nativeId}`);
  });

  it('[defect A10, A12] a conversation that is gone opens afresh; where nobody knows, it is refused and nothing changes', async () => {
    const window = await frontend();
    const { host } = window;
    const first = await window.attached();
    const gone = host.saved({ identity: 'v1:codex:gone' });
    host.otherSessions = 500;
    expect(await window.open(gone.id)).toMatchObject({ phase: 'failed' });
    expect([gone.identity, window.root.connections[first]?.phase.name]).toEqual(['v1:codex:gone', 'attached']);
    host.otherSessions = 0;
    expect(await window.open(gone.id)).toMatchObject({ phase: 'done' });
    await window.attached(gone.id);
    expect(selectSavedHistory(window.root, gone.id).filter(({ role }) => role !== 'system')).toEqual([]);
    expect(await window.say(gone.id)).toBe('succeeded');
  });

  it('[defect A13] a conversation in which nothing was said is opened again: its choice, its id, one row', async () => {
    const window = await frontend();
    const first = await window.attached();
    await window.select('claude-code');
    expect(await window.open(first)).toMatchObject({ phase: 'done' });
    await window.attached(first);
    expect(window.host.rows.map(({ id }) => id)).toHaveLength(2);
    expect(selectConversation(window.root, first)?.selection.harness).toBe('codex');
  });

  it('[defect A14] a conversation that is opened during the start is opened behind it, and one runtime starts', async () => {
    let handOver: () => void = () => undefined;
    let saved = '';
    const window = await frontend((host) => {
      saved = host.active = host.saved().id;
      host.next('state', { wait: new Promise<void>((resolve) => (handOver = resolve)) });
    });
    const opening = window.open(saved);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(window.host.calls.map(({ door }) => door)).toEqual(['state']);
    handOver();
    expect(await opening).toMatchObject({ phase: 'done', result: { activeSession: saved } });
    await window.attached(saved);
    expect([window.host.starts, window.host.count('open')]).toEqual([1, 1]);
  });

  it('[defect A15] a conversation that can’t be opened leaves the one that is open attached', async () => {
    const window = await frontend();
    const id = await window.attached();
    window.host.next('open', { refuse: 'Its history is not available.' });
    expect(await window.open(window.host.saved().id)).toEqual({
      phase: 'failed',
      message: 'Its history is not available.',
    });
    expect(await window.say(id)).toBe('succeeded');
    expect(window.host.starts).toBe(1);
  });

  it('a selection refused behind the start: the new row is active, nothing is attached, and nothing is tried again', async () => {
    const window = await frontend();
    const first = await window.attached();
    window.host.next('select', { refuseAfterStart: 'There is no credential.' });
    expect(await window.select()).toEqual({ phase: 'failed', message: 'There is no credential.' });
    expect([window.host.count('select'), window.host.rows.length]).toEqual([1, 2]);
    // The reading behind the refusal started the active row by itself, as a host may.
    const active = window.root.host.snapshot?.activeSession ?? '';
    expect(active).not.toBe(first);
    await window.attached(active);
    expect(window.root.connections[first]?.phase.name).toBe('closed');
  });

  it('a mutation whose answer is lost in a reset was refused, and how things stand is asked', async () => {
    const window = await frontend();
    await window.attached();
    window.host.next('select', { reset: true });
    expect(await window.select()).toMatchObject({ phase: 'failed' });
    expect([window.root.host.phase.name, window.host.count('select')]).toEqual(['joined', 1]);
    await window.attached(window.host.active ?? '');
    expect(
      Object.values(window.root.connections)
        .map(({ phase }) => phase.name)
        .toSorted(),
    ).toEqual(['attached', 'closed']);
  });

  it('another credential is noticed by its loss; the conversation and its turn go on', async () => {
    const window = await frontend();
    const id = await window.attached();
    expect(await window.say(id)).toBe('succeeded');
    const before = window.root.connections[id]?.target;
    await window.host.replaceCredential();
    await window.until((root) => root.connections[id]?.target !== before);
    await window.attached(id);
    expect(await window.say(id, 'more')).toBe('succeeded');
    expect(window.host.starts).toBe(1);
  });

  it('[defect P29] a host that ends is told of once; the runtime stays attached', async () => {
    const window = await frontend();
    const id = await window.attached();
    window.app.dispatch(watchedChanged({ watched: true }));
    window.host.crash();
    for (let times = 0; times < 3; times++) {
      expect(await window.outcome((operation) => refreshRequested(operation))).toMatchObject({ phase: 'failed' });
    }
    expect(window.root.host.phase.name).toBe('gone');
    expect(window.actions.filter((action) => action.includes('"host/gone"'))).toHaveLength(1);
    expect(await window.say(id)).toBe('succeeded');
    expect(selectUnsavedNotice(window.root, id)).toContain('submitted');
  });

  it('a host without an agent that can start is one to attach to as soon as one can', async () => {
    const window = await frontend((host) => (host.agents = [{ ...CODEX(), auth: 'missing' }]));
    await window.until((root) => root.host.snapshot !== null);
    expect(window.root.connections).toEqual({});
    window.host.agents = [CODEX()];
    await window.outcome((operation) => refreshRequested(operation));
    const id = await window.attached();
    expect(window.actions.filter((action) => action.includes('"connections/opened"'))).toHaveLength(1);
    expect(await window.say(id)).toBe('succeeded');
  });

  it('the secrets of host and runtime are in no action and no line of the log', async () => {
    const window = await frontend();
    await window.say(await window.attached());
    await window.select('nobody');
    const written = [...window.actions, ...window.logged].join('\n');
    expect(written).toContain('frontend-credential-1');
    expect(written).not.toContain(window.host.secret);
    expect(written).not.toMatch(/\b[0-9a-f]{64}\b/);
  });
});

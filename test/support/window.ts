import { vi } from 'vitest';
import { createApp, type App } from '../../src/sagas/app.js';
import { hostSaga } from '../../src/sagas/host.js';
import { selectNewParts, startCursor } from '../../src/selectors/newParts.js';
import type { ChatPart } from '../../src/selectors/parts.js';
import { selectTurn } from '../../src/selectors/turn.js';
import type { HostClient } from '../../src/services/host.js';
import { opened } from '../../src/store/connections.js';
import { hostSlices } from '../../src/store/hostSlices.js';
import { interruptRequested, submitRequested } from '../../src/store/turn.js';
import type { RequestStatus } from '../../src/store/requests.js';
import { RuntimeDouble } from '../doubles/runtime.js';

/** One client on fake time, attached to a double. Fake timers must be on. */
export class Window {
  readonly app: App;
  readonly logged: string[] = [];
  readonly actions: string[] = [];
  /** What the clock of the services says. */
  wall = () => Date.now();
  private readonly runtimes = new Map<string, RuntimeDouble>();
  private prompts = 0;
  private slept = 0;

  constructor(readonly runtime = new RuntimeDouble()) {
    this.app = createApp({
      checks: true,
      services: {
        runtime: ({ baseUrl }) => this.runtimes.get(baseUrl) ?? runtime,
        clock: { monotonic: () => performance.now() + this.slept, wall: () => this.wall() },
        newId: () => 'id',
        random: () => 0.5,
        log: (line) => this.logged.push(line),
      },
      recorder: (createStore) => (reducer, preloaded) => {
        const store = createStore(reducer, preloaded);
        return {
          ...store,
          dispatch: (action) => {
            this.actions.push(action.type);
            return store.dispatch(action);
          },
        };
      },
    });
  }

  /** Opens the connection and lets it attach. */
  async attach(): Promise<this> {
    this.open();
    await settle();
    return this;
  }

  /** Opens a connection; another one than `c` for a second conversation in the same window. */
  open(connection = 'c', runtime = this.runtime): void {
    const credential = { kind: 'secret', key: connection } as const;
    const baseUrl = `http://127.0.0.1:${this.runtimes.size + 1}`;
    this.serve(baseUrl, runtime);
    const target = { baseUrl, clientId: runtime.clientId, credential, permissions: null };
    this.app.dispatch(opened({ connection, origin: 'api', target }));
  }

  /** What answers at an address. */
  serve(baseUrl: string, runtime: RuntimeDouble): void {
    this.runtimes.set(baseUrl, runtime);
  }

  /** The editor was started by a host. */
  async join(host: HostClient): Promise<this> {
    this.app.extend('host', hostSlices, hostSaga(host));
    await settle();
    return this;
  }

  /** The machine sleeps: time passes and no timer runs. */
  sleep(ms: number): void {
    this.slept += ms;
  }

  /** Time passes with the runtime's signs of life, one every 15 s. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 15_000) {
      await settle(Math.min(left, 15_000));
      this.runtime.stream.keepAlive();
      await settle();
    }
  }

  submit(prompt = 'hello', connection = 'c'): string {
    const turnId = `mine-${++this.prompts}`;
    this.app.dispatch(submitRequested({ connection, turnId, prompt, at: Date.now() }));
    return turnId;
  }

  stop(): void {
    const turn = selectTurn(this.app.getState(), 'c');
    if (turn.phase !== 'idle') {
      this.app.dispatch(interruptRequested({ connection: 'c', turnId: turn.turnId, at: Date.now() }));
    }
  }

  get phase(): string {
    return selectTurn(this.app.getState(), 'c').phase;
  }

  get connection(): string | undefined {
    return this.app.getState().connections['c']?.phase.name;
  }

  /** How each turn ended, oldest first. */
  get endings(): readonly string[] {
    return (this.app.getState().turn['c']?.ended ?? []).map(({ turnId, outcome, message }) =>
      `${turnId} ${outcome} ${message}`.trim(),
    );
  }

  request(id: number, connection = 'c'): RequestStatus | undefined {
    return this.app.getState().requests[connection]?.[id]?.status;
  }

  get parts(): readonly ChatPart[] {
    return selectNewParts(this.app.getState(), 'c', startCursor(this.app.getState(), 'c')).parts;
  }

  /** All assistant text. */
  get text(): string {
    return this.parts.map((part) => (part.kind === 'markdown' ? part.text : '')).join('');
  }

  /** Sentences that are neither assistant text nor a tool. */
  get said(): readonly string[] {
    return this.parts.flatMap((part) =>
      part.kind === 'notice' || part.kind === 'warning' || part.kind === 'resolution' ? [part.text] : [],
    );
  }

  seen(type: string): number {
    return this.actions.filter((action) => action === type).length;
  }
}

/** Lets everything that is due now happen. */
export async function settle(ms = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

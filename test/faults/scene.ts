/** A client of ours that reaches an embedded runtime through the fault proxy, and what the runtime really said. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../src/runtime/embedded.js';
import type { EventPayload } from '../../src/runtime/wire.js';
import type { Outcome } from '../../src/store/transcript.js';
import { Client } from '../conformance/clientApp.js';
import { pause, Wire, type Stream } from '../conformance/wire.js';
import { onPublished } from '../support/published.js';
import { FaultProxy, type Faults } from './proxy.js';

/** What each session of a scene published. */
const heard = new Map<string, EventPayload[]>();
onPublished((session, payload) => heard.get(session.id)?.push(payload));

/** Times short enough for a test on real sockets; a keep-alive comes every 60 ms. */
const TIMINGS = { silence: 400, silentTurn: 300, grace: 300, snapshot: 1_500, firstPause: 10, longestPause: 80 };
const TIMEOUTS = { call: 1_500, prompt: 1_500, attach: 1_500, open: 1_500 };
const KEEP_ALIVE_MS = 60;
const CLIENT_ID = 'editor-1';

export interface SceneOptions {
  readonly faults?: Faults;
  /** Somebody else watches, which keeps what is asked alive while we are away. */
  readonly watched?: boolean;
  readonly timings?: Partial<typeof TIMINGS>;
}

/** What a runtime said of one prompt of ours. */
export interface Served {
  readonly text: string;
  /** Null where it died first. */
  readonly outcome: Outcome | null;
  readonly message: string;
}

export class Scene {
  readonly prompts: string[] = [];
  restarts = 0;
  readonly #watchers: Stream[] = [];
  #restarting: Promise<void> = Promise.resolve();

  private constructor(
    public runtime: EmbeddedRuntime,
    readonly proxy: FaultProxy,
    readonly client: Client,
    private readonly watched: boolean,
  ) {}

  /** Attached and in control. */
  static async open({ faults = {}, watched = false, timings = {} }: SceneOptions = {}): Promise<Scene> {
    const workspace = mkdtempSync(join(tmpdir(), 'faults-'));
    const runtime = await startEmbeddedRuntime({ workspace, keepAliveMs: KEEP_ALIVE_MS });
    heard.set(runtime.sessionId, []);
    const proxy = await new FaultProxy({ url: runtime.url, token: runtime.mint(CLIENT_ID) }).listen();
    const { url, token } = proxy;
    const client = new Client({
      url,
      token,
      clientId: CLIENT_ID,
      checks: false,
      timings: { ...TIMINGS, ...timings },
      timeouts: TIMEOUTS,
    });
    const scene = new Scene(runtime, proxy, client, watched);
    if (watched) await scene.watch();
    await client.attach();
    await client.inControl();
    proxy.faults = faults;
    return scene;
  }

  /** With the client's own checks. */
  async close(): Promise<void> {
    try {
      await this.client.close();
    } finally {
      for (const watcher of this.#watchers) await watcher.close();
      this.proxy.close();
      await this.runtime.kill();
      heard.delete(this.runtime.sessionId);
      await rm(this.runtime.workspace, { recursive: true, force: true });
    }
  }

  submit(prompt: string): string {
    this.prompts.push(prompt);
    return this.client.submit(prompt);
  }

  /** How often a runtime took a prompt. */
  taken(prompt: string): number {
    return this.published().filter(({ type, text }) => type === 'user_message' && text === prompt).length;
  }

  /** What was published of the turn of a prompt, the `nth` of those words; undefined where it never reached a runtime. */
  served(prompt: string, nth = 0): Served | undefined {
    const said = this.published();
    const starts = said.flatMap(({ type, text }, at) => (type === 'user_message' && text === prompt ? [at] : []));
    expect(starts.length, `the runtime got "${prompt}" more than once`).toBeLessThanOrEqual(nth + 1);
    const start = starts[nth];
    if (start === undefined) return undefined;
    const next = said.findIndex(({ type }, at) => at > start && type === 'user_message');
    const turn = said.slice(start + 1, next < 0 ? said.length : next);
    const end = turn.find(({ type }) => type in OUTCOMES);
    return {
      text: turn.map(({ type, text }) => (type === 'text_delta' && typeof text === 'string' ? text : '')).join(''),
      outcome: end ? (OUTCOMES[end.type] ?? null) : null,
      message: typeof end?.['message'] === 'string' ? end['message'] : '',
    };
  }

  /** Every payload that the runtime (and the one that it continues) published, in order. */
  published(): readonly EventPayload[] {
    return heard.get(this.runtime.sessionId) ?? [];
  }

  /** A killed runtime and one that continues its session, numbering from 1. `known`: the old credential still goes. */
  restart(known = true): Promise<void> {
    this.#restarting = this.#restarting.then(() => this.#restart(known));
    return this.#restarting;
  }

  async #restart(known: boolean): Promise<void> {
    const { proxy, runtime } = this;
    this.restarts += 1;
    proxy.upstream = null;
    await runtime.kill();
    proxy.cut();
    const { workspace, sessionId } = runtime;
    const history = runtime.history();
    this.runtime = await startEmbeddedRuntime({ workspace, sessionId, history, keepAliveMs: KEEP_ALIVE_MS });
    const token = known ? this.runtime.mint(CLIENT_ID) : 'e'.repeat(64);
    // A process takes its time to start: nobody meets the new one through a stream of the old one.
    await pause(30);
    proxy.upstream = { url: this.runtime.url, token };
    if (this.watched) await this.watch();
  }

  /** A fresh credential for the runtime that is there now, handed over as a host would. */
  async handOver(): Promise<void> {
    this.proxy.upstream = { url: this.runtime.url, token: this.runtime.mint(CLIENT_ID) };
    await this.client.attach();
  }

  async watch(): Promise<void> {
    const { url } = this.runtime;
    const stream = await new Wire(url, {
      token: this.runtime.mint('watcher-1', 'observer'),
      clientId: 'watcher-1',
    }).listen();
    this.#watchers.push(stream);
  }

  async isBusy(): Promise<boolean> {
    const { url, ownerToken: token } = this.runtime;
    try {
      return (await new Wire(url, { token }).describe()).turn_state === 'busy';
    } catch {
      // It is just being restarted.
      return true;
    }
  }

  /** Another client that takes control, and then sends its prompt where it has one. */
  async rival(prompt?: string): Promise<void> {
    const { url } = this.runtime;
    const wire = new Wire(url, { token: this.runtime.mint('rival-1'), clientId: 'rival-1' });
    try {
      await wire.call('take_control');
      if (prompt !== undefined) await wire.call('send_input', { prompt });
    } catch {
      // The runtime was just killed.
    }
  }

  /** How often an answer was accepted, for each request of each process of the runtime. */
  accepted(): readonly number[] {
    const counts = new Map<string, number>();
    for (const { name, params, answer, upstream } of this.proxy.calls) {
      if (name !== 'respond' || answer?.result === undefined) continue;
      const request = `${upstream ?? ''} ${(params['response'] as { request_id: number }).request_id}`;
      counts.set(request, (counts.get(request) ?? 0) + 1);
    }
    return [...counts.values()];
  }
}

/** A scene for one test, closed behind it. */
export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const scene = await Scene.open(options);
  onTestFinished(() => scene.close());
  return scene;
}

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  turn_succeeded: 'succeeded',
  turn_failed: 'failed',
  turn_interrupted: 'interrupted',
};

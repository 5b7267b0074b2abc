import { startEmbeddedRuntime, type EmbeddedRuntime, type EmbeddedRuntimeOptions } from '../../src/runtime/embedded.js';
import { Wire } from '../conformance/wire.js';
import { FaultProxy, type Faults } from '../faults/proxy.js';
import { AttachedEditor, until, type AttachedOptions } from './attachedEditor.js';

const CLIENT_ID = 'editor-1';

export interface ProxiedOptions extends Omit<AttachedOptions, 'start'> {
  readonly faults?: Faults;
}

/** An attached editor with a proxy in between: a test sees each call, says what becomes of it, and restarts the runtime. */
export class ProxiedEditor {
  private constructor(
    readonly attached: AttachedEditor,
    readonly proxy: FaultProxy,
    private readonly place: { runtime: EmbeddedRuntime; asked: EmbeddedRuntimeOptions },
  ) {}

  static async open({ faults = {}, ...options }: ProxiedOptions = {}): Promise<ProxiedEditor> {
    const place: { runtime?: EmbeddedRuntime; proxy?: FaultProxy; asked: EmbeddedRuntimeOptions } = { asked: {} };
    const start = async (asked: EmbeddedRuntimeOptions): Promise<EmbeddedRuntime> => {
      const runtime = await startEmbeddedRuntime(asked);
      const proxy = await new FaultProxy({ url: runtime.url, token: runtime.mint(CLIENT_ID) }).listen();
      proxy.faults = faults;
      Object.assign(place, { runtime, proxy, asked });
      const kill = async () => {
        proxy.close();
        await place.runtime?.kill();
      };
      // The proxy's token is good for whichever runtime is behind it.
      return { ...runtime, url: proxy.url, mint: () => proxy.token, kill };
    };
    const attached = await AttachedEditor.open({ ...options, start });
    const { runtime, proxy } = place;
    if (!runtime || !proxy) throw new Error('nothing was started');
    return new ProxiedEditor(attached, proxy, Object.assign(place, { runtime }));
  }

  /** The process that is behind the proxy now. */
  get runtime(): EmbeddedRuntime {
    return this.place.runtime;
  }

  get phase(): string | undefined {
    return this.attached.api.connections.find(({ id }) => id === 'environment')?.phase;
  }

  /**
   * Another process goes on with the session: its sequences and request ids begin at 1 again.
   *
   * @param before what happens there before this editor finds it
   */
  async restart(before?: () => Promise<unknown>): Promise<void> {
    await this.lose();
    await this.startAgain(before);
    await until(() => this.phase === 'attached', 'an attachment to the new process');
  }

  /** As `restart`, while this editor is not there to see it. */
  async restartUnseen(): Promise<void> {
    await this.runtime.kill();
    await this.startAgain();
  }

  private async startAgain(before?: () => Promise<unknown>): Promise<void> {
    const { workspace, sessionId } = this.runtime;
    const history = this.runtime.history();
    this.place.runtime = await startEmbeddedRuntime({ ...this.place.asked, workspace, sessionId, history });
    await before?.();
    this.proxy.upstream = { url: this.runtime.url, token: this.runtime.mint(CLIENT_ID) };
  }

  /** The runtime is killed, and nobody is there. */
  async lose(): Promise<void> {
    this.proxy.upstream = null;
    await this.runtime.kill();
    this.proxy.cut();
    await until(() => this.phase !== 'attached', 'the loss');
  }

  /** Another client of the runtime, beside the proxy. */
  rival(clientId = 'rival-1'): Wire {
    return new Wire(this.runtime.url, { token: this.runtime.mint(clientId), clientId });
  }

  /** The answers that a runtime took, each as its request and what was answered. */
  get accepted(): readonly string[] {
    return this.proxy.calls.flatMap(({ name, params, answer }) => {
      if (name !== 'respond' || answer?.result === undefined) return [];
      const { request_id, decision, action } = params['response'] as Record<string, unknown>;
      return `${String(request_id)} ${String(decision ?? action)}`;
    });
  }
}

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../../src/runtime/embedded.js';
import type { ChatMessage } from '../../../src/runtime/wire.js';
import { createRuntimeClient } from '../../../src/services/runtime.js';
import type { RuntimeClient } from '../../../src/services/services.js';

/** The environment handover once more: the value of `connection`. */
export type WireConnection = Readonly<Record<string, string>>;

/** What a harness has of one session: what its listing shows and what it is resumed from. */
export interface Session {
  readonly nativeId: string;
  readonly harness: string;
  readonly cwd: string;
  readonly title: string;
  readonly history: readonly ChatMessage[];
}

/** One harness's process of a host: an embedded runtime, and the one credential that is handed over for it. */
export class Running {
  connection: WireConnection | undefined;
  private readonly watcher: RuntimeClient;

  private constructor(
    readonly runtime: EmbeddedRuntime,
    readonly harness: string,
    private readonly folder: string,
  ) {
    this.watcher = createRuntimeClient({
      target: { baseUrl: runtime.url, clientId: 'host', credential: { kind: 'secret', key: '' }, permissions: null },
      readCredential: () => Promise.resolve(runtime.ownerToken),
    });
  }

  static async start(harness: string, cwd: string, folder: string, session?: Session): Promise<Running> {
    const resumed = session && { sessionId: session.nativeId, history: session.history };
    return new Running(await startEmbeddedRuntime({ workspace: cwd, ...resumed }), harness, folder);
  }

  get nativeId(): string {
    return this.runtime.sessionId;
  }

  /** A new credential in a new file; what was handed over before is worth nothing. */
  async handOver(number: number): Promise<WireConnection> {
    await this.revoke();
    const clientId = `volter-editor-${process.pid}-${number.toString(16).padStart(8, '0')}`;
    const file = join(this.folder, `frontend-credential-${number}`);
    writeFileSync(file, this.runtime.mint(clientId), { mode: 0o600 });
    this.connection = {
      SUPERCODE_FRONTEND_URL: this.runtime.url,
      SUPERCODE_FRONTEND_CLIENT_ID: clientId,
      SUPERCODE_FRONTEND_CREDENTIAL_FILE: file,
      SUPERCODE_FRONTEND_PERMISSIONS: 'observe,interact,approve',
    };
    return this.connection;
  }

  async revoke(): Promise<void> {
    if (!this.connection) return;
    rmSync(this.connection['SUPERCODE_FRONTEND_CREDENTIAL_FILE'] ?? '', { force: true });
    const clientId = this.connection['SUPERCODE_FRONTEND_CLIENT_ID'];
    this.connection = undefined;
    await fetch(`${this.runtime.url}/_supercode/frontend-credentials/revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.runtime.ownerToken}` },
      body: JSON.stringify({ clientId }),
    }).catch(() => undefined);
  }

  async isBusy(): Promise<boolean> {
    return (await this.watcher.describe()).turnState === 'busy';
  }

  /** As the harness would list it: only once a prompt made it write its transcript. */
  async session(cwd: string): Promise<Session | undefined> {
    const { history, replay } = await this.watcher.attach();
    const prompt =
      history.find(({ role }) => role === 'user')?.text ??
      replay.flatMap((event) => (event.kind === 'user_message' ? [event.text] : []))[0];
    if (prompt === undefined) return undefined;
    return { nativeId: this.nativeId, harness: this.harness, cwd, title: prompt, history: this.runtime.history() };
  }

  async stop(): Promise<void> {
    await this.revoke();
    await this.runtime.kill();
  }
}

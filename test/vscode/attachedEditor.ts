import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startEmbeddedRuntime, type EmbeddedRuntime, type EmbeddedRuntimeOptions } from '../../src/runtime/embedded.js';
import type { FrontendApi } from '../../src/vscode/api.js';
import { activate } from '../../src/vscode/extension.js';
import { PROPOSALS } from '../../src/vscode/grants.js';
import { FakeEditor, type FakeEditorOptions, type RequestOptions, type TurnDouble } from '../doubles/editor.js';

export interface AttachedOptions {
  /** Whether the editor grants the proposals. */
  readonly granted?: boolean;
  readonly runtime?: EmbeddedRuntimeOptions;
  /** What stands for the runtime; an embedded one when absent. */
  readonly start?: (options: EmbeddedRuntimeOptions) => Promise<EmbeddedRuntime>;
  readonly permissions?: string;
  readonly editor?: FakeEditorOptions;
  /** What the editor has in front of the extension. */
  readonly prepare?: (editor: FakeEditor) => void;
}

/** The extension in a fake editor, attached over loopback to an embedded runtime of its own. Ends with the test. */
export class AttachedEditor {
  private constructor(
    readonly editor: FakeEditor,
    readonly runtime: EmbeddedRuntime,
    readonly api: FrontendApi,
    private readonly participant: string,
  ) {}

  static async open(options: AttachedOptions = {}): Promise<AttachedEditor> {
    const { granted = false, permissions = 'observe,interact,approve', start = startEmbeddedRuntime } = options;
    const workspace = mkdtempSync(join(tmpdir(), 'attached-'));
    const runtime = await start({ workspace, ...options.runtime });
    handOver(runtime, permissions);
    const editor = new FakeEditor({ proposals: granted ? PROPOSALS : [], folders: [workspace], ...options.editor });
    options.prepare?.(editor);
    const api = activate(editor.context);
    onTestFinished(async () => {
      clearHandover();
      for (const each of [...editor.context.subscriptions]) await (each.dispose() as unknown);
      await runtime.kill();
      rmSync(workspace, { recursive: true, force: true });
    });
    await until(() => api.connections.some(({ phase }) => phase === 'attached'));
    return new AttachedEditor(editor, runtime, api, granted ? 'supercode.chat.default' : 'supercode.chat');
  }

  send(prompt: string, options?: RequestOptions): TurnDouble {
    return this.editor.send(this.participant, prompt, options);
  }

  /** Runs a command of the extension, as the palette does. */
  async run(name: string, argument?: unknown): Promise<void> {
    await this.editor.host.commands.get(`supercode.frontend.${name}`)?.(argument);
  }

  /** Clicks the button of this title, the newest of that name or the one at `at`. */
  async click(turn: TurnDouble, title: string, at?: number): Promise<void> {
    await turn.stream.until(({ buttons }) => buttons.filter((button) => button.title === title).length > (at ?? 0));
    const matching = turn.stream.buttons.filter((button) => button.title === title);
    const button = at === undefined ? matching.at(-1) : matching[at];
    await this.editor.host.commands.get(button?.command ?? '')?.(...((button?.arguments ?? []) as unknown[]));
  }

  /** What the status bar has narrated. */
  get narrated(): readonly string[] {
    return this.editor.host.statusMessages.map(({ text }) => text);
  }
}

const VARIABLES = [
  'URL',
  'CLIENT_ID',
  'CREDENTIAL_FILE',
  'PERMISSIONS',
  'UNAVAILABLE',
  'HOST_URL',
  'HOST_CREDENTIAL_FILE',
] as const;

/** Puts a handover into the environment, as a product does that starts an editor. */
export function handOver(
  runtime: EmbeddedRuntime,
  permissions = 'observe,interact,approve',
  clientId = 'editor-1',
): void {
  const file = join(runtime.workspace, `.${clientId}.token`);
  rmSync(file, { force: true });
  writeFileSync(file, runtime.mint(clientId), { mode: 0o600 });
  process.env['SUPERCODE_FRONTEND_URL'] = runtime.url;
  process.env['SUPERCODE_FRONTEND_CLIENT_ID'] = clientId;
  process.env['SUPERCODE_FRONTEND_CREDENTIAL_FILE'] = file;
  process.env['SUPERCODE_FRONTEND_PERMISSIONS'] = permissions;
}

export function clearHandover(): void {
  for (const name of VARIABLES) Reflect.deleteProperty(process.env, `SUPERCODE_FRONTEND_${name}`);
}

/** Polls: what is waited for is on the other side of a socket. */
export async function until(isSo: () => boolean, what = 'it'): Promise<void> {
  const started = performance.now();
  while (!isSo()) {
    if (performance.now() - started > 10_000) throw new Error(`${what} did not come to be`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A prompt that the embedded runtime's model answers as these steps say. */
export function script(...steps: readonly object[]): string {
  return `[[script]] ${JSON.stringify(steps)}`;
}

/** A tool call that asks first. */
export const bash = (command: string, id = 'call-1') => ({ name: 'bash', id, args: { command } });

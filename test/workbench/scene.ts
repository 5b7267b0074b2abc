import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { inject } from 'vitest';
import { startWorkbench, type Workbench } from '../../scripts/workbench.mjs';
import { startEmbeddedRuntime, type EmbeddedRuntime, type EmbeddedRuntimeOptions } from '../../src/runtime/embedded.js';
import { Wire } from '../conformance/wire.js';
import { drawn, openChat, openPage, stopButton, waitForModel, type OpenPage } from './page.js';

const SHOTS = join(import.meta.dirname, '../../.cache/workbench');

export interface SceneOptions {
  readonly host: 'stock' | 'granted';
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly runtime?: EmbeddedRuntimeOptions;
  readonly env?: Readonly<Record<string, string>>;
  /** Starts what stands for the runtime; an embedded one when absent. */
  readonly start?: (options: EmbeddedRuntimeOptions) => Promise<EmbeddedRuntime>;
  /** Has a product's own extension beside ours: `run` goes through it. */
  readonly product?: { readonly hasCards: boolean };
}

const CLIENT_ID = 'editor-1';
const MODEL = 'Volter Harness · scripted/model';

/** A workbench with the extension installed from its package, attached to an embedded runtime of its own. */
export class Scene {
  readonly tokens: string[] = [];

  private constructor(
    readonly host: SceneOptions['host'],
    public runtime: EmbeddedRuntime,
    readonly workbench: Workbench,
    readonly open: OpenPage,
    public chat: Locator,
    private readonly productPort: number,
  ) {}

  static async open({
    host,
    settings = {},
    runtime: options = {},
    env = {},
    start = startEmbeddedRuntime,
    product,
  }: SceneOptions): Promise<Scene> {
    const workspace = join(mkdtempSync(join(tmpdir(), 'workbench-runtime-')), 'demo');
    mkdirSync(workspace);
    const runtime = await start({ workspace, ...options });
    const port = product ? await freePort() : 0;
    const token = runtime.mint(CLIENT_ID);
    const workbench = await startWorkbench({
      vsix: inject('vsix')[host],
      beside: product ? [inject('vsix').product] : [],
      proposals: host === 'granted',
      env: {
        ...handover(runtime, CLIENT_ID, token),
        ...(product ? { PRODUCT_PORT: String(port), PRODUCT_HAS_CARDS: product.hasCards ? '1' : '0' } : {}),
        ...env,
      },
      settings: { 'chat.agent.collapseCompletedResponses': false, ...settings },
      folder: runtime.workspace,
    });
    const open = await openPage(workbench.url);
    const chat = await openChat(open.page);
    await waitForModel(chat, MODEL);
    const scene = new Scene(host, runtime, workbench, open, chat, port);
    scene.tokens.push(token);
    return scene;
  }

  get page(): Page {
    return this.open.page;
  }

  /** Runs a command as the product's own extension would; what it came to, as JSON. */
  async run(command: string, ...args: readonly unknown[]): Promise<unknown> {
    const response = await this.post(JSON.stringify({ command, args }));
    const { result, error } = (await response.json()) as { readonly result?: unknown; readonly error?: string };
    if (error !== undefined) throw new Error(error);
    return result;
  }

  /** The product's extension begins some time after the window, and anew with each reload. */
  private async post(body: string): Promise<Response> {
    for (const deadline = Date.now() + 15_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
      try {
        return await fetch(`http://127.0.0.1:${this.productPort}`, { method: 'POST', body });
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  /** In front of a prompt: the stock editor has the extension answer a mention only. */
  get at(): string {
    return this.host === 'stock' ? '@supercode ' : '';
  }

  /** Leaves what was said before behind; what still runs is stopped, so that one failure does not make others. */
  async newChat(): Promise<void> {
    await stopButton(this.chat)
      .click({ timeout: 300 })
      .catch(() => undefined);
    const rows = this.chat.locator('.interactive-list .monaco-list-rows .monaco-list-row');
    // Of an empty chat nothing would show when the new one is there.
    if ((await rows.count()) === 0) return;
    await this.page
      .locator('.part.auxiliarybar')
      .getByRole('button', { name: /^New Chat/ })
      .first()
      .click();
    for (let left = await rows.count(); left > 0; left = await rows.count()) {
      await rows.first().waitFor({ state: 'detached' });
    }
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await drawn(this.page);
    this.chat = await openChat(this.page);
    await waitForModel(this.chat, MODEL);
  }

  async isBusy(): Promise<boolean> {
    const { url, ownerToken: token } = this.runtime;
    return (await new Wire(url, { token }).describe()).turn_state === 'busy';
  }

  killRuntime(): Promise<void> {
    return this.runtime.kill();
  }

  /** A process that continues the session where the one before was, with sequences from 1 and a credential of its own. */
  async startRuntimeAgain(): Promise<void> {
    const { workspace, sessionId, url } = this.runtime;
    const history = this.runtime.history();
    this.runtime = await startEmbeddedRuntime({ workspace, sessionId, history, port: Number(new URL(url).port) });
    const token = this.runtime.mint(CLIENT_ID);
    handover(this.runtime, CLIENT_ID, token);
    this.tokens.push(token);
  }

  shot(name: string): Promise<void> {
    return takeShot(this.page, `${this.host}-${name}`);
  }

  async close(): Promise<void> {
    await this.open.close();
    await this.workbench.stop();
    await this.runtime.kill();
    rmSync(dirname(this.runtime.workspace), { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A picture of the window, in .cache/workbench. */
export async function takeShot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  // A row that the pointer is over opens a preview.
  await page.mouse.move(5, 5);
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

/** What a product puts into the environment of an editor that it starts. */
export function handover(
  runtime: Pick<EmbeddedRuntime, 'url' | 'workspace'>,
  clientId: string,
  token: string,
): Record<string, string> {
  const file = join(runtime.workspace, '..', `${clientId}.token`);
  rmSync(file, { force: true });
  writeFileSync(file, token, { mode: 0o600 });
  return {
    SUPERCODE_FRONTEND_URL: runtime.url,
    SUPERCODE_FRONTEND_CLIENT_ID: clientId,
    SUPERCODE_FRONTEND_CREDENTIAL_FILE: file,
    SUPERCODE_FRONTEND_PERMISSIONS: 'observe,interact,approve',
  };
}

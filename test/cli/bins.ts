import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as requestTo } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { buildSync } from 'esbuild';
import { afterAll } from 'vitest';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../src/runtime/embedded.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const VERSION = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
}

/** A program that runs. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  /** Resolves when the program has written this (a pattern: without what colours it); rejects where it ends before. */
  readonly wrote: (text: string | RegExp) => Promise<void>;
}

export interface Bins {
  readonly chat: string;
  readonly replay: string;
}

/** The tests of a file run side by side, so what they leave is cleared away behind the last. */
const leftovers: (() => unknown)[] = [];

function clearAway(leftover: () => unknown): void {
  if (leftovers.length === 0) {
    afterAll(async () => {
      for (const each of leftovers.splice(0).reverse()) await each();
    });
  }
  leftovers.push(leftover);
}

/** Both programs, whole and fit for production: that halves the time that each of many starts takes. */
export function buildBins(): Bins {
  const outdir = mkdtempSync(join(tmpdir(), 'supercode-bins-'));
  buildSync({
    entryPoints: [join(root, 'src/cli/chat.ts'), join(root, 'src/cli/replay.ts')],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    define: { __PRODUCT_VERSION__: JSON.stringify(VERSION), 'process.env.NODE_ENV': '"production"' },
  });
  clearAway(() => {
    rmSync(outdir, { recursive: true, force: true });
  });
  return { chat: join(outdir, 'chat.mjs'), replay: join(outdir, 'replay.mjs') };
}

export function start(command: string, args: readonly string[], { env = {}, input }: RunOptions = {}): Running {
  const inherited = Object.entries(process.env).filter(
    ([key]) => !/^(?:SUPERCODE_|NO_COLOR|FORCE_COLOR|CI$)/.test(key),
  );
  const child = spawn(command, args, { env: { ...Object.fromEntries(inherited), ...env } });
  clearAway(() => {
    child.kill('SIGKILL');
  });
  const written = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      for (const look of waiting) look();
    });
  }
  // A program that does not read its input may be gone before all of it is written.
  child.stdin.on('error', () => undefined);
  if (input !== undefined) child.stdin.end(input);
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, ...written });
    });
  });
  return {
    child,
    ended,
    wrote: (text) =>
      new Promise((resolve, reject) => {
        const isIn = (output: string) => (typeof text === 'string' ? output.includes(text) : text.test(plain(output)));
        const look = () => {
          if (!isIn(written.stdout) && !isIn(written.stderr)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        void ended.then(({ code }) => {
          reject(
            new Error(`Ended with ${code} before it wrote ${String(text)}:\n${written.stdout}\n${written.stderr}`),
          );
        });
      }),
  };
}

/** What was written in all, without what moves the cursor or colours. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/\x1b[78D]/g, '');
}

/** Runs a program to its end, without a terminal. */
export function run(bin: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return start(process.execPath, [bin, ...args], { input: '', ...options }).ended;
}

/** Runs a program on a terminal of its own: what is written to its input is typed there. */
export function onTerminal(bin: string, args: readonly string[], env: RunOptions['env'] = {}): Running {
  const quoted = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const command = `stty cols 90 rows 40; exec ${quoted}`;
  return start('script', ['-qfec', command, '/dev/null'], { env: { TERM: 'xterm-256color', ...env } });
}

/** A folder that only this user can use, gone after the test. */
export function privateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'supercode-cli-'));
  chmodSync(folder, 0o700);
  clearAway(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

export interface Attachable {
  readonly runtime: EmbeddedRuntime;
  readonly token: string;
  readonly credentialFile: string;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A runtime outside of the program, with a credential for it. */
export async function startRuntime(clientId = 'cli-test'): Promise<Attachable> {
  const runtime = await startEmbeddedRuntime();
  clearAway(() => runtime.kill());
  const token = runtime.mint(clientId);
  const credentialFile = join(privateFolder(), 'credential');
  writeFileSync(credentialFile, token, { mode: 0o600 });
  return {
    runtime,
    token,
    credentialFile,
    flags: ['--url', runtime.url, '--client-id', clientId, '--credential-file', credentialFile],
    env: {
      SUPERCODE_FRONTEND_URL: runtime.url,
      SUPERCODE_FRONTEND_CLIENT_ID: clientId,
      SUPERCODE_FRONTEND_CREDENTIAL_FILE: credentialFile,
      SUPERCODE_FRONTEND_PERMISSIONS: 'observe,interact,approve',
    },
  };
}

/** The address of a runtime that answers like another, except to one method: a call of that is never answered. */
export async function deafTo(method: string, url: string): Promise<string> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      if (body.includes(`"${method}"`)) return;
      const headers = { ...request.headers, host: new URL(url).host };
      const options = { method: request.method, headers, agent: false } as const;
      const onward = requestTo(new URL(request.url ?? '/', url), options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  clearAway(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A prompt that has the embedded runtime's agent do what is said here. */
export function scripted(...steps: readonly object[]): string {
  return `[[script]]${JSON.stringify(steps)}`;
}

export function bash(command: string, id = 'call_1'): object {
  return { name: 'bash', args: { command }, id };
}

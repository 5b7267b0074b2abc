import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

/** Enough for any demo; a command that prints without end must not fill the memory of its host. */
const OUTPUT_LIMIT = 1024 * 1024;
const POSIX = process.platform !== 'win32';

/** A shell command with its whole process group; killing it leaves nothing behind. */
export class Command {
  readonly pid: number | undefined;
  exitCode: number | undefined;
  killed = false;
  truncated = false;
  readonly startedAtMs = Date.now();
  /** Resolves when the command has ended and both of its outputs are closed. */
  readonly finished: Promise<void>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  #stdout = '';
  #stderr = '';
  #printed = '';
  #reported = 0;

  constructor(
    readonly line: string,
    cwd: string,
  ) {
    const child = spawn(line, {
      cwd,
      shell: true,
      detached: POSIX,
      env: withoutOurSecrets(process.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.pid = child.pid;
    this.finished = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => {
        this.exitCode = code ?? -1;
        // A shell may end and leave a worker behind that still holds the pipes; lasting work is background work.
        this.#killGroup();
      });
      child.once('close', () => {
        resolve();
      });
    });
    // The caller may have gone (interrupt) by the time a spawn fails.
    this.finished.catch(() => undefined);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stdout = this.#grow(this.#stdout, chunk);
      this.#printed = this.#grow(this.#printed, chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr = this.#grow(this.#stderr, chunk);
      this.#printed = this.#grow(this.#printed, chunk);
    });
  }

  /** Everything printed so far, in the order in which it came. */
  get printed(): string {
    return this.#printed;
  }

  /** What was printed since the last call. */
  takeNewOutput(): string {
    const fresh = this.#printed.slice(this.#reported);
    this.#reported = this.#printed.length;
    return fresh;
  }

  /** The standard output, then the standard error. */
  get output(): string {
    const separator = this.#stdout === '' || this.#stdout.endsWith('\n') || this.#stderr === '' ? '' : '\n';
    return `${this.#stdout}${separator}${this.#stderr}`;
  }

  kill(): void {
    if (this.exitCode !== undefined) return;
    this.killed = true;
    this.#killGroup();
    this.#child.kill('SIGKILL');
  }

  #grow(soFar: string, chunk: string): string {
    if (soFar.length + chunk.length <= OUTPUT_LIMIT) return soFar + chunk;
    this.truncated = true;
    return (soFar + chunk).slice(0, OUTPUT_LIMIT);
  }

  #killGroup(): void {
    if (!POSIX || this.pid === undefined) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // The group is already gone.
    }
  }
}

/** Credentials handed to the host of this runtime are no business of the commands it runs. */
const withoutOurSecrets = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SUPERCODE_')));

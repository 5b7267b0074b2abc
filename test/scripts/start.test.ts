import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { onTerminal, plain, privateFolder, run, type Running } from '../cli/bins.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CTRL_C = '\x03';
const CTRL_D = '\x04';
const PROMPT = /› $/;

/** What fakeCode.cjs wrote down. */
interface Record {
  readonly args: readonly string[];
  readonly handover: Readonly<globalThis.Record<string, string>>;
  readonly token: string;
  readonly mode: number;
  readonly settings: Readonly<globalThis.Record<string, unknown>>;
  readonly extension: string;
  readonly manifest: Readonly<globalThis.Record<string, unknown>>;
  readonly main: boolean;
  readonly descriptor: { readonly actions: Readonly<globalThis.Record<string, boolean>> };
  readonly system: string;
  readonly window: number;
}

/** A checkout in which nothing has been built yet: what is built there is in nobody's way. */
const checkout = privateFolder();
const start = join(checkout, 'scripts/start.mjs');

beforeAll(() => {
  for (const path of ['package.json', 'scripts', 'src', 'media', 'README.md', 'LICENSE-MIT', 'LICENSE-APACHE']) {
    cpSync(join(root, path), join(checkout, path), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'), 'dir');
});

/** A machine with a VS Code on its PATH, without a display and without a workbench, and with a temporary folder of its own. */
class Machine {
  readonly #place = privateFolder();
  readonly temporary = join(this.#place, 'tmp');
  readonly env: Readonly<globalThis.Record<string, string>>;

  constructor() {
    const bin = join(this.#place, 'bin');
    for (const folder of [bin, this.temporary]) mkdirSync(folder);
    symlinkSync(join(import.meta.dirname, 'fakeCode.cjs'), join(bin, 'code'));
    this.env = {
      PATH: [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
      FAKE_CODE: this.#place,
      TMPDIR: this.temporary,
      WORKBENCH_CACHE: '/dev/null/nowhere',
      VSCODE_IPC_HOOK_CLI: '',
      WSL_DISTRO_NAME: '',
      DISPLAY: '',
      WAYLAND_DISPLAY: '',
    };
  }

  start(...args: readonly string[]): Running {
    return onTerminal(start, args, this.env);
  }

  get wasAsked(): boolean {
    return existsSync(join(this.#place, 'record.json'));
  }

  /** Written behind the attachment that we are told of. */
  async record(): Promise<Record> {
    await vi.waitUntil(() => this.wasAsked, { timeout: 5_000 });
    return JSON.parse(readFileSync(join(this.#place, 'record.json'), 'utf8')) as Record;
  }

  closeWindow(): void {
    writeFileSync(join(this.#place, 'close'), '');
  }

  letCodeFail(): void {
    writeFileSync(join(this.#place, 'fail'), '');
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(process.platform !== 'linux')('npm start', () => {
  it('opens VS Code in a profile of ours, on the folder that is named, and ends with its window', async () => {
    const machine = new Machine();
    const folder = privateFolder();
    const { wrote, ended } = machine.start(folder);
    await wrote('The editor is attached.');
    const { args, handover, token, mode, settings, extension, manifest, main, descriptor, system } =
      await machine.record();

    expect(args.slice(0, 2)).toEqual(['--new-window', '--wait']);
    expect(args.at(-1)).toBe(folder);
    expect(system).toContain(`cwd: ${folder}\n`);
    const [profile = '', extensions = ''] = ['--user-data-dir', '--extensions-dir'].map(
      (name) => args[args.indexOf(name) + 1],
    );
    for (const own of [profile, extensions]) expect(own.startsWith(machine.temporary)).toBe(true);
    expect(settings).toMatchObject({ 'workbench.secondarySideBar.defaultVisibility': 'visible' });
    expect(extension).toMatch(/^volter-ai-dev\.supercode-frontend-vscode-\d/);
    expect(manifest['enabledApiProposals']).toBeUndefined();
    expect(main).toBe(true);

    const file = handover['SUPERCODE_FRONTEND_CREDENTIAL_FILE'] ?? '';
    expect(mode).toBe(0o600);
    expect(file.startsWith(machine.temporary) && !file.startsWith(folder)).toBe(true);
    expect(handover).toMatchObject({ SUPERCODE_FRONTEND_PERMISSIONS: 'observe,interact,approve' });
    expect(descriptor.actions).toMatchObject({ submit: true, respond: true, close: false });

    machine.closeWindow();
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(plain(stdout)).toContain('@supercode /demo tour');
    expect(plain(stdout)).toContain(handover['SUPERCODE_FRONTEND_URL']);
    for (const seen of [stdout, args.join(), JSON.stringify(handover)]) expect(seen).not.toContain(token);
    expect(readdirSync(machine.temporary)).toEqual([]);
    expect(existsSync(folder)).toBe(true);
  });

  it('ends the window, the runtime and all temporary files at Ctrl-C', async () => {
    const machine = new Machine();
    const { child, wrote, ended } = machine.start();
    await wrote('The editor is attached.');
    const { args, window, handover } = await machine.record();
    expect(args.at(-1)?.startsWith(machine.temporary)).toBe(true);
    expect(isAlive(window)).toBe(true);
    child.stdin.write(CTRL_C);
    expect((await ended).code).toBe(0);
    expect(isAlive(window)).toBe(false);
    expect(readdirSync(machine.temporary)).toEqual([]);
    await expect(fetch(handover['SUPERCODE_FRONTEND_URL'] ?? '')).rejects.toThrow('fetch failed');
  });

  it('says in one line why no editor can be had, and goes on in the terminal', async () => {
    const machine = new Machine();
    machine.letCodeFail();
    const { child, wrote, ended } = machine.start();
    await wrote(PROMPT);
    child.stdin.write(CTRL_D);
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    const why = plain(stdout).match(/^No editor can be opened: .*$/gm);
    expect(why).toHaveLength(1);
    expect(why?.[0]).toContain('`code` ended with exit code 3: There is no window.');
    expect(why?.[0]).toContain('the workbench could not be set up');
    expect(why?.[0]).toContain('Here is the terminal chat.');
    expect(readdirSync(machine.temporary)).toEqual([]);
  });

  it('starts the terminal chat with --terminal, and with what is meant for it', async () => {
    const machine = new Machine();
    const asked = machine.start('--terminal');
    await asked.wrote(PROMPT);
    asked.child.stdin.write(CTRL_D);
    expect((await asked.ended).code).toBe(0);
    const { code, stdout } = await machine.start('--prompt', 'hello').ended;
    expect(code).toBe(0);
    expect(plain(stdout)).toContain('You said: hello');
    expect(machine.wasAsked).toBe(false);
  });

  it('runs the scripted turn where there is no terminal', async () => {
    const machine = new Machine();
    const { code, stdout } = await run(start, [], { env: machine.env });
    expect(code).toBe(0);
    for (const part of ['I am a', 'auto-approved', '+++ b/supercode-demo.md', 'done in'])
      expect(stdout).toContain(part);
    expect(machine.wasAsked).toBe(false);
  });

  it('refuses a folder that is not there, and one that the credential would lie in', async () => {
    const machine = new Machine();
    const { code, stdout } = await machine.start('/no/such/folder').ended;
    expect(code).toBe(2);
    expect(plain(stdout)).toContain('npm start: /no/such/folder is not a folder.');
    const within = await machine.start(machine.temporary).ended;
    expect(within.code).toBe(2);
    expect(plain(within.stdout)).toContain('holds the folder for temporary files');
    expect(readdirSync(machine.temporary)).toEqual([]);
  });
});

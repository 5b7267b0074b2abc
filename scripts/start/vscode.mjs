// The person's own VS Code, in a profile of ours.
import { spawn } from 'node:child_process';
import { accessSync, constants, readFileSync, renameSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packExtension } from '../pack-extension.mjs';
import { Unavailable } from './refused.mjs';
import { SETTINGS } from './settings.mjs';

const isWindows = process.platform === 'win32';
/** How long a window has to close itself, and one that is only just opening to say which process it is. */
const CLOSE_MS = 5_000;
const OPENING_MS = 3_000;
const LAST_WORDS_MS = 300;
/** How much of what `code` printed is shown where it failed. */
const SHOWN = 300;

/**
 * @param {object} options
 * @param {string} options.home private folder for the profile and the extension
 * @param {string} options.folder what the window shows
 * @param {Record<string, string>} options.env the handover
 * @param {() => Promise<boolean>} options.isAttached whether somebody has used the handover
 */
export async function openVsCode({ home, folder, env, isAttached }) {
  const code = codeOnPath();
  const [profile, extensions] = [join(home, 'profile'), join(home, 'extensions')];
  await mkdir(join(profile, 'User'), { recursive: true });
  await writeFile(join(profile, 'User/settings.json'), JSON.stringify(SETTINGS, null, 2));
  await addExtension(extensions, join(home, 'packed'));

  const args = ['--new-window', '--wait', '--user-data-dir', profile, '--extensions-dir', extensions, folder];
  // Not in the group of this process: Ctrl-C is for us, and we close the window in the right order.
  const child = spawn(isWindows ? `"${code}"` : code, isWindows ? args.map((arg) => `"${arg}"`) : args, {
    detached: !isWindows,
    shell: isWindows,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
  const ended = new Promise((done) => {
    child.once('error', (error) => done(`\`code\` could not be run (${error.message})`));
    child.once('exit', async (status, signal) => {
      // What it printed may come behind its end; a window that inherited the pipes would keep them open.
      await Promise.race([new Promise((closed) => child.once('close', closed)), sleep(LAST_WORDS_MS)]);
      if (status !== 0) done(`\`code\` ended with ${signal ?? `exit code ${status}`}${said(printed)}`);
      // VS Code ends at once then, and `code` says that all went well.
      else done(hasDisplay() || (await isAttached()) ? undefined : 'VS Code found no display to open a window on');
    });
  });
  return {
    name: 'VS Code',
    prompt: '@supercode /demo tour',
    shown: ['Volter Harness is opening in a window of VS Code, with a profile of its own.'],
    ended,
    stop: () => close(child, profile),
  };
}

/** The path of `code`. Throws `Unavailable` where there is none that takes a profile and this environment. */
function codeOnPath() {
  // In a terminal of a remote window `code` passes all on to that window, and in WSL to VS Code on Windows.
  if (process.env.VSCODE_IPC_HOOK_CLI) throw new Unavailable('`code` here belongs to a remote window of VS Code');
  if (process.env.WSL_DISTRO_NAME) throw new Unavailable('`code` in WSL belongs to VS Code on Windows');
  const name = isWindows ? 'code.cmd' : 'code';
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  const found = paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Unavailable('`code` is not on the PATH');
  return found;
}

/** An extensions folder that VS Code has not written yet is read as it lies there. A released VS Code grants nothing. */
async function addExtension(extensions, packed) {
  await packExtension({ out: packed, proposals: false });
  const { publisher, name, version } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'));
  await mkdir(extensions);
  renameSync(packed, join(extensions, `${publisher}.${name}-${version}`));
}

function hasDisplay() {
  return process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}

/** The beginning of what a program printed, in one line. */
function said(printed) {
  const line = printed.replace(/\s+/g, ' ').trim();
  return line === '' ? '' : `: ${line.slice(0, SHOWN)}`;
}

async function close(child, profile) {
  const isWaiting = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  // `code` only waits for the process that has the window, and which goes on without one on a Mac. That one says in its
  // profile which it is.
  await until(() => mainProcess(profile) !== undefined || !isWaiting(), OPENING_MS);
  const pid = mainProcess(profile);
  if (pid !== undefined) await end(pid, () => isAlive(pid));
  if (isWaiting()) await end(isWindows ? child.pid : -child.pid, isWaiting);
}

async function end(pid, isThere) {
  signal(pid, 'SIGTERM');
  await until(() => !isThere(), CLOSE_MS);
  if (isThere()) signal(pid, 'SIGKILL');
}

async function until(isSo, withinMs) {
  for (const deadline = Date.now() + withinMs; !isSo() && Date.now() < deadline;) await sleep(50);
}

function mainProcess(profile) {
  try {
    const pid = Number(readFileSync(join(profile, 'code.lock'), 'utf8'));
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

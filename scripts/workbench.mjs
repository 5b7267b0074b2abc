// Starts a real Code-OSS workbench (code-server) with the extension in it, out of the cache of setup-workbench.sh. Used by
// `npm start` and by the tests in test/workbench; nothing of the person's own editor is touched.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const scripts = dirname(fileURLToPath(import.meta.url));
const START_MS = 30_000;

/** Keeps the window quiet and the same each time. */
const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
  'window.dialogStyle': 'custom',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'chat.tips.enabled': false,
};

export function workbenchCache() {
  return (
    process.env.WORKBENCH_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'supercode-workbench')
  );
}

/** Whether the cache is full, of whatever version. */
export function isWorkbenchThere() {
  return existsSync(join(workbenchCache(), 'stamp'));
}

/**
 * Fills the cache where it is not full: some 40 s and 0.8 GB the first time. Its progress goes to standard error.
 *
 * @param {object} [options]
 * @param {boolean} [options.browser] whether a browser that a test can drive has to be there as well
 * @param {AbortSignal} [options.signal] gives it up
 */
export async function setUpWorkbench({ browser = true, signal } = {}) {
  if (process.platform !== 'linux') throw new Error('The workbench in a browser can be set up on Linux only.');
  signal?.throwIfAborted();
  // Its own process group, so that giving up reaches what it started.
  const child = spawn(join(scripts, 'setup-workbench.sh'), browser ? [] : ['--no-browser'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const giveUp = () => signalGroup(child, 'SIGTERM');
  process.once('exit', giveUp);
  signal?.addEventListener('abort', giveUp);
  const code = await new Promise((done, failed) => child.once('error', failed).once('exit', done));
  process.off('exit', giveUp);
  signal?.removeEventListener('abort', giveUp);
  signal?.throwIfAborted();
  if (code !== 0) throw new Error(`The workbench could not be set up (exit ${code}); what it said stands above.`);
}

/** Signals a process that leads a group, and all that it started. */
function signalGroup({ pid }, name) {
  try {
    process.kill(-pid, name);
  } catch {
    // It is gone already.
  }
}

/**
 * @param {object} options
 * @param {string} [options.extensionDir] folder with package.json and the built extension, used in place
 * @param {string} [options.vsix] or a packaged extension, installed as a person would
 * @param {string[]} [options.beside] other packaged extensions
 * @param {boolean} [options.proposals] whether the extension's enabledApiProposals are granted; a released VS Code grants none
 * @param {Record<string, string>} [options.env] added to the environment of the server and of the extension host
 * @param {Record<string, unknown>} [options.settings] user settings, over ours
 * @param {string} [options.password] what the browser is asked for; without one anybody on this machine may come in
 * @param {string} [options.folder] workspace folder; a new, empty one when absent
 */
export async function startWorkbench({
  extensionDir,
  vsix,
  beside = [],
  proposals = false,
  env = {},
  settings = {},
  folder,
  password,
}) {
  const server = join(workbenchCache(), 'server/node_modules/code-server');
  if (!isWorkbenchThere()) throw new Error('There is no workbench: run setup-workbench.sh first.');
  const home = await mkdtemp(join(tmpdir(), 'workbench-'));
  const [user, extensions, temporary] = ['user', 'extensions', 'tmp'].map((name) => join(home, name));
  const workspace = folder ?? join(home, 'workspace');
  await Promise.all(
    [join(user, 'User'), extensions, temporary, workspace].map((each) => mkdir(each, { recursive: true })),
  );
  await writeFile(join(user, 'User/settings.json'), JSON.stringify({ ...SETTINGS, ...settings }, null, 2));
  await writeFile(join(home, 'config.yaml'), '');

  const node = join(workbenchCache(), 'node/node');
  const entry = join(server, 'out/node/entry.js');
  const folders = ['--config', join(home, 'config.yaml'), '--user-data-dir', user, '--extensions-dir', extensions];
  // Nothing outside `home`: sockets, the heartbeat file, logs and caches all follow these.
  const environment = {
    ...process.env,
    VSCODE_IPC_HOOK_CLI: '',
    TMPDIR: temporary,
    XDG_RUNTIME_DIR: temporary,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    ...(password === undefined ? {} : { PASSWORD: password }),
    ...env,
  };
  const id = await install({ node, entry, folders, environment, extensions, extensionDir, vsix, beside });
  const port = await freePort();
  const flags = [
    ...[
      '--auth',
      password === undefined ? 'none' : 'password',
      '--bind-addr',
      `127.0.0.1:${port}`,
      '--disable-telemetry',
      '--disable-update-check',
    ],
    ...['--disable-workspace-trust', '--disable-getting-started-override'],
    ...(proposals ? [`--enable-proposed-api=${id}`] : []),
  ];
  // Its own process group, so that stop() reaches the extension host too.
  const child = spawn(node, [entry, ...folders, ...flags], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
  const exited = new Promise((done) => child.once('exit', done));
  const onExit = () => signalGroup(child, 'SIGKILL');
  process.once('exit', onExit);
  const stop = async () => {
    process.off('exit', onExit);
    signalGroup(child, 'SIGTERM');
    await Promise.race([exited, new Promise((done) => setTimeout(done, 3_000))]);
    signalGroup(child, 'SIGKILL');
    await exited;
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const origin = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_MS;
  while (
    !(await fetch(`${origin}/healthz`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`The workbench did not start:\n${printed}`);
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  return {
    /** Where a browser opens it. */
    url: `${origin}/?folder=${encodeURIComponent(workspace)}`,
    folder: workspace,
    home,
    /** Every log of the server and of the extension host, one behind the other. */
    logs: () => logsIn(join(user, 'logs')),
    exited,
    stop,
  };
}

async function install({ node, entry, folders, environment, extensions, extensionDir, vsix, beside }) {
  if (vsix !== undefined) {
    const add = (path) =>
      promisify(execFile)(node, [entry, ...folders, '--install-extension', resolve(path)], { env: environment });
    await add(vsix);
    const [{ identifier }] = JSON.parse(await readFile(join(extensions, 'extensions.json'), 'utf8'));
    for (const path of beside) await add(path);
    return identifier.id;
  }
  const { publisher, name, version } = JSON.parse(await readFile(join(extensionDir, 'package.json'), 'utf8'));
  await symlink(resolve(extensionDir), join(extensions, `${publisher}.${name}-${version}`), 'dir');
  return `${publisher}.${name}`;
}

async function logsIn(folder) {
  const names = existsSync(folder) ? await readdir(folder, { recursive: true }) : [];
  const files = names.filter((name) => name.endsWith('.log'));
  const texts = files.map(async (name) => `== ${name}\n${await readFile(join(folder, name), 'utf8')}`);
  return (await Promise.all(texts)).join('\n');
}

function freePort() {
  return new Promise((found, failed) => {
    const server = createServer().once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}

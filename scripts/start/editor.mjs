// An editor on an embedded runtime in this process. Whatever is started or written here is gone when it returns.
import { realpathSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { buildRuntime } from '../build.mjs';
import { openWorkbench } from './browser.mjs';
import { Refused, Unavailable } from './refused.mjs';
import { openVsCode } from './vscode.mjs';

const RUNTIME = fileURLToPath(new URL('../../.cache/start/runtime.mjs', import.meta.url));
const CLIENT_ID = 'editor';
/** How often we look whether the editor has attached. */
const LOOK_MS = 300;

/**
 * Opens the first editor that can be had, and stays until it ends or somebody wants to leave.
 *
 * @param {object} options
 * @param {string} [options.workspace] what the agent works in and the window shows; a fresh temporary folder when absent
 * @returns the exit code; undefined where no editor can be had, once it is said why
 */
export async function openEditor({ workspace }) {
  const leaving = listen();
  const home = await mkdtemp(join(tmpdir(), 'supercode-start-'));
  const clear = () => rmSync(home, { recursive: true, force: true });
  process.on('exit', clear);
  let runtime;
  try {
    if (workspace !== undefined && isWithin(realpathSync(home), workspace)) {
      throw new Refused(`${workspace} holds the folder for temporary files. Name one that does not.`);
    }
    await buildRuntime(RUNTIME);
    const { startEmbeddedRuntime } = await import(pathToFileURL(RUNTIME));
    runtime = await startEmbeddedRuntime({ workspace });
    const env = await handover(runtime, join(home, 'credential'));
    const code = await firstEditor({ home, env, runtime, leaving, isTemporary: workspace === undefined });
    // What comes next decides by itself what a signal means.
    if (code === undefined) leaving.stop();
    return code;
  } catch (error) {
    if (leaving.code === undefined) throw error;
    return leaving.code;
  } finally {
    await runtime?.kill();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
    process.off('exit', clear);
  }
}

async function firstEditor({ home, env, runtime, leaving, isTemporary }) {
  const reasons = [];
  for (const open of [openVsCode, openWorkbench]) {
    leaving.signal.throwIfAborted();
    const attached = watchFor(runtime);
    if (reasons.length > 0) console.log(`No VS Code: ${reasons.join()}. An editor for the browser comes in its place.`);
    try {
      const { workspace: folder } = runtime;
      const editor = await open({ home, folder, env, signal: leaving.signal, isAttached: attached.lookOnce });
      try {
        show(editor, runtime, isTemporary);
        const reason = await Promise.race([editor.ended, leaving.left]);
        if (leaving.code !== undefined) return leaving.code;
        if (reason === undefined) return 0;
        if (await attached.lookOnce()) {
          console.error(`${editor.name} ended: ${reason}.`);
          return 1;
        }
        reasons.push(reason);
      } finally {
        await editor.stop();
      }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      reasons.push(error.message);
    } finally {
      attached.stop();
    }
  }
  console.error(`No editor can be opened: ${reasons.join(', and ')}. Here is the terminal chat.`);
  return undefined;
}

function show({ shown, prompt }, { url, workspace }, isTemporary) {
  const lines = [
    '',
    ...shown,
    '',
    `  Type first   ${prompt}      (in the Chat view)`,
    `  Folder       ${workspace}${isTemporary ? '   (temporary)' : ''}`,
    `  Runtime      ${url}   (embedded, with a scripted agent)`,
    '',
    'Ctrl-C here ends all of it.',
  ];
  console.log(lines.join('\n'));
}

/** What a product puts into the environment of an editor that it starts. */
async function handover(runtime, file) {
  await writeFile(file, runtime.mint(CLIENT_ID), { mode: 0o600, flag: 'wx' });
  return {
    SUPERCODE_FRONTEND_URL: runtime.url,
    SUPERCODE_FRONTEND_CLIENT_ID: CLIENT_ID,
    SUPERCODE_FRONTEND_CREDENTIAL_FILE: file,
    SUPERCODE_FRONTEND_PERMISSIONS: 'observe,interact,approve',
  };
}

/** Tells once when the editor is there: whoever waits for a window knows then that the chat works. */
function watchFor(runtime) {
  const watch = { isSo: false, lookOnce: undefined, stop: undefined };
  let isOver = false;
  watch.stop = () => (isOver = true);
  watch.lookOnce = async () => {
    if (watch.isSo || !(await isObserved(runtime).catch(() => false)) || watch.isSo) return watch.isSo;
    console.log('The editor is attached.');
    return (watch.isSo = true);
  };
  const look = async () => {
    while (!isOver && !(await watch.lookOnce())) await sleep(LOOK_MS, undefined, { ref: false });
  };
  void look();
  return watch;
}

async function isObserved({ url, ownerToken }) {
  const answer = await fetch(new URL('/rpc', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${ownerToken}` },
    body: JSON.stringify({ id: 1, method: 'frontend.v2.lease', params: {} }),
  });
  const { result } = await answer.json();
  return result.observers.some(({ client_id }) => client_id === CLIENT_ID);
}

/** npm runs us in the package's folder; what was typed is meant from where it was typed. */
export function existingFolder(folder) {
  const path = resolve(process.env.INIT_CWD ?? '', folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw new Refused(`${path} is not a folder.`);
  return realpathSync(path);
}

function isWithin(path, folder) {
  const way = relative(folder, path);
  return !way.startsWith('..') && !isAbsolute(way);
}

/**
 * What wants us to leave. Ctrl-C is how one ends this, so it is no failure. It may come twice, from the terminal and
 * from npm; leaving takes seconds at most, so that nothing has to be forced.
 */
function listen() {
  const aborter = new AbortController();
  const leaving = { code: undefined, signal: aborter.signal, left: undefined, stop: undefined };
  const listeners = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => {
    const listener = () => {
      if (leaving.code !== undefined) return;
      leaving.code = name === 'SIGINT' ? 0 : 128 + constants.signals[name];
      console.log('\nEnding…');
      aborter.abort();
    };
    process.on(name, listener);
    return [name, listener];
  });
  // A terminal that is gone takes no more lines.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  leaving.left = new Promise((left) => aborter.signal.addEventListener('abort', left));
  leaving.stop = () => {
    for (const [name, listener] of listeners) process.off(name, listener);
  };
  return leaving;
}

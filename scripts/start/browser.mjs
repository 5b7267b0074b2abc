// The workbench of Code-OSS in a browser, for whoever has no VS Code.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { packExtension } from '../pack-extension.mjs';
import { isWorkbenchThere, setUpWorkbench, startWorkbench, workbenchCache } from '../workbench.mjs';
import { Unavailable } from './refused.mjs';
import { SETTINGS } from './settings.mjs';

/**
 * @param {object} options
 * @param {string} options.home private folder for the extension
 * @param {string} options.folder what the window shows
 * @param {Record<string, string>} options.env the handover
 * @param {AbortSignal} options.signal gives it up
 */
export async function openWorkbench({ home, folder, env, signal }) {
  let workbench;
  // Others on this machine can reach the port too, and an editor runs whatever it is told to.
  const password = randomBytes(6).toString('hex');
  try {
    if (process.platform === 'linux' && !isWorkbenchThere()) {
      console.log(`Setting up an editor for the browser, once: some 40 s, and 0.8 GB in ${workbenchCache()}`);
    }
    await setUpWorkbench({ browser: false, signal });
    const extensionDir = join(home, 'extension');
    // It is our own host, so it grants the proposals.
    await packExtension({ out: extensionDir });
    workbench = await startWorkbench({ extensionDir, proposals: true, env, settings: SETTINGS, folder, password });
  } catch (error) {
    signal.throwIfAborted();
    const line = error.message.replace(/\s+/g, ' ').trim().slice(0, 300);
    throw new Unavailable(line.replace(/^The/, 'the').replace(/\.$/, ''));
  }
  openInBrowser(workbench.url);
  return {
    name: 'The workbench',
    prompt: '/demo tour',
    shown: [
      'Volter Harness is ready in an editor for the browser:',
      '',
      `  ${workbench.url}`,
      '',
      `It asks for a password once: ${password}`,
    ],
    ended: workbench.exited.then(() => 'its server ended'),
    stop: () => workbench.stop(),
  };
}

/** Where the system has a browser to open; the workbench runs on Linux only. Whatever becomes of it, the address is shown. */
function openInBrowser(url) {
  const { DISPLAY, WAYLAND_DISPLAY, BROWSER } = process.env;
  if (!(DISPLAY || WAYLAND_DISPLAY || BROWSER)) return;
  const opener = spawn('xdg-open', [url], { detached: true, stdio: 'ignore' });
  opener.on('error', () => undefined);
  opener.unref();
}

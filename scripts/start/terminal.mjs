import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const CHAT = fileURLToPath(new URL('../../dist/cli/chat.js', import.meta.url));

/** Runs supercode-chat on this terminal, or without one; resolves to its exit code. */
export function chatInTerminal(args) {
  const chat = spawn(process.execPath, [CHAT, ...args], { stdio: 'inherit' });
  // The chat itself decides what a signal means: a first Ctrl-C stops the turn only. A terminal sends Ctrl-C to all of us,
  // so it is not passed on a second time.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => chat.kill('SIGTERM'));
  return new Promise((ended, failed) => {
    chat.once('error', failed);
    chat.once('exit', (code, signal) => ended(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}

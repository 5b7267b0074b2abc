// `npm start`: builds, then runs the terminal chat on the embedded runtime. What follows `--` goes to supercode-chat.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
await build();

// `--terminal` names what this script starts anyway.
const args = process.argv.slice(2).filter((arg) => arg !== '--terminal');
const chat = spawn(process.execPath, [join(root, 'dist/cli/chat.js'), ...args], { stdio: 'inherit' });
// The chat itself decides what a signal means: a first Ctrl-C stops the turn only. A terminal sends Ctrl-C to all of us,
// so it is not passed on a second time.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => chat.kill('SIGTERM'));
chat.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));

// `npm test`: everything that needs no real peer. The static checks run beside the tests, which seldom take both cores.
// Arguments go to vitest.
import { spawn } from 'node:child_process';

const STATIC = [
  ['types', 'tsc', '-p', '.'],
  ['lint', 'eslint', '.', '--max-warnings', '0'],
  ['imports', 'depcruise', 'src', '--config', '.dependency-cruiser.cjs'],
  ['format', 'prettier', '--check', '.', '--log-level', 'warn'],
  ['the tables of docs/', 'node', 'scripts/tables.mjs', '--check'],
];
const TESTS = ['tests', 'vitest', 'run', '--coverage', ...process.argv.slice(2)];

/** Runs one check; what it prints is held back until it is over, so that two checks never mix. */
function run([name, command, ...args], { live = false } = {}) {
  return new Promise((resolve) => {
    const started = Date.now();
    const child = spawn(command, args, {
      stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
      shell: process.platform === 'win32',
    });
    const printed = [];
    child.stdout?.on('data', (chunk) => printed.push(chunk));
    child.stderr?.on('data', (chunk) => printed.push(chunk));
    child.on('error', (error) => resolve({ name, ok: false, text: `${error.message}\n`, seconds: 0 }));
    child.on('close', (code) => {
      const seconds = Math.round((Date.now() - started) / 1000);
      resolve({ name, ok: code === 0, text: Buffer.concat(printed).toString(), seconds });
    });
  });
}

async function runStatic() {
  const results = [];
  for (const check of STATIC) results.push(await run(check));
  return results;
}

const [tests, statics] = await Promise.all([run(TESTS, { live: true }), runStatic()]);
const results = [...statics, tests];
for (const { name, ok, text, seconds } of results) {
  console.log(`${ok ? 'ok' : 'FAILED'} — ${name} (${seconds} s)`);
  if (!ok && text !== '') console.log(text);
}
const failed = results.filter(({ ok }) => !ok).length;
console.log(`checks: ${results.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

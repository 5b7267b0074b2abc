// `npm test`: everything that needs no real peer. Types, lint, the import table, format, then the tests with coverage.
import { spawnSync } from 'node:child_process';

const checks = [
  ['types', 'tsc', '-p', '.'],
  ['lint', 'eslint', '.', '--max-warnings', '0'],
  ['imports', 'depcruise', 'src', '--config', '.dependency-cruiser.cjs'],
  ['format', 'prettier', '--check', '.', '--log-level', 'warn'],
  ['docs', 'node', 'scripts/faults.mjs', '--check'],
  ['tests', 'vitest', 'run', '--coverage', ...process.argv.slice(2)],
];

for (const [name, command, ...args] of checks) {
  console.log(`— ${name}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) {
    console.error(`npm test: ${name} failed.`);
    process.exit(status ?? 1);
  }
}

// Runs before `npm start` and `npm test`: installs what the lockfile names, if that is not there yet.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages;

/** npm leaves a copy of the lockfile in node_modules; a package that it has not, or has another version of, is missing. */
function isInstalled() {
  const marker = 'node_modules/.package-lock.json';
  if (!existsSync(join(root, marker))) return false;
  const there = read(marker);
  return Object.entries(read('package-lock.json')).every(
    ([path, wanted]) => path === '' || wanted.optional || there[path]?.version === wanted.version,
  );
}

if (!isInstalled()) {
  console.error('Installing the locked dependencies (npm ci)…');
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
  // To standard error: what follows may print JSON lines, and nothing else, to standard output.
  execFileSync(command, [...args, 'ci', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 2, 2] });
}

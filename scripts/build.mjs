// Bundles the programs and the extension into dist/. `node scripts/build.mjs`, or `import { build }`.
import { build as esbuild } from 'esbuild';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What all bundles have in common. */
function options() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.12',
    metafile: true,
    // A program starts in half the time when nothing has to be looked up, and half again without development checks.
    define: { __PRODUCT_VERSION__: JSON.stringify(version), 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  };
}

async function buildPrograms(outdir) {
  const { metafile } = await esbuild({
    ...options(),
    entryPoints: { 'cli/chat': 'src/cli/chat.ts', 'cli/replay': 'src/cli/replay.ts' },
    outdir,
    splitting: true,
    format: 'esm',
    sourcemap: true,
    banner: { js: '#!/usr/bin/env node' },
  });
  removeStaleChunks(outdir, metafile);
  return metafile;
}

/** A chunk is named after what is in it, so those of older builds stay, and would be published. */
function removeStaleChunks(outdir, { outputs }) {
  const built = new Set(Object.keys(outputs).map((path) => basename(path)));
  for (const name of readdirSync(outdir)) {
    if (/^chunk-\w+\.js(?:\.map)?$/.test(name) && !built.has(name)) rmSync(join(outdir, name), { force: true });
  }
}

/** The extension in pieces that are loaded when they are first used (docs/decisions/0006-pieces-of-the-extension.md). */
async function buildExtension(outdir) {
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await esbuild({
    ...options(),
    entryPoints: { extension: 'src/vscode/extension.ts' },
    outdir,
    // The editor takes `.mjs` for a module whatever the manifest says of the others.
    outExtension: { '.js': '.mjs' },
    external: ['vscode'],
    format: 'esm',
    splitting: true,
    minify: true,
    // As UTF-8 the sentences take half the room.
    charset: 'utf8',
    // A package in two forms is taken as modules: what is not used of it stays out, and none comes in twice.
    mainFields: ['module', 'main'],
    // Beside the bundle for whoever reads a stack trace, but not named in it: it is not packed into the extension.
    sourcemap: 'external',
    legalComments: 'none',
  });
  return metafile;
}

/**
 * @param {string} outdir where the bundles go: the programs into its folder `cli`, the extension into `extension`
 * @returns esbuild's account of each bundle: what went into it, and its sizes
 */
export async function build(outdir = join(root, 'dist')) {
  const [programs, extension] = await Promise.all([buildPrograms(outdir), buildExtension(join(outdir, 'extension'))]);
  writeFileSync(join(outdir, 'THIRD-PARTY-NOTICES.txt'), notices([programs, extension]));
  return { programs, extension };
}

/** The licences of what the bundles contain: they are to go along with every copy. */
function notices(metafiles) {
  const packages = new Set();
  for (const input of metafiles.flatMap(({ inputs }) => Object.keys(inputs))) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (name) packages.add(name[0]);
  }
  const texts = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
    // Without the text the package may not be passed on.
    if (file === undefined) throw new Error(`${name} is bundled and has no licence file.`);
    const text = readFileSync(join(root, folder, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}`;
  });
  return `This product contains:\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** The embedded runtime for `npm start`, which is plain Node. It is not published: supercode-chat has one in it. */
export async function buildRuntime(outfile) {
  await esbuild({ ...options(), entryPoints: ['src/runtime/embedded.ts'], outfile, format: 'esm', sourcemap: true });
}

/**
 * What the extension makes an editor load, in bytes, at each of its steps: in front of any use, with a runtime to attach
 * to, and with the first prompt; and all that is packed.
 *
 * @param {import('esbuild').Metafile} metafile of the extension
 */
export function loadedBytes({ outputs }) {
  const outputOf = (entry) => Object.keys(outputs).find((path) => outputs[path].entryPoint === entry);
  const closure = (path, seen) => {
    if (seen.has(path)) return seen;
    seen.add(path);
    for (const { kind, path: next, external } of outputs[path].imports) {
      if (kind === 'import-statement' && !external) closure(next, seen);
    }
    return seen;
  };
  const seen = new Set();
  const upTo = (entry) => {
    closure(outputOf(entry), seen);
    return [...seen].reduce((sum, path) => sum + outputs[path].bytes, 0);
  };
  return {
    start: upTo('src/vscode/extension.ts'),
    attached: upTo('src/vscode/main.ts'),
    chatting: upTo('src/vscode/chatHandler.ts'),
    packed: Object.entries(outputs).reduce((sum, [path, { bytes }]) => (path.endsWith('.map') ? sum : sum + bytes), 0),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();

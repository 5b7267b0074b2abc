#!/usr/bin/env node
// Writes the VS Code extension into a folder, and on demand a .vsix. It is a part of the published package, so that
// whoever bundles the extension runs the same steps; everything that it copies was built before.
//
// One package.json cannot be both manifests: an extension's id is `publisher.name`, which npm's scope would break.
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { devNull } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const HELP = `Usage: pack-extension.mjs --out DIR [--vsix [FILE]] [--no-proposals]

Writes the VS Code extension into DIR: its manifest, beside the files that were built.

  --out DIR        where the extension goes: a new or empty folder, or one that this script wrote before
  --vsix [FILE]    packs it into a .vsix too; without FILE beside DIR, named after the extension and its version
  --no-proposals   a manifest for editors that grant no API proposals (a released VS Code grants none)
  --help           shows this
`;

const NAME = 'supercode-frontend-vscode';
const BUILT = 'dist/extension';
const MAIN = `${BUILT}/extension.mjs`;
const COPIED = [BUILT, 'dist/THIRD-PARTY-NOTICES.txt', 'media', 'CHANGELOG.md', 'LICENSE-MIT', 'LICENSE-APACHE'];
const TOP_LEVEL = ['package.json', 'README.md', ...COPIED.map((path) => path.split('/')[0])];

/** What means something to npm alone, or would have a packer look for what is not there. */
const NPM_ONLY = ['type', 'files', 'exports', 'bin', 'scripts', 'dependencies', 'devDependencies', 'allowScripts'];

/** An entry of `chatParticipants` with one of these is refused whole by an editor that grants nothing. */
const GATED_PARTICIPANT_FIELDS = ['isDefault', 'modes', 'locations'];

/** An editor that grants nothing complains of entries in these. */
const GATED_MENUS = ['chat/chatSessions'];

/** What the person at the keyboard can put right; shown without a stack. */
class Refused extends Error {}

/** The extension's manifest, made from npm's. */
function manifestFrom(npmManifest, { proposals }) {
  const kept = Object.entries(npmManifest).filter(([key]) => !NPM_ONLY.includes(key));
  const { engines, contributes, ...rest } = Object.fromEntries(kept);
  const manifest = { ...rest, name: NAME, engines: { vscode: engines.vscode }, main: `./${MAIN}`, contributes };
  if (proposals) return manifest;
  const { enabledApiProposals: _refused, ...plain } = manifest;
  const { chatSessions = [], chatParticipants, menus = {}, ...ungated } = contributes;
  const isOfSession = ({ id }) => chatSessions.some(({ type }) => type === id);
  const isPlain = (participant) =>
    !isOfSession(participant) && !GATED_PARTICIPANT_FIELDS.some((field) => field in participant);
  const plainMenus = Object.fromEntries(Object.entries(menus).filter(([menu]) => !GATED_MENUS.includes(menu)));
  return {
    ...plain,
    contributes: { ...ungated, menus: plainMenus, chatParticipants: chatParticipants.filter(isPlain) },
  };
}

/** Links to files that stay behind lead nowhere from an extension's page, and a packer refuses them. */
function withoutRelativeLinks(markdown) {
  const outside = '(?!#|[a-z][a-z+.-]*:)';
  const relative = String.raw`\(${outside}[^()\s]+(?:\s+"[^"]*")?\)`;
  return markdown
    .replace(new RegExp(`<img\\b[^>]*\\bsrc="${outside}[^>]*>\\n*`, 'gi'), '')
    .replace(new RegExp(String.raw`!\[[^\]]*\]${relative}\n*`, 'gi'), '')
    .replace(new RegExp(String.raw`\[([^\]]*)\]${relative}`, 'gi'), '$1');
}

/** Whether all that is in the folder came from here, so that none of it is missed when it is written anew. */
function isOurs(folder, entries, { publisher }) {
  if (!entries.every((entry) => TOP_LEVEL.includes(entry))) return false;
  try {
    const there = JSON.parse(fs.readFileSync(join(folder, 'package.json'), 'utf8'));
    return there.name === NAME && there.publisher === publisher;
  } catch {
    return false;
  }
}

function emptied(folder, npmManifest) {
  if (fs.existsSync(folder) && !fs.statSync(folder).isDirectory()) throw new Refused(`${folder} is not a folder.`);
  fs.mkdirSync(folder, { recursive: true });
  const entries = fs.readdirSync(folder);
  if (entries.length > 0 && !isOurs(folder, entries, npmManifest)) {
    throw new Refused(`${folder} holds something else than an extension packed here. Name a new or an empty folder.`);
  }
  for (const entry of entries) fs.rmSync(join(folder, entry), { recursive: true });
}

/** The stock packer, looked for beside this package and where the command runs. */
function stockPacker() {
  for (const from of [import.meta.url, join(process.cwd(), 'from-here.js')]) {
    const require = createRequire(from);
    let path;
    try {
      path = require.resolve('@vscode/vsce');
    } catch {
      continue;
    }
    return require(path);
  }
  throw new Refused('A .vsix is made by @vscode/vsce, which is not installed: npm install --save-dev @vscode/vsce');
}

/**
 * @param {object} options
 * @param {string} options.out the folder
 * @param {string} [options.vsix] the .vsix to make; '' for one beside the folder
 * @param {boolean} [options.proposals] whether the editor grants the API proposals
 */
export async function packExtension({ out, vsix, proposals = true }) {
  const folder = resolve(out);
  const npmManifest = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  if (!fs.existsSync(join(root, MAIN))) throw new Refused(`${join(root, MAIN)} is missing: run "npm run build" first.`);
  const packer = vsix === undefined ? undefined : stockPacker();
  emptied(folder, npmManifest);

  const manifest = manifestFrom(npmManifest, { proposals });
  // First, so that a folder left half written is known as one of ours.
  fs.writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  fs.writeFileSync(join(folder, 'README.md'), withoutRelativeLinks(fs.readFileSync(join(root, 'README.md'), 'utf8')));
  for (const path of COPIED) {
    // The changelog comes with the first release.
    if (path === 'CHANGELOG.md' && !fs.existsSync(join(root, path))) continue;
    fs.cpSync(join(root, path), join(folder, path), { recursive: true, filter: (each) => !each.endsWith('.map') });
  }
  if (packer === undefined) return { folder };

  const packagePath = resolve(vsix === '' ? join(dirname(folder), `${NAME}-${manifest.version}.vsix`) : vsix);
  fs.mkdirSync(dirname(packagePath), { recursive: true });
  await packer.createVSIX({
    cwd: folder,
    packagePath,
    dependencies: false,
    // Without an ignore file the packer warns that it may pack too much. The folder holds what belongs into it.
    ignoreFile: devNull,
    // It asks on the terminal where these are missing, and it knows no licence file but LICENSE.
    allowMissingRepository: true,
    skipLicense: true,
  });
  return { folder, vsix: packagePath };
}

function parsed(args) {
  // The value of --vsix may be left out, which parseArgs does not know.
  const spelled = args.flatMap((arg, index) => {
    if (arg === '--vsix') return args[index + 1]?.startsWith('-') === false ? [] : ['--vsix='];
    return args[index - 1] === '--vsix' && !arg.startsWith('-') ? [`--vsix=${arg}`] : [arg];
  });
  const options = {
    out: { type: 'string' },
    vsix: { type: 'string' },
    'no-proposals': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  };
  try {
    return parseArgs({ args: spelled, options }).values;
  } catch (error) {
    throw new Refused(`${error.message.split('. To specify')[0]}\n\n${HELP}`);
  }
}

async function main(args) {
  const { help, out, vsix, 'no-proposals': plain } = parsed(args);
  if (help) return void process.stdout.write(HELP);
  if (!out) throw new Refused(`--out DIR is missing.\n\n${HELP}`);
  const packed = await packExtension({ out, vsix, proposals: !plain });
  console.log(`The extension is in ${packed.folder}`);
  if (packed.vsix) console.log(`and packed in ${packed.vsix}`);
}

// Where packages are linked into node_modules, the path that was typed is not the path of the file.
if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.error(`pack-extension: ${error.message}`);
    process.exitCode = 2;
  }
}

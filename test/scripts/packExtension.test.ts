import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_NAMES } from '../../src/vscode/commandNames.js';
import { PROPOSALS } from '../../src/vscode/grants.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What the extension sets, and nothing else may be asked for. */
const CONTEXT_KEYS = [
  'supercodeChatDefaultParticipant',
  'supercodeChatSessions',
  'supercodeConnected',
  'supercodeRequestWaiting',
  'supercodeTurnRunning',
];

interface Manifest extends Record<string, unknown> {
  readonly name: string;
  readonly publisher: string;
  readonly main: string;
  readonly icon: string;
  readonly contributes: Contributes;
  readonly enabledApiProposals?: readonly string[];
}

interface Contributes extends Record<string, unknown> {
  readonly commands: readonly { command: string; title: string; category?: string }[];
  readonly menus: { readonly commandPalette: readonly { command: string; when: string }[] };
  readonly keybindings: readonly { command: string; key: string; mac: string; when: string }[];
  readonly chatParticipants: readonly Record<string, unknown>[];
}

let scratch: string;
/** The package as it is published, the bundle aside: packing only copies that. */
let staged: string;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'pack-extension-'));
  staged = join(scratch, 'package');
  mkdirSync(join(staged, 'dist/extension'), { recursive: true });
  for (const file of [
    'package.json',
    'media',
    'scripts',
    'README.md',
    'LICENSE-MIT',
    'LICENSE-APACHE',
    'tsconfig.json',
  ])
    cpSync(join(root, file), join(staged, file), { recursive: true });
  writeFileSync(join(staged, 'dist/extension/extension.mjs'), 'export const activate = () => undefined;\n');
  writeFileSync(join(staged, 'dist/extension/chunk-A.mjs'), 'export {};\n');
  writeFileSync(join(staged, 'dist/THIRD-PARTY-NOTICES.txt'), 'This product contains:\n');
  writeFileSync(join(staged, 'dist/extension/extension.mjs.map'), '{}\n');
});

afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

function pack(args: readonly string[], { from = staged, cwd = scratch } = {}) {
  const script = join(from, 'scripts/pack-extension.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function packed(name: string, ...args: readonly string[]): { folder: string; manifest: Manifest } {
  const folder = join(scratch, name);
  expect(pack(['--out', folder, ...args])).toMatchObject({ status: 0, stderr: '' });
  return { folder, manifest: manifestIn(folder) };
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function filesIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** Every string in a tree, with the key that it stands under. */
function strings(value: unknown, key = ''): { key: string; text: string }[] {
  if (typeof value === 'string') return [{ key, text: value }];
  if (Array.isArray(value)) return value.flatMap((each) => strings(each, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => strings(each, name));
}

const SHOWN = /^(?:title|category|displayName|fullName|description|markdownDescription|patternErrorMessage|altText)$/;
const isShown = ({ key }: { key: string }) => SHOWN.test(key) || key === 'enumDescriptions';

const KINDS = [
  { kind: 'granted', args: [] },
  { kind: 'plain', args: ['--no-proposals'] },
];

describe.each(KINDS)('the $kind manifest', ({ kind, args }) => {
  let folder: string;
  let manifest: Manifest;
  beforeAll(() => {
    ({ folder, manifest } = packed(`manifest-${kind}`, ...args));
  });

  it('has an id without a scope, a main file, and nothing of npm', () => {
    expect(`${manifest.publisher}.${manifest.name}`).toBe('volter-ai-dev.supercode-frontend-vscode');
    expect(existsSync(join(folder, manifest.main))).toBe(true);
    const keys = ['activationEvents', 'capabilities', 'categories', 'contributes', 'description', 'displayName'];
    keys.push('engines', 'extensionKind', 'icon', 'keywords', 'license', 'main', 'name', 'publisher', 'version');
    if (kind === 'granted') keys.push('enabledApiProposals');
    expect(Object.keys(manifest).sort()).toEqual(keys.sort());
    expect(manifest['engines']).toEqual({ vscode: '^1.138.0' });
    expect(manifest['extensionKind']).toEqual(['workspace']);
  });

  it('names only files that are there, beside none that nobody asks for', () => {
    const named = strings(manifest)
      .filter(({ key }) => ['icon', 'main', 'svg', 'markdown', 'image'].includes(key))
      // An icon of the editor's own set.
      .filter(({ text }) => !text.startsWith('$('));
    expect(named.length).toBeGreaterThan(4);
    for (const { text } of named) expect(existsSync(join(folder, text)), text).toBe(true);
    const other = filesIn(folder).filter((file) => !file.startsWith('media/') && file !== 'CHANGELOG.md');
    expect(other).toEqual([
      'LICENSE-APACHE',
      'LICENSE-MIT',
      'README.md',
      'dist/THIRD-PARTY-NOTICES.txt',
      'dist/extension/chunk-A.mjs',
      'dist/extension/extension.mjs',
      'package.json',
    ]);
  });

  it('has the commands that are registered, each with the category, and keys only while a request waits', () => {
    const { commands, menus, keybindings } = manifest.contributes;
    expect(new Set(commands.map(({ category }) => category))).toEqual(new Set(['Volter Harness']));
    const ids = commands.map(({ command }) => command);
    const registered = [...COMMAND_NAMES, 'showOutput'].map((name) => `supercode.frontend.${name}`);
    expect([...ids].sort()).toEqual(registered.sort());
    for (const { command } of [...menus.commandPalette, ...keybindings]) expect(ids).toContain(command);
    expect(menus.commandPalette).toContainEqual({ command: 'supercode.frontend.respond', when: 'false' });
    expect(keybindings.map(({ when }) => when)).toEqual(['supercodeRequestWaiting', 'supercodeRequestWaiting']);
  });

  it('makes nothing depend on a key that neither the extension nor the editor sets', () => {
    const conditions = strings(manifest).filter(({ key }) => key === 'when');
    // What a key is compared with is none.
    const asked = conditions.flatMap(({ text }) => text.replaceAll(/== \w+/g, '').match(/\w+/g) ?? []);
    expect(asked.filter((key) => ![...CONTEXT_KEYS, 'chatSessionType', 'false'].includes(key))).toEqual([]);
  });

  it('[defect E71] speaks of the Volter Harness, never of Supercode', () => {
    const media = filesIn(join(folder, 'media')).filter((file) => /\.(?:md|svg)$/.test(file));
    const texts = strings(manifest)
      .filter(isShown)
      .map(({ text }) => text.replace(/\(command:[^)]*\)/g, ''));
    texts.push(...media.map((file) => readFileSync(join(folder, 'media', file), 'utf8')));
    for (const text of texts) expect(text.replaceAll('@supercode', '')).not.toMatch(/supercode/i);
  });
});

describe('what a host grants', () => {
  it('the granted manifest asks for each proposal that the extension has a use for, with no version', () => {
    const { enabledApiProposals, contributes } = packed('granted').manifest;
    expect(enabledApiProposals).toEqual([...PROPOSALS]);
    expect(contributes.chatParticipants.map(({ id }) => id)).toEqual([
      'supercode.chat',
      'supercode.chat.default',
      // Of the sessions: its id is their type.
      'supercode',
    ]);
    expect(contributes['chatSessions']).toMatchObject([{ type: 'supercode', canDelegate: false }]);
    expect(contributes.chatParticipants[1]).toMatchObject({ isDefault: true, modes: ['ask', 'edit', 'agent'] });
  });

  it('the plain manifest has nothing that an editor refuses which grants none', () => {
    const { manifest } = packed('plain', '--no-proposals');
    expect(manifest.enabledApiProposals).toBeUndefined();
    expect(manifest.contributes['chatSessions']).toBeUndefined();
    expect(Object.keys(manifest.contributes['menus'] as object)).toEqual(['commandPalette']);
    const [plain, ...others] = manifest.contributes.chatParticipants;
    expect(others).toEqual([]);
    for (const gated of ['isDefault', 'modes', 'locations']) expect(plain).not.toHaveProperty(gated);
  });

  it('in both, the participant that answers without a mention and the one that needs it exclude each other', () => {
    const [plain, standard] = packed('exclusion').manifest.contributes.chatParticipants;
    expect(plain?.['when']).toBe(`!${String(standard?.['when'])}`);
    expect(plain?.['name']).not.toBe(standard?.['name']);
  });
});

describe('the folder', () => {
  it('a folder packed here before is written anew, whole', () => {
    const { folder } = packed('again');
    writeFileSync(join(folder, 'media/left-over.svg'), '<svg/>');
    const { manifest } = packed('again', '--no-proposals');
    expect(manifest.enabledApiProposals).toBeUndefined();
    expect(existsSync(join(folder, 'media/left-over.svg'))).toBe(false);
  });

  it.each([
    ['notes.txt', 'mine'],
    ['package.json', '{"name":"other"}'],
  ])('a folder with a %s of somebody else is refused and left alone', (file, text) => {
    const folder = mkdtempSync(join(scratch, 'theirs-'));
    writeFileSync(join(folder, file), text);
    const before = filesIn(folder);
    const { status, stderr } = pack(['--out', folder]);
    expect(status).toBe(2);
    expect(stderr).toContain('holds something else');
    expect(filesIn(folder)).toEqual(before);
  });

  it('the page of the extension has no links to files that stayed behind', () => {
    const original = readFileSync(join(staged, 'README.md'));
    writeFileSync(
      join(staged, 'README.md'),
      '# One\n\n![picture](docs/a.svg)\n\n<img src="docs/b.png" width="9">\n\nSee [the docs](docs/x.md) at ' +
        '[home](https://example.com) or [below](#one).\n',
    );
    const readme = join(packed('links').folder, 'README.md');
    writeFileSync(join(staged, 'README.md'), original);
    expect(readFileSync(readme, 'utf8')).toBe(
      '# One\n\nSee the docs at [home](https://example.com) or [below](#one).\n',
    );
  });
});

describe('mistakes', () => {
  it.each([
    [['--out', 'x', '--nope'], "Unknown option '--nope'"],
    [['--out', 'x', 'y'], "Unexpected argument 'y'"],
    [[], '--out DIR is missing'],
    [['--out'], "'--out <value>' argument missing"],
  ])('%j: says what is wrong, and how it is used', (args, message) => {
    const { status, stderr } = pack(args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain('Usage: pack-extension.mjs');
    expect(stderr).not.toContain('    at ');
    expect(existsSync(join(scratch, 'x'))).toBe(false);
  });

  it('--help explains each option', () => {
    const { status, stdout } = pack(['--help']);
    expect(status).toBe(0);
    for (const option of ['--out DIR', '--vsix [FILE]', '--no-proposals']) expect(stdout).toContain(option);
  });

  it('nothing built: says so, and writes nothing', () => {
    const unbuilt = join(scratch, 'unbuilt');
    cpSync(staged, unbuilt, { recursive: true });
    rmSync(join(unbuilt, 'dist'), { recursive: true });
    const { status, stderr } = pack(['--out', join(scratch, 'nothing')], { from: unbuilt });
    expect(status).toBe(2);
    expect(stderr).toContain('run "npm run build" first');
    expect(existsSync(join(scratch, 'nothing'))).toBe(false);
  });

  it('no packer: --vsix says how to get one, before anything is written', () => {
    const alone = join(scratch, 'alone');
    cpSync(staged, alone, { recursive: true });
    // Whatever the folders above hold: a package that lets nothing in ends the search.
    mkdirSync(join(alone, 'node_modules/@vscode/vsce'), { recursive: true });
    writeFileSync(join(alone, 'node_modules/@vscode/vsce/package.json'), '{"name":"@vscode/vsce","exports":{}}');
    const { status, stderr } = pack(['--out', join(scratch, 'unpacked'), '--vsix'], { from: alone, cwd: alone });
    expect(status).toBe(2);
    expect(stderr).toContain('npm install --save-dev @vscode/vsce');
    expect(existsSync(join(scratch, 'unpacked'))).toBe(false);
  });
});

describe('a .vsix', () => {
  it('is named after the extension, beside the folder; its packer is found where the command runs', () => {
    const { version } = manifestIn(root);
    const { status } = pack(['--out', join(scratch, 'shipped/folder'), '--vsix'], { cwd: root });
    expect(status).toBe(0);
    expect(fs.readdirSync(join(scratch, 'shipped')).sort()).toEqual([
      'folder',
      `supercode-frontend-vscode-${String(version)}.vsix`,
    ]);
  });

  it('goes where it is told, and is a zip', () => {
    const file = join(scratch, 'deep/er/my.vsix');
    const args = ['--vsix', file, '--no-proposals', '--out', join(scratch, 'to-file')];
    expect(pack(args, { cwd: root }).status).toBe(0);
    expect(readFileSync(file).subarray(0, 4).toString('latin1')).toBe('PK\x03\x04');
  });
});

describe('the published package', () => {
  it('holds all that packing needs, and packs from where it is installed, with nothing else installed', () => {
    const npm = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
      cwd: staged,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    const [made] = JSON.parse(npm.stdout) as { filename: string; files: { path: string }[] }[];
    const paths = made?.files.map(({ path }) => path) ?? [];
    for (const path of ['scripts/pack-extension.mjs', 'media/icon.png', 'media/walkthrough/connect.svg', 'LICENSE-MIT'])
      expect(paths).toContain(path);
    expect(paths.filter((path) => /^(?:scripts\/(?!pack-)|src|test|tsconfig)/.test(path))).toEqual([]);

    mkdirSync(join(scratch, 'installed'));
    const tar = spawnSync('tar', ['-xzf', made?.filename ?? '', '-C', 'installed'], { cwd: scratch });
    expect(tar.status).toBe(0);
    // As linked dependencies are: the script's path is not the one that was typed.
    fs.symlinkSync(join(scratch, 'installed/package'), join(scratch, 'linked'), 'dir');
    const folder = join(scratch, 'from-npm');
    expect(pack(['--out', folder], { from: join(scratch, 'linked') }).status).toBe(0);
    expect(filesIn(folder)).toEqual(filesIn(packed('from-checkout').folder));
  });
});

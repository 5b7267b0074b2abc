import { mkdtemp, mkdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Workspace } from '../../src/runtime/workspace.js';

describe('the workspace of the embedded runtime', () => {
  let base: string;
  let workspace: Workspace;

  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'workspace-test-')));
    await mkdir(join(base, 'inside'));
    await mkdir(join(base, 'outside'));
    workspace = new Workspace(join(base, 'inside'));
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const exists = async (path: string): Promise<boolean> =>
    readFile(path).then(
      () => true,
      () => false,
    );

  it('writes below its root, making directories on the way', async () => {
    await workspace.write('a/b/c.txt', 'text');
    expect(await readFile(join(base, 'inside/a/b/c.txt'), 'utf8')).toBe('text');
    await workspace.write(join(base, 'inside/absolute.txt'), 'too');
    expect(await workspace.read('absolute.txt')).toBe('too');
  });

  it.each([
    ['a parent path', '../outside/file.txt'],
    ['a path that leaves and is long', 'a/../../outside/file.txt'],
    ['an absolute path', `${tmpdir()}/workspace-test-escape.txt`],
    ['a sibling that shares the name as a prefix', '../inside-too/file.txt'],
  ])('refuses to write to %s', async (_name, path) => {
    await expect(workspace.write(path, 'x')).rejects.toThrow(/^write denied: .* is outside the workspace/);
    await expect(workspace.remove(path)).rejects.toThrow(/^write denied/);
    expect(await exists(workspace.absolute(path))).toBe(false);
  });

  it('refuses to write through a symbolic link that leads out', async () => {
    await symlink(join(base, 'outside'), join(base, 'inside/link'));
    await writeFile(join(base, 'outside/kept.txt'), 'kept');
    await symlink(join(base, 'outside/kept.txt'), join(base, 'inside/file-link'));
    for (const path of ['link/new.txt', 'link/deep/new.txt', 'link/kept.txt', 'file-link']) {
      await expect(workspace.write(path, 'x'), path).rejects.toThrow(/^write denied/);
    }
    expect(await readFile(join(base, 'outside/kept.txt'), 'utf8')).toBe('kept');
    expect(await exists(join(base, 'outside/new.txt'))).toBe(false);
  });

  it('refuses a dangling link and a link whose parent path leads out', async () => {
    await symlink(join(base, 'outside/not-yet.txt'), join(base, 'inside/dangling'));
    await expect(workspace.write('dangling', 'x')).rejects.toThrow(/^write denied/);
    await symlink(join(base, 'inside/loop'), join(base, 'inside/loop'));
    await expect(workspace.write('loop', 'x')).rejects.toThrow(/symbolic links/);
    await mkdir(join(base, 'outside/deep'));
    await symlink(join(base, 'outside/deep'), join(base, 'inside/deep-link'));
    // The system would resolve the link first and land in outside/; we go where the text says, which is inside.
    await workspace.write('deep-link/../lexical.txt', 'x');
    expect(await exists(join(base, 'inside/lexical.txt'))).toBe(true);
    expect(await exists(join(base, 'outside/lexical.txt'))).toBe(false);
  });

  it('tells the difference that a turn made', async () => {
    await workspace.write('kept.txt', 'one\n');
    workspace.beginTurn();
    await workspace.write('kept.txt', 'two\n');
    await workspace.write('kept.txt', 'three\n');
    await workspace.write('new.txt', 'fresh\n');
    await workspace.write('gone.txt', 'x');
    await workspace.remove('gone.txt');
    expect(await workspace.diffOfTurn()).toBe(
      '--- a/kept.txt\n+++ b/kept.txt\n@@ -1,1 +1,1 @@\n-one\n+three\n' +
        '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+fresh\n',
    );
    workspace.beginTurn();
    expect(await workspace.diffOfTurn()).toBe('');
  });
});

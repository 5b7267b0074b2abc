import { mkdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { messageOf } from '../protocol/messageOf.js';
import { unifiedDiff } from './unifiedDiff.js';

/** A tool could not do its work; the message goes to the model. */
export class ToolFailure extends Error {
  constructor(
    message: string,
    readonly tool?: string,
  ) {
    super(message);
  }
}

/** The files of one session. Reads go where the model says; writes stay inside the root, symbolic links followed. */
export class Workspace {
  /** What each file held before this turn first wrote it; undefined for a file that did not exist. */
  readonly #before = new Map<string, string | undefined>();

  constructor(readonly root: string) {}

  beginTurn(): void {
    this.#before.clear();
  }

  /** Not normalised: messages show the path as the model wrote it. */
  absolute(path: string): string {
    return isAbsolute(path) ? path : `${this.root}${sep}${path}`;
  }

  /** As the model should see it: relative to the root where possible. */
  shown(path: string): string {
    const inside = relative(this.root, path);
    return inside.startsWith('..') || isAbsolute(inside) ? path : inside;
  }

  async read(path: string): Promise<string> {
    const full = this.absolute(path);
    try {
      return await readFile(full, 'utf8');
    } catch (error) {
      throw new ToolFailure(`${full}: ${systemMessage(error)}`);
    }
  }

  async write(path: string, content: string): Promise<void> {
    const full = await this.#writable(path);
    await this.#remember(full);
    try {
      await mkdir(dirname(full), { recursive: true });
      await writeFile(full, content);
    } catch (error) {
      throw new ToolFailure(`${full}: ${systemMessage(error)}`);
    }
  }

  async remove(path: string): Promise<void> {
    const full = await this.#writable(path);
    await this.#remember(full);
    try {
      await rm(full);
    } catch (error) {
      throw new ToolFailure(`${full}: ${systemMessage(error)}`);
    }
  }

  /** One unified diff of everything this turn has written so far; empty when nothing changed. */
  async diffOfTurn(): Promise<string> {
    const diffs: string[] = [];
    for (const [path, before] of this.#before)
      diffs.push(unifiedDiff(this.shown(path), before, await textOrNothing(path)));
    return diffs.join('');
  }

  async #remember(full: string): Promise<void> {
    if (!this.#before.has(full)) this.#before.set(full, await textOrNothing(full));
  }

  async #writable(path: string): Promise<string> {
    const full = resolve(this.absolute(path));
    const [root, target] = await Promise.all([realpath(this.root), realPathOf(full)]);
    if (target !== root && !target.startsWith(root + sep)) {
      throw new ToolFailure(
        `write denied: ${this.absolute(path)} is outside the workspace ${this.root} (and its 0 additional root(s))`,
        'sandbox',
      );
    }
    return full;
  }
}

const MAX_LINKS = 40;

/** Where a path really leads, also when its last parts do not exist yet or are links to what does not exist yet. */
const realPathOf = async (path: string, links = 0): Promise<string> => {
  if (links > MAX_LINKS) throw new ToolFailure(`${path}: Too many levels of symbolic links (os error 40)`);
  try {
    return await realpath(path);
  } catch {
    const target = await readlink(path).catch(() => undefined);
    const parent = dirname(path);
    if (parent === path) return path;
    const directory = await realPathOf(parent, links);
    if (target !== undefined) return realPathOf(resolve(directory, target), links + 1);
    return join(directory, basename(path));
  }
};

const textOrNothing = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
};

const SYSTEM_MESSAGES: Record<string, string> = {
  ENOENT: 'No such file or directory (os error 2)',
  EACCES: 'Permission denied (os error 13)',
  ENOTDIR: 'Not a directory (os error 20)',
  EISDIR: 'Is a directory (os error 21)',
};

const systemMessage = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return SYSTEM_MESSAGES[code] ?? messageOf(error);
};

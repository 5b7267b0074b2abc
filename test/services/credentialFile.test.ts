import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CredentialRefused } from '../../src/protocol/refusal.js';
import { readCredentialFile } from '../../src/services/node/credentialFile.js';
import { errorOf } from './peer.js';

const TOKEN = '0123456789abcdef'.repeat(4);
const OTHER = 'fedcba9876543210'.repeat(4);
const isRoot = process.geteuid?.() === 0;

/** What happens to the file between two steps of the reader; the steps themselves are Node's own. */
const between = vi.hoisted(() => ({
  statAndOpen: undefined as (() => void) | undefined,
  openAndRead: undefined as (() => void) | undefined,
}));
vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const open: typeof real.open = async (...parameters) => {
    between.statAndOpen?.();
    const handle = await real.open(...parameters);
    between.openAndRead?.();
    return handle;
  };
  return { ...real, open };
});

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'credential-'));
  path = join(directory, 'credential');
  writeFileSync(path, TOKEN, { mode: 0o600 });
});

afterEach(() => {
  between.statAndOpen = undefined;
  between.openAndRead = undefined;
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true, force: true });
});

async function expectRefused(why: RegExp, at = path, platform: NodeJS.Platform = 'linux'): Promise<void> {
  const error = await errorOf(readCredentialFile(at, platform));
  expect(error).toBeInstanceOf(CredentialRefused);
  const { message, stack } = error as CredentialRefused;
  expect(message).toMatch(why);
  for (const secret of [TOKEN, OTHER, TOKEN.toUpperCase()])
    expect(`${message}${stack}`).not.toContain(secret.slice(0, 16));
}

describe('a credential file', () => {
  it('[fault 49] mode 0600: is read and stays where it is', async () => {
    expect(await readCredentialFile(path, 'linux')).toEqual({ token: TOKEN, unchecked: [] });
    expect(readFileSync(path, 'utf8')).toBe(TOKEN);
    expect(await readCredentialFile(path, 'linux')).toEqual({ token: TOKEN, unchecked: [] });
  });

  it('[fault 49] mode 0400: is read', async () => {
    chmodSync(path, 0o400);
    expect((await readCredentialFile(path, 'linux')).token).toBe(TOKEN);
  });

  it.each([0o644, 0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o666])(
    '[fault 49] [defect F93] mode %o: is refused',
    async (mode) => {
      chmodSync(path, mode);
      await expectRefused(/used by others.*chmod 600/);
    },
  );

  it('[fault 49] [defect F93] a symbolic link: is refused', async () => {
    const link = join(directory, 'link');
    symlinkSync(path, link);
    await expectRefused(/symbolic link/, link);
  });

  it('[fault 49] a link that leads nowhere, or to itself: is refused', async () => {
    symlinkSync(join(directory, 'nowhere'), join(directory, 'dangling'));
    symlinkSync(join(directory, 'loop'), join(directory, 'loop'));
    await expectRefused(/symbolic link/, join(directory, 'dangling'));
    await expectRefused(/symbolic link/, join(directory, 'loop'));
    await expectRefused(/symbolic link/, join(directory, 'loop', 'credential'));
  });

  it('[fault 49] [defect F93] with two links: is refused under either name', async () => {
    const second = join(directory, 'second');
    linkSync(path, second);
    await expectRefused(/hard link/);
    await expectRefused(/hard link/, second);
    unlinkSync(second);
    expect((await readCredentialFile(path, 'linux')).token).toBe(TOKEN);
  });

  it('[fault 49] a FIFO: is refused and blocks nothing', async () => {
    const fifo = join(directory, 'fifo');
    execFileSync('mkfifo', ['-m', '600', fifo]);
    await expectRefused(/not a regular file/, fifo);
  });

  it('[fault 49] a FIFO put in its place before the opening: blocks nothing', async () => {
    between.statAndOpen = () => {
      unlinkSync(path);
      execFileSync('mkfifo', ['-m', '600', path]);
    };
    await expectRefused(/changed while it was read/);
  });

  it('[fault 49] a directory, a socket: is refused', async () => {
    mkdirSync(join(directory, 'sub'), 0o700);
    await expectRefused(/not a regular file/, join(directory, 'sub'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(directory, 'socket'), resolve));
    chmodSync(join(directory, 'socket'), 0o600);
    await expectRefused(/not a regular file/, join(directory, 'socket'));
    server.close();
  });

  it.each([
    ['63 characters', TOKEN.slice(1), /63 bytes/],
    ['65 characters', `${TOKEN}0`, /65 bytes/],
    ['a trailing LF', `${TOKEN}\n`, /65 bytes.*line end/],
    ['a trailing CRLF', `${TOKEN}\r\n`, /66 bytes.*line end/],
    ['nothing', '', /0 bytes/],
    ['a BOM', `\ufeff${TOKEN}`, /67 bytes/],
    ['upper case', TOKEN.toUpperCase(), /lower-case hexadecimal/],
    ['one upper-case digit', `A${TOKEN.slice(1)}`, /lower-case hexadecimal/],
    ['a letter past f', `g${TOKEN.slice(1)}`, /lower-case hexadecimal/],
    ['64 bytes of which the last two are CRLF', `${TOKEN.slice(2)}\r\n`, /lower-case hexadecimal/],
    ['64 bytes of which the last is LF', `${TOKEN.slice(1)}\n`, /lower-case hexadecimal/],
    ['64 NULs', '\0'.repeat(64), /lower-case hexadecimal/],
  ])('[fault 49] with %s: is refused', async (_what, content, why) => {
    writeFileSync(path, content);
    await expectRefused(why);
  });

  it('[fault 49] with 64 characters: is read', async () => {
    writeFileSync(path, OTHER);
    expect((await readCredentialFile(path, 'linux')).token).toBe(OTHER);
  });

  it('[fault 49] replaced between stat and open by another good file: is refused', async () => {
    const other = join(directory, 'other');
    writeFileSync(other, OTHER, { mode: 0o600 });
    between.statAndOpen = () => {
      renameSync(other, path);
    };
    await expectRefused(/changed while it was read/);
  });

  it('[fault 49] replaced between stat and open by a link to another good file: is refused', async () => {
    const other = join(directory, 'other');
    renameSync(path, other);
    writeFileSync(path, TOKEN, { mode: 0o600 });
    between.statAndOpen = () => {
      unlinkSync(path);
      symlinkSync(other, path);
    };
    await expectRefused(/symbolic link/);
  });

  it('[fault 49] replaced after the opening: is refused', async () => {
    const other = join(directory, 'other');
    writeFileSync(other, OTHER, { mode: 0o600 });
    between.openAndRead = () => {
      renameSync(other, path);
    };
    await expectRefused(/changed while it was read/);
  });

  it('[fault 49] with its directory replaced after the opening: is refused', async () => {
    const aside = `${directory}-aside`;
    onTestFinished(() => {
      rmSync(aside, { recursive: true, force: true });
    });
    between.openAndRead = () => {
      renameSync(directory, aside);
      mkdirSync(directory, { mode: 0o700 });
      writeFileSync(path, OTHER, { mode: 0o600 });
    };
    await expectRefused(/changed while it was read/);
  });

  it('[fault 49] removed between stat and open: is refused', async () => {
    between.statAndOpen = () => {
      unlinkSync(path);
    };
    await expectRefused(/does not exist/);
  });

  it('[fault 49] grown, cut or opened up to others after the opening: is refused', async () => {
    between.openAndRead = () => {
      appendFileSync(path, '0');
    };
    await expectRefused(/changed while it was read/);
    writeFileSync(path, TOKEN);
    between.openAndRead = () => {
      writeFileSync(path, TOKEN.slice(1));
    };
    await expectRefused(/changed while it was read/);
    writeFileSync(path, TOKEN);
    between.openAndRead = () => {
      chmodSync(path, 0o644);
    };
    await expectRefused(/changed while it was read/);
  });

  it('[fault 49] rewritten with as many bytes after the opening: is refused', async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    between.openAndRead = () => {
      writeFileSync(path, OTHER);
    };
    await expectRefused(/changed while it was read/);
  });

  it.each([0o777, 0o770, 0o720, 0o702])('[fault 49] in a directory of mode %o: is refused', async (mode) => {
    chmodSync(directory, mode);
    await expectRefused(/directory that others can write.*chmod 700/);
  });

  it.each([0o700, 0o755, 0o1777])('[fault 49] in a directory of mode %o: is read', async (mode) => {
    chmodSync(directory, mode);
    expect((await readCredentialFile(path, 'linux')).token).toBe(TOKEN);
  });

  it('[fault 49] of another user: is refused', async () => {
    const us = process.geteuid?.() ?? 0;
    vi.spyOn(process, 'geteuid').mockReturnValue(us + 1);
    await expectRefused(/another user/);
  });

  it.runIf(isRoot)('[fault 49] in a directory of another user: is refused, sticky or not', async () => {
    for (const mode of [0o755, 0o1777]) {
      chmodSync(directory, mode);
      chownSync(directory, 12_345, 12_345);
      await expectRefused(/directory of another user/);
    }
  });

  it('[fault 49] with a relative path, a NUL in it or none: is refused', async () => {
    await expectRefused(/absolute path/, relative(process.cwd(), path));
    await expectRefused(/absolute path/, '');
    await expectRefused(/absolute path/, `${path}\0.txt`);
  });

  it('[fault 49] that is not there: says so', async () => {
    await expectRefused(/does not exist/, join(directory, 'gone'));
    await expectRefused(/cannot be read \(ENOTDIR\)/, join(path, 'below'));
  });

  it('does not let a path bring control characters or a book into the message', async () => {
    const { message } = (await errorOf(readCredentialFile(`/\u001b[2J\n${'x'.repeat(5000)}`, 'linux'))) as Error;
    expect(message).not.toMatch(/[\u001b\n]/);
    expect(message.length).toBeLessThan(600);
  });
});

describe('on Windows, which has neither modes nor owners', () => {
  it('says what it could not check', async () => {
    chmodSync(path, 0o644);
    chmodSync(directory, 0o777);
    expect(await readCredentialFile(path, 'win32')).toEqual({
      token: TOKEN,
      unchecked: ['owner', 'access rights', 'rights of the directory'],
    });
  });

  it('still refuses what it can see', async () => {
    symlinkSync(path, join(directory, 'link'));
    await expectRefused(/symbolic link/, join(directory, 'link'), 'win32');
    linkSync(path, join(directory, 'second'));
    await expectRefused(/hard link/, path, 'win32');
    unlinkSync(join(directory, 'second'));
    writeFileSync(path, `${TOKEN}\r\n`);
    await expectRefused(/66 bytes/, path, 'win32');
    expect(existsSync(path)).toBe(true);
  });
});

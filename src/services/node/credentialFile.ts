import type { BigIntStats } from 'node:fs';
import { constants, lstat, open, stat, type FileHandle } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import { cutAtCodePoint } from '../../protocol/bounded.js';
import { CredentialRefused } from '../../protocol/refusal.js';

const TOKEN_BYTES = 64;
const GROUP_AND_OTHERS = 0o077n;
const GROUP_AND_OTHERS_WRITE = 0o022n;
const STICKY = 0o1000n;
const ROOT = 0n;
const AGAIN = 'Ask the host for a new handover.';

export interface FileCredential {
  /** 64 lower-case hexadecimal digits. */
  readonly token: string;
  /** What this system cannot tell, so what nobody has checked: empty except on Windows. */
  readonly unchecked: readonly string[];
}

/**
 * Reads a credential that a host left in a private file, which stays where it is. Rejects with `CredentialRefused`,
 * saying why and what to do, unless the path is absolute and names a regular file of ours with one link, no rights for
 * anybody else and exactly 64 lower-case hexadecimal bytes, in a directory where nobody else can exchange it, and the
 * file is the same before, at and after the reading. Never blocks on a FIFO and never follows a link.
 */
export async function readCredentialFile(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<FileCredential> {
  const owners = platform === 'win32' ? undefined : { us: BigInt(process.geteuid?.() ?? 0) };
  const paths = platform === 'win32' ? win32 : posix;
  if (!paths.isAbsolute(path) || path.includes('\0')) throw refused(path, 'is not an absolute path', AGAIN);

  const before = await reading(path, () => lstat(path, { bigint: true }));
  checkFile(path, before, owners);
  if (owners) checkDirectory(path, await reading(path, () => stat(paths.dirname(path), { bigint: true })), owners);

  // Windows has neither of the last two; missing, they count as 0.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await reading(path, () => open(path, flags));
  try {
    checkSame(path, before, await reading(path, () => handle.stat({ bigint: true })));
    const content = await reading(path, () => contentOf(handle));
    checkSame(path, before, await reading(path, () => handle.stat({ bigint: true })));
    checkSame(path, before, await reading(path, () => lstat(path, { bigint: true })));
    if (content.length !== TOKEN_BYTES) throw changed(path);
    if (!/^[0-9a-f]+$/.test(content)) {
      throw refused(path, 'does not hold 64 lower-case hexadecimal digits', 'It must hold the token alone, as given.');
    }
    return { token: content, unchecked: owners ? [] : ['owner', 'access rights', 'rights of the directory'] };
  } finally {
    await handle.close().catch(() => undefined);
  }
}

interface Owners {
  readonly us: bigint;
}

function checkFile(path: string, file: BigIntStats, owners: Owners | undefined): void {
  if (file.isSymbolicLink()) throw refused(path, 'is a symbolic link', 'Name the file itself.');
  if (!file.isFile()) throw refused(path, 'is not a regular file', AGAIN);
  if (file.nlink !== 1n) throw refused(path, 'has a second name (hard link)', AGAIN);
  if (owners) {
    if (file.uid !== owners.us) throw refused(path, 'belongs to another user', 'Start the host as the same user.');
    if ((file.mode & GROUP_AND_OTHERS) !== 0n) {
      throw refused(
        path,
        'can be used by others than its owner',
        'Take their rights away (chmod 600) and connect again.',
      );
    }
  }
  if (file.size !== BigInt(TOKEN_BYTES)) {
    throw refused(path, `holds ${file.size} bytes in place of 64`, 'It must hold the token alone, without a line end.');
  }
}

/** Who may write in the directory may put another file in this one's place; a sticky bit keeps that from others. */
function checkDirectory(path: string, directory: BigIntStats, owners: Owners): void {
  if (directory.uid !== owners.us && directory.uid !== ROOT) {
    throw refused(path, 'lies in a directory of another user', 'Keep it in a private directory (chmod 700).');
  }
  if ((directory.mode & GROUP_AND_OTHERS_WRITE) !== 0n && (directory.mode & STICKY) === 0n) {
    throw refused(path, 'lies in a directory that others can write', 'Keep it in a private directory (chmod 700).');
  }
}

function checkSame(path: string, before: BigIntStats, now: BigIntStats): void {
  const same =
    now.dev === before.dev &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mode === before.mode &&
    now.nlink === before.nlink &&
    now.uid === before.uid &&
    now.mtimeNs === before.mtimeNs &&
    now.ctimeNs === before.ctimeNs;
  if (!same) throw changed(path);
}

/** One byte more than a token may have, so that a file that grew is noticed. */
async function contentOf(handle: FileHandle): Promise<string> {
  const bytes = Buffer.alloc(TOKEN_BYTES + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.toString('latin1', 0, length);
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
    if (code === 'ELOOP') throw refused(path, 'leads over a symbolic link', 'Name the file itself.');
    throw refused(path, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`, AGAIN);
  }
}

function changed(path: string): CredentialRefused {
  return refused(path, 'changed while it was read', 'Connect again.');
}

function refused(path: string, why: string, advice: string): CredentialRefused {
  return new CredentialRefused(`The credential file ${JSON.stringify(cutAtCodePoint(path, 300))} ${why}. ${advice}`);
}

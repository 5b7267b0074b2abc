import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 64 * 1024;
/** A longer line is no line of ours; nor may it become a string that is too long to exist. */
const LINE_LIMIT_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;
const SHOWN_OF_A_BAD_LINE = 200;

/**
 * The lines of a file, one at a time and without their newline. Only the byte 0x0A ends a line: U+2028 is text, and so is
 * a byte order mark. A line that is not UTF-8 or has more than 64 MiB comes as its beginning behind U+FFFD, which is no
 * JSON; what follows it is read as ever. The file is opened at the first line; opening and reading may throw.
 */
export function* readLines(path: string): Generator<string, void, undefined> {
  const file = openSync(path, 'r');
  try {
    const line = new LineBuffer();
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const length = readSync(file, chunk, 0, CHUNK_BYTES, null);
      if (length === 0) break;
      let from = 0;
      while (from < length) {
        const newline = chunk.subarray(0, length).indexOf(NEWLINE, from);
        line.add(chunk.subarray(from, newline === -1 ? length : newline));
        if (newline === -1) break;
        yield line.take();
        from = newline + 1;
      }
    }
    if (line.length > 0) yield line.take();
  } finally {
    closeSync(file);
  }
}

class LineBuffer {
  length = 0;
  private pieces: Buffer[] = [];

  add(piece: Buffer): void {
    this.length += piece.length;
    if (this.length <= LINE_LIMIT_BYTES) this.pieces.push(piece);
    // Of a line that is too long only the beginning is of use; the rest goes by.
    else this.pieces.length = Math.min(this.pieces.length, 1);
  }

  take(): string {
    const bytes = Buffer.concat(this.pieces);
    const isWhole = this.length === bytes.length;
    this.pieces = [];
    this.length = 0;
    if (isWhole) {
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch {
        // Not UTF-8: told by what is returned.
      }
    }
    return `\uFFFD${bytes.toString('utf8', 0, SHOWN_OF_A_BAD_LINE)}`;
  }
}

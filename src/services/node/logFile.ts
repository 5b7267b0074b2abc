import { closeSync, openSync, writeSync } from 'node:fs';

/** What is not yet written after this long is written. A process that is killed loses no more than that; ms. */
const FLUSH_AFTER_MS = 200;
/** UTF-16 units that may wait. */
const FLUSH_AT = 64 * 1024;

/** A file of lines that is being written: fit to be a recorder's sink. */
export interface LogFile {
  /** Throws what an earlier write met, so that whoever records hears of it. */
  write(line: string): void;
  /** Writes what waits and closes the file; a second call does nothing. Throws what the writing met. */
  close(): void;
}

/**
 * Creates a log that only this user can read. Throws where anything of that name exists, a dangling link included.
 * Lines gather for a moment: one system call for each action would be felt while text streams.
 */
export function createLogFile(path: string): LogFile {
  const file = openSync(path, 'wx', 0o600);
  let waiting: string[] = [];
  let units = 0;
  let timer: NodeJS.Timeout | undefined;
  let failure: Error | undefined;
  let isOpen = true;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const bytes = Buffer.from(waiting.join(''), 'utf8');
    waiting = [];
    units = 0;
    if (failure !== undefined) return;
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
  };

  const throwFailure = () => {
    if (failure !== undefined) throw failure;
  };

  return {
    write: (line) => {
      throwFailure();
      if (!isOpen) throw new Error('The log is closed.');
      waiting.push(line, '\n');
      units += line.length + 1;
      if (units >= FLUSH_AT) flush();
      // The timer must not keep a process alive that is done: closing writes what waits.
      else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
      throwFailure();
    },
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      flush();
      closeSync(file);
      throwFailure();
    },
  };
}

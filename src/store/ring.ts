import { rootReducer } from './root.js';
import { emptyState } from './replay.js';
import type { LogHeader, LogRecord, LogSink } from './recorder.js';
import type { RootState } from './state.js';

/**
 * The newest `limit` actions, kept in memory. What drops out is folded into the state that the rest starts from, so
 * that `lines` is at any time a log that replays.
 */
export interface Ring extends LogSink {
  readonly lines: () => readonly string[];
}

export function createRing(limit: number): Ring {
  let header: LogHeader | undefined;
  let base: RootState | undefined;
  let dropped = 0;
  let start = 0;
  let records: string[] = [];
  let footer: string | undefined;

  const drop = () => {
    const { action } = JSON.parse(records[start] ?? '') as LogRecord;
    base = rootReducer(base ?? header?.base ?? emptyState(), action);
    start += 1;
    dropped += 1;
    // Removing one at a time from the front would copy the rest each time.
    if (start === limit) {
      records = records.slice(start);
      start = 0;
    }
  };

  return {
    write: (line) => {
      if (!header) {
        header = JSON.parse(line) as LogHeader;
      } else if (line.startsWith('{"end"')) {
        footer = line;
      } else {
        records.push(line);
        if (records.length - start > limit) drop();
      }
    },
    lines: () => {
      if (!header) return [];
      const moved = base ? { ...header, firstN: header.firstN + dropped, base } : header;
      return [JSON.stringify(moved), ...records.slice(start), ...(footer === undefined ? [] : [footer])];
    },
  };
}

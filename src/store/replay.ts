import type { LogFooter, LogHeader, LogRecord } from './recorder.js';
import { rootReducer } from './root.js';
import { STATE_VERSION, type RootState } from './state.js';

/** A line of a log that could not be used; the lines around it are. `line` counts from 1. */
export interface Damage {
  readonly line: number;
  readonly reason: string;
}

export interface Replayed {
  readonly header: LogHeader | undefined;
  readonly state: RootState;
  /** The last action applied; 0 where there was none. */
  readonly n: number;
  readonly damage: readonly Damage[];
  /** The hash that the recorder wrote; undefined where this replay must not be compared with it. */
  readonly recordedHash: string | undefined;
}

export interface ReplayOptions {
  /** The last `n` to apply. Default: all. */
  readonly at?: number;
  /** Told of each action after it was applied. */
  readonly onAction?: (record: LogRecord, state: RootState) => void;
}

const EMPTY_ACTION = { type: 'replay/started' };

/** The state before anything happened. */
export function emptyState(): RootState {
  return rootReducer(undefined, EMPTY_ACTION);
}

/**
 * Folds a log onto its base through the product's own reducer, with no sagas: nothing is sent, nothing is asked.
 * A damaged log is folded as far as it can be read.
 */
export function replay(lines: Iterable<string>, { at = Infinity, onAction }: ReplayOptions = {}): Replayed {
  const damage: Damage[] = [];
  let header: LogHeader | undefined;
  let state = emptyState();
  let n = 0;
  let footer: LogFooter | undefined;
  let whole = true;
  let number = 0;

  for (const line of lines) {
    number += 1;
    const read = readLine(line);
    if (read.kind === 'damage') {
      if (number === 1 || line.trim() !== '') damage.push({ line: number, reason: read.reason });
    } else if (read.kind === 'header') {
      if (number > 1) damage.push({ line: number, reason: 'A second header stands inside the log.' });
      else header = read.header;
      if (header?.base && number === 1) state = header.base;
      n = number === 1 ? read.header.firstN - 1 : n;
    } else if (read.kind === 'footer') {
      footer = read.footer;
      if (footer.end.n !== n) damage.push({ line: number, reason: cutShort(footer.end.n, n) });
    } else {
      const { record } = read;
      if (record.n > at) {
        whole = false;
        break;
      }
      if (record.n !== n + 1 && n > 0) damage.push({ line: number, reason: gap(n, record.n) });
      try {
        state = rootReducer(state, record.action);
        n = record.n;
        onAction?.(record, state);
      } catch (error) {
        damage.push({ line: number, reason: `This action can't be applied: ${String(error)}` });
      }
    }
  }
  if (header === undefined && damage.every(({ line }) => line !== 1)) {
    damage.unshift({
      line: 1,
      reason: number === 0 ? 'The file is empty.' : 'The log does not begin with its header.',
    });
  }
  const comparable = whole && header?.stateVersion === STATE_VERSION && footer?.end.n === n;
  return { header, state, n, damage, recordedHash: comparable ? footer?.end.hash : undefined };
}

type Line =
  | { readonly kind: 'header'; readonly header: LogHeader }
  | { readonly kind: 'record'; readonly record: LogRecord }
  | { readonly kind: 'footer'; readonly footer: LogFooter }
  | { readonly kind: 'damage'; readonly reason: string };

function readLine(line: string): Line {
  const value = parse(line);
  if (typeof value !== 'object' || value === null) return { kind: 'damage', reason: 'This line is not a JSON object.' };
  if ('format' in value) {
    return value.format === 1
      ? { kind: 'header', header: value as LogHeader }
      : {
          kind: 'damage',
          reason: `Format ${JSON.stringify(value.format)} is not known here; this version reads format 1.`,
        };
  }
  if (isFooter(value)) return { kind: 'footer', footer: value };
  if (isRecord(value)) return { kind: 'record', record: value };
  return { kind: 'damage', reason: 'This line is no header, no action and no footer.' };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isFooter(value: object): value is LogFooter {
  const { end } = value as { end?: { n?: unknown; hash?: unknown } | null };
  return typeof end === 'object' && typeof end?.n === 'number' && typeof end.hash === 'string';
}

function isRecord(value: object): value is LogRecord {
  const { n, action } = value as { n?: unknown; action?: { type?: unknown } | null };
  return Number.isSafeInteger(n) && typeof action === 'object' && typeof action?.type === 'string';
}

function cutShort(end: number, last: number): string {
  return `The log ends at action ${end}, but action ${last} is the last one in it.`;
}

function gap(from: number, to: number): string {
  return to <= from
    ? `Action ${to} follows action ${from}: the log is out of order.`
    : `Action ${to} follows action ${from}: what stood between them is missing.`;
}

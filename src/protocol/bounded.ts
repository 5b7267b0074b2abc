/** Marks what a bound left out; a reader must see that something is missing. */
const OMITTED = '…';
const MAX_DEPTH = 12;
/** Whatever writes JSON down recurses; nobody reads arguments or a form that are nested deeper. */
const WRITABLE_DEPTH = 64;

/**
 * JSON text of any value, at most about `limit` UTF-16 units, that never costs more than that: a peer's unknown payload
 * may be 10 MB or nested ten thousand deep, and `JSON.stringify` would walk all of it (or overflow the stack).
 */
export function boundedJson(value: unknown, limit: number): string {
  const pieces: string[] = [];
  let room = limit;
  const write = (piece: string): boolean => {
    if (piece.length > room) {
      pieces.push(cutAtCodePoint(piece, room), OMITTED);
      return false;
    }
    pieces.push(piece);
    room -= piece.length;
    return true;
  };
  writeValue(value, write, 0);
  return pieces.join('');
}

/** The first `limit` UTF-16 units of `text`, one fewer where the cut would part a surrogate pair. */
export function cutAtCodePoint(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/** UTF-16 units that are kept of what a tool was given or gave back: nobody is ever shown more of it. */
export const KEPT_LIMIT = 65_536;
/** Of what a tool was asked to do more is kept: a file that it wrote is in there, and reviewed as a whole. */
export const KEPT_ARGUMENTS_LIMIT = 1_048_576;

/** A text of which the end may not be kept: `omitted` is how many UTF-16 units that were. */
export interface Kept {
  readonly text: string;
  readonly omitted: number;
}

export function kept(text: string, limit = KEPT_LIMIT): Kept {
  const head = cutAtCodePoint(text, limit);
  // A copy: a slice would hold on to all of the text.
  return head === text
    ? { text, omitted: 0 }
    : { text: JSON.parse(JSON.stringify(head)) as string, omitted: text.length - head.length };
}

/**
 * A value out of `JSON.parse` as one that can be written down again: what is nested deeper than WRITABLE_DEPTH is marked as
 * left out, a number beyond all numbers (`1e400`) is spelled out. The same object where there is nothing to change.
 */
export function writable(value: unknown, depth = 0): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= WRITABLE_DEPTH) return OMITTED;
  const before = Object.entries(value) as readonly (readonly [string, unknown])[];
  const after = before.map(([name, member]) => [name, writable(member, depth + 1)] as const);
  if (after.every(([, member], at) => Object.is(member, before[at]?.[1]))) return value;
  return Array.isArray(value) ? after.map(([, member]) => member) : Object.fromEntries(after);
}

function writeValue(value: unknown, write: (piece: string) => boolean, depth: number): boolean {
  if (typeof value === 'string') return write(quoted(value));
  if (value === undefined) return write('null');
  if (typeof value !== 'object' || value === null) return write(JSON.stringify(value));
  if (depth >= MAX_DEPTH) return write(OMITTED);
  return Array.isArray(value) ? writeItems(value, write, depth) : writeFields(value, write, depth);
}

function writeItems(items: readonly unknown[], write: (piece: string) => boolean, depth: number): boolean {
  if (!write('[')) return false;
  for (const [at, item] of items.entries()) {
    if (at > 0 && !write(',')) return false;
    if (!writeValue(item, write, depth + 1)) return false;
  }
  return write(']');
}

function writeFields(fields: object, write: (piece: string) => boolean, depth: number): boolean {
  if (!write('{')) return false;
  let first = true;
  for (const name of Object.keys(fields)) {
    if (!write(`${first ? '' : ','}${quoted(name)}:`)) return false;
    first = false;
    if (!writeValue((fields as Readonly<Record<string, unknown>>)[name], write, depth + 1)) return false;
  }
  return write('}');
}

/** Quoting costs what it reads, so of a long string only what any bound could show is read. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 65_536 ? `${cutAtCodePoint(text, 65_536)}${OMITTED}` : text);
}

import { cutAtCodePoint } from '../protocol/bounded.js';
import type { Json } from '../protocol/requests.js';
import { reveal, sanitise } from './sanitise.js';

export { OPAQUE_LIMIT } from '../protocol/frontend-v2-events.js';

/** UTF-16 units of one chat part. */
export const PART_LIMIT = 65_536;
/** UTF-16 units of a title or another text of one line. */
export const TITLE_LIMIT = 256;
/**
 * What is shown of a conversation that is opened, from its newest turn backwards (ADR 9). Turns, the notice of those left
 * out among them:
 */
export const HISTORY_TURNS_LIMIT = 500;
/** … UTF-16 units of what was said in them: prompts, answers, reasoning, notes. */
export const HISTORY_SAID_LIMIT = 2 * 1024 * 1024;
/** … UTF-16 units of details: what tools were given and gave back, patches, output, requests that are over. */
export const HISTORY_DETAILS_LIMIT = 1024 * 1024;
/** … the blocks that details are drawn as. An editor makes a text editor of each, and warns of a leak at 175. */
export const HISTORY_BLOCKS_LIMIT = 160;
/** … chat parts of what was said, and of details, the files that patches name among them. */
export const HISTORY_SAID_PARTS_LIMIT = 4000;
export const HISTORY_DETAIL_PARTS_LIMIT = 1000;
/** UTF-16 units of a tool's input, and of its output, in a conversation that is opened. */
export const HISTORY_PREVIEW_LIMIT = 8192;

/** A cluster longer than this many units is cut like a run of characters: nobody reads it as one. */
const CLUSTER_LIMIT = 256;
/** Of a text that becomes a title no more than this is read. */
const TITLE_SOURCE_LIMIT = 8192;

/**
 * The text, or as much of it as fits into `limit` UTF-16 units together with a statement of how much is missing.
 * `omitted` is what the caller had left out of the text's end before.
 */
export function cutText(text: string, limit: number, omitted = 0): string {
  if (omitted === 0 && text.length <= limit) return text;
  const most = statement(text.length + omitted);
  if (most.length > limit) return limit < 1 ? '' : `${text.slice(0, boundary(text, limit - 1))}…`;
  const kept = text.slice(0, boundary(text, limit - most.length));
  return kept + statement(text.length - kept.length + omitted);
}

/**
 * Text from outside, clean and within `limit` UTF-16 units with the statement of what is missing. Of a huge text little
 * more than that is read.
 */
export function cleanText(text: string, limit: number, omitted = 0): string {
  const head = cutAtCodePoint(text, 2 * limit);
  return cutText(sanitise(head, true).text, limit, text.length - head.length + omitted);
}

/** As `cutText`, of what a person decides on, with nothing in it hidden; of a huge text no more than `limit` is read. */
export function revealedText(text: string, limit: number, change = (shown: string) => shown): string {
  const head = cutAtCodePoint(text, limit);
  return cutText(change(reveal(head)), limit, text.length - head.length);
}

function statement(omitted: number): string {
  return `… (${omitted.toLocaleString('en-US')} more ${omitted === 1 ? 'character' : 'characters'})`;
}

/**
 * Where to split assistant text so that the first piece has at most `room` UTF-16 units: after a line of its last
 * quarter, else where no character is parted. 0 only where not even the first character fits.
 */
export function splitPoint(text: string, room: number): number {
  if (text.length <= room) return text.length;
  const newline = text.lastIndexOf('\n', room - 1);
  if (room > 0 && newline >= room * 0.75) return newline + 1;
  return boundary(text, room) || cutAtCodePoint(text, Math.max(0, room)).length;
}

/** One clean line of at most `limit` UTF-16 units. */
export function title(text: string, limit = TITLE_LIMIT): string {
  const source = text.slice(0, TITLE_SOURCE_LIMIT);
  const whole = source.length === text.length;
  const line = sanitise(source, whole).text.trim().replace(/\s+/g, ' ');
  return whole && line.length <= limit ? line : `${line.slice(0, boundary(line, limit - 1))}…`;
}

/** As `title`, of what a person decides on: nothing in it is taken away unseen. */
export function revealedTitle(text: string, limit = TITLE_LIMIT): string {
  return title(reveal(text.slice(0, TITLE_SOURCE_LIMIT + 1)), limit);
}

/** The last place up to `at` that parts neither a surrogate pair nor what a reader sees as one character. */
function boundary(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (at <= 0) return 0;
  if (isAsciiText(text.charCodeAt(at - 1)) && isAsciiText(text.charCodeAt(at))) return at;
  const cut = cutAtCodePoint(text, at).length;
  const start = clusterStart(text, cut);
  const cluster = segmenter()
    ?.segment(text.slice(start, cut + 2))
    .containing(cut - start);
  if (cluster === undefined) return cut;
  // Reading that began just anywhere says nothing of the cluster it began in.
  const known = cluster.index > 0 || start === 0 || isAsciiText(text.charCodeAt(start));
  return known ? start + cluster.index : cut;
}

/** Where reading has to begin to see the clusters right: after a plain character, if one is near. */
function clusterStart(text: string, at: number): number {
  const nearest = Math.max(0, at - CLUSTER_LIMIT);
  for (let start = at - 1; start > nearest; start--) {
    if (isAsciiText(text.charCodeAt(start))) return start;
  }
  const unit = text.charCodeAt(nearest);
  return unit >= 0xdc00 && unit <= 0xdfff ? nearest + 1 : nearest;
}

function isAsciiText(unit: number): boolean {
  return unit >= 0x20 && unit < 0x7f;
}

let graphemes: Intl.Segmenter | undefined;

/** Made at the first cut: its data cost some milliseconds. Not every browser has it. */
function segmenter(): Intl.Segmenter | undefined {
  const { Segmenter } = Intl as Partial<typeof Intl>;
  graphemes ??= Segmenter && new Segmenter('en', { granularity: 'grapheme' });
  return graphemes;
}

const DEPTH_LIMIT = 12;
const LEFT_OUT = '\n… (the rest is left out)';

/**
 * JSON to read, with nothing in it hidden, of at most `limit` UTF-16 units; where that is too little, it says so. It costs
 * no more than that, however large or deep the value is.
 */
export function prettyJson(value: Json, limit: number): string {
  const pieces: string[] = [];
  let room = limit - LEFT_OUT.length;
  const write: Write = (piece, omitted = 0) => {
    const text = reveal(piece);
    const fits = omitted === 0 && text.length <= room;
    pieces.push(fits ? text : cutText(text, room, omitted));
    room -= text.length;
    return fits;
  };
  return writeValue(value, write, 0) ? pieces.join('') : pieces.join('') + LEFT_OUT;
}

/** Whether the piece fitted in whole, so that more may follow. */
type Write = (piece: string, omitted?: number) => boolean;

function writeValue(value: Json, write: Write, depth: number): boolean {
  if (typeof value === 'string') {
    return write(JSON.stringify(value.slice(0, PART_LIMIT)), Math.max(0, value.length - PART_LIMIT));
  }
  if (typeof value !== 'object' || value === null) return write(String(value));
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const members = Object.entries(value as Readonly<Record<string, Json>>);
  if (members.length === 0) return write(open + close);
  if (depth >= DEPTH_LIMIT) return write('…');
  const indent = '  '.repeat(depth + 1);
  let before = `${open}\n`;
  for (const [name, member] of members) {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `;
    if (!write(before + indent + key) || !writeValue(member, write, depth + 1)) return false;
    before = ',\n';
  }
  return write(`\n${'  '.repeat(depth)}${close}`);
}

import { parsePatch } from 'diff/lib/patch/parse.js';
import { cutText } from './bounds.js';
import { reveal } from './sanitise.js';

/** More files than this no reader looks through, and each becomes a reference. */
export const DIFF_FILES_LIMIT = 1000;
/** Longer than any path that a file system takes. */
const NAME_LIMIT = 4096;
/** As much of a line as may hold two names, quoted. */
const LINE_LIMIT = 4 * NAME_LIMIT;

/**
 * The files that a patch names, in its order, each once; of a renamed file both names. Reads unified and combined diffs
 * with or without git's headers, and `*** Begin Patch` envelopes; whatever else it finds names nothing.
 */
export function filesOfDiff(patch: string): readonly string[] {
  const names = new Set<string>();
  const read = /^\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File: )/m.test(patch) ? envelopeNames : unifiedNames;
  for (const name of read(new Lines(patch))) {
    names.add(cutText(reveal(name).replace(/[\t\n]/g, ' '), NAME_LIMIT));
    if (names.size >= DIFF_FILES_LIMIT) break;
  }
  return [...names];
}

/** Reads a text line by line without making all of them at once: a patch may be 10 MB of line ends. */
class Lines {
  #start = 0;
  #end: number;
  constructor(private readonly text: string) {
    this.#end = this.#endOf(0);
  }

  /** The next line, as much of it as matters; undefined at the end. */
  peek(): string | undefined {
    return this.#line(this.#start, this.#end);
  }

  take(): string | undefined {
    const line = this.peek();
    this.#start = this.#end + 1;
    this.#end = this.#endOf(this.#start);
    return line;
  }

  /** The two lines after the next one. */
  peekBehind(): readonly [string | undefined, string | undefined] {
    const [second, third] = [this.#end + 1, this.#endOf(this.#end + 1) + 1];
    return [this.#line(second, third - 1), this.#line(third, this.#endOf(third))];
  }

  #line(start: number, end: number): string | undefined {
    if (start >= this.text.length) return undefined;
    const line = this.text.slice(start, Math.min(end, start + LINE_LIMIT));
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }

  #endOf(start: number): number {
    const newline = this.text.indexOf('\n', start);
    return newline === -1 ? this.text.length : newline;
  }
}

const DIRECTIVE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/;

function* envelopeNames(lines: Lines): Generator<string> {
  for (let line = lines.take(); line !== undefined; line = lines.take()) {
    const name = DIRECTIVE.exec(line)?.[1]?.trim();
    if (name) yield name;
  }
}

/** What stands above the hunks of one file. */
interface Header {
  /** Lines that begin a file's section, and git's further ones: modes, renames, binary. */
  readonly lines: string[];
  pair: readonly [string, string] | undefined;
}

const SECTION = /^(?:diff (?:--git|--cc|--combined) |diff(?: -r \w+)+\s|Index:\s)/;
const BINARY = /^Binary files (.+) and (.+) differ$/;

function* unifiedNames(lines: Lines): Generator<string> {
  let header: Header = { lines: [], pair: undefined };
  for (let line = lines.take(); line !== undefined; line = lines.take()) {
    const binary = header.lines.length === 0 && line.endsWith(' differ') ? BINARY.exec(line) : null;
    if (SECTION.test(line)) {
      yield* namesIn(header);
      header = { lines: [line], pair: undefined };
    } else if (isOld(line) && isNew(lines.peek())) {
      if (header.pair) {
        yield* namesIn(header);
        header = { lines: [], pair: undefined };
      }
      header.pair = [line, lines.take() ?? ''];
    } else if (binary) {
      yield* namesIn({ lines: [], pair: [`--- ${binary[1] ?? ''}`, `+++ ${binary[2] ?? ''}`] });
    } else if (line.startsWith('@@')) {
      skipHunk(line, lines);
    } else if (/^(?:rename|copy) (?:from|to) /.test(line) && header.pair === undefined) {
      header.lines.push(line);
    }
  }
  yield* namesIn(header);
}

const isOld = (line: string | undefined) => line !== undefined && /^---\s/.test(line);
const isNew = (line: string | undefined) => line !== undefined && /^\+\+\+\s/.test(line);

/**
 * Takes a hunk's lines as far as its header counts them, of a combined diff by each parent's count: only so is a removed
 * line `-- x` not a file's header. A line that no hunk can hold ends it early.
 */
function skipHunk(hunk: string, lines: Lines): void {
  const signs = /^@+/.exec(hunk)?.[0].length ?? 0;
  const counts = [...(/^@+ (.*?) @@/.exec(hunk)?.[1] ?? '').matchAll(/[-+]\d+(?:,(\d+))?/g)].map((range) =>
    Number(range[1] ?? 1),
  );
  if (signs < 2 || counts.length !== signs) return;
  const parents = signs - 1;
  while (counts.some((count) => count > 0)) {
    const line = lines.peek();
    if (line === undefined || (line !== '' && !/^[-+ \\]/.test(line))) return;
    if (startsFile(lines, counts)) return;
    lines.take();
    if (!line.startsWith('\\')) countLine(line.slice(0, parents).padEnd(parents), counts);
  }
}

/** Whether a hunk's count is wrong and the next file begins: where it is right, the hunk would end with these lines. */
function startsFile(lines: Lines, counts: readonly number[]): boolean {
  if (!isOld(lines.peek())) return false;
  const [second, third] = lines.peekBehind();
  return isNew(second) && third?.startsWith('@@ -') === true && counts.some((count) => count !== 1);
}

function countLine(columns: string, counts: number[]): void {
  const removed = columns.includes('-');
  counts.forEach((count, side) => {
    const isResult = side === counts.length - 1;
    const inSide = isResult ? !removed : removed ? columns[side] === '-' : columns[side] !== '+';
    if (inSide) counts[side] = count - 1;
  });
}

/** The names in a header: jsdiff reads it, above all git's quoting; what it does not know is put into its terms. */
function namesIn({ lines, pair }: Header): readonly string[] {
  const known = pair?.every(isNowhere) === true ? undefined : pair;
  const block = [...lines, ...(known ?? pairOfSection(lines[0] ?? ''))];
  if (block.length === 0) return [];
  try {
    const { oldFileName, newFileName, isRename, index } = parsePatch(block.join('\n'))[0] ?? {};
    if (oldFileName === undefined || newFileName === undefined) return index ? [index] : [];
    return touched(oldFileName, newFileName, isRename === true);
  } catch {
    return [];
  }
}

const NOWHERE = '/dev/null';
const isNowhere = (line: string) => line.slice(4).trim().split('\t')[0] === NOWHERE;

function touched(from: string, to: string, renamed: boolean): readonly string[] {
  const [before, after] = withoutPrefixes(from, to);
  const names = after === NOWHERE ? [before] : renamed ? [before, after] : [after];
  return names.filter((name) => name !== NOWHERE && name !== '');
}

/** Git's `a/` and `b/`, or its `i/`, `w/`, `c/`, `o/`; a folder that is really called so stands on both sides. */
function withoutPrefixes(from: string, to: string): readonly [string, string] {
  const isPrefixed =
    from === NOWHERE
      ? to.startsWith('b/')
      : to === NOWHERE
        ? from.startsWith('a/')
        : (from.startsWith('a/') && to.startsWith('b/')) || isSameBehindPrefix(from, to);
  const strip = (name: string) => (isPrefixed && name !== NOWHERE ? name.slice(2) : name);
  return [strip(from), strip(to)];
}

function isSameBehindPrefix(from: string, to: string): boolean {
  return /^[aciow]\//.test(from) && /^[bciow]\//.test(to) && from[0] !== to[0] && from.slice(2) === to.slice(2);
}

/** The pair that a section's first line stands for where no other line names the file: the mode changed, or it is binary. */
function pairOfSection(section: string): readonly string[] {
  const combined = /^diff --(?:cc|combined) (.+)$/.exec(section)?.[1];
  if (combined !== undefined) return [`--- ${combined}`, `+++ ${combined}`];
  const both = /^diff --git (.+)$/.exec(section)?.[1];
  if (both === undefined) return [];
  // Nothing separates the two names but a space, which they may hold too; they are one name, so they are equally long.
  const middle = (both.length - 1) / 2;
  const [left, right] = [both.slice(0, middle), both.slice(middle + 1)];
  const isOneName = left === right || isSameBehindPrefix(left.replace(/^"/, ''), right.replace(/^"/, ''));
  return both[middle] === ' ' && isOneName ? [`--- ${left}`, `+++ ${right}`] : [];
}

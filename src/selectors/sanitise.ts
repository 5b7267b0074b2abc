/** A terminal's own limit for one sequence is of this order; what runs longer is no sequence but lost text. */
const SEQUENCE_LIMIT = 4096;

/**
 * Everything that needs a second look. Bidirectional controls and zero-width characters make a text read other than it
 * is, so they are shown; ZWJ and ZWNJ are not among them, emoji and several scripts are written with them.
 */
const FLAGGED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\p{Cs}]/u;

/** The same by UTF-16 units, so that whole pairs are suspects too. Finds nothing in a fourth of the time. */
const SUSPECT =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]/;

// A string's body ends at any control: text after an introducer that nothing closes is text, not a window title.
const CSI = String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*`;
const STRING = String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]*`;
const WHOLE = new RegExp(String.raw`^(?:${CSI}[@-~]|${STRING}(?:\x07|\x1b\\|\x9c))`);
const UNFINISHED = new RegExp(String.raw`^(?:\x1b[ -/]*|${CSI}|${STRING}\x1b?)$`);
/** Of an escape sequence of another kind all of it; of one that turned out to be none, its introducer. */
const SHORT = /^\x1b[ -/]*[0-~]/;

/** What `sanitise` made of a piece of text. */
export interface Sanitised {
  readonly text: string;
  /** UTF-16 units of the raw text that `text` stands for; the rest can't be judged before more of it is there. */
  readonly consumed: number;
}

/**
 * Text from outside as text to show: without escape sequences and control characters, each line ending `\n`, invisible
 * reordering spelled out. With `final` false the caller comes again from `consumed`, with more; however a text was cut
 * into pieces, the answers join to the same text.
 */
export function sanitise(raw: string, final: boolean): Sanitised {
  return SUSPECT.test(raw) && FLAGGED.test(raw) ? scan(raw, final) : { text: raw, consumed: raw.length };
}

function scan(raw: string, final: boolean): Sanitised {
  const flagged = new RegExp(FLAGGED, 'gu');
  const kept: string[] = [];
  let at = 0;
  for (let found = flagged.exec(raw); found !== null; found = flagged.exec(raw)) {
    kept.push(raw.slice(at, found.index));
    const judged = judge(raw, found.index, final);
    if (judged === undefined) return { text: kept.join(''), consumed: found.index };
    kept.push(judged.shown);
    at = found.index + judged.length;
    flagged.lastIndex = at;
  }
  kept.push(raw.slice(at));
  return { text: kept.join(''), consumed: raw.length };
}

/** What stands for the flagged character at `at` and what belongs to it; undefined while that can't be known. */
function judge(raw: string, at: number, final: boolean): { shown: string; length: number } | undefined {
  const unit = raw.charCodeAt(at);
  const atEnd = at === raw.length - 1;
  if (unit === 0x0d) {
    if (atEnd && !final) return undefined;
    return { shown: '\n', length: raw[at + 1] === '\n' ? 2 : 1 };
  }
  if (unit >= 0xd800 && unit <= 0xdfff) {
    return atEnd && !final && unit <= 0xdbff ? undefined : { shown: '\ufffd', length: 1 };
  }
  if (unit > 0x9f) return { shown: codePointName(raw.slice(at, at + 1)), length: 1 };
  if (unit !== 0x1b && unit < 0x90) return { shown: '', length: 1 };
  const window = raw.slice(at, at + SEQUENCE_LIMIT);
  const whole = WHOLE.exec(window);
  if (whole) return { shown: '', length: whole[0].length };
  if (!final && window.length < SEQUENCE_LIMIT && UNFINISHED.test(window)) return undefined;
  return { shown: '', length: SHORT.exec(window)?.[0].length ?? 1 };
}

const HIDDEN =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\p{Cs}\u{e0000}-\u{e0fff}]|(?<![^\x00-\x7f])[\u200c\u200d]+/gu;

/**
 * Text that a person decides on (a command, a patch): nothing is taken away, for what runs is the text as it is; what
 * can't be seen is spelled out. A joiner that follows no letter of a script that joins is among it.
 */
export function reveal(raw: string): string {
  return raw.replace(/\r\n/g, '\n').replace(HIDDEN, (hidden) => Array.from(hidden, codePointName).join(''));
}

function codePointName(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

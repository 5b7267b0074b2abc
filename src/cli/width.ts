/** Drawn on top of the character before: no width of their own. */
const ZERO = /^[\p{M}\p{Cf}]$/u;
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;
const ASCII = /^[\x20-\x7e]*$/;

/** Columns that plain text of one line takes in a terminal. An estimate: terminals differ about emoji. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** As much of a line as fits into `columns`, marked where that is not all of it. */
export function fitted(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return `${beginning(text, columns - 1)}…`;
}

/** A line in pieces that fit into `columns` each, parted after a blank where one is near; nothing is left out. */
export function wrapped(text: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  while (widthOf(rest) > columns) {
    const fitting = beginning(rest, columns);
    const blank = fitting.lastIndexOf(' ') + 1;
    const piece = blank > fitting.length * 0.6 ? fitting.slice(0, blank) : fitting;
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...pieces, rest];
}

/** The first characters of a line that fit into `columns`; at least one. */
function beginning(text: string, columns: number): string {
  let length = 0;
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns && length > 0) break;
    length += character.length;
  }
  return text.slice(0, length);
}

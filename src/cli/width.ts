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
  let kept = '';
  let width = 1;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept}…`;
}

/** A line in pieces that fit into `columns` each; nothing of it is left out. */
export function wrapped(text: string, columns: number): readonly string[] {
  if (widthOf(text) <= columns) return [text];
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const character of text) {
    const own = widthOf(character);
    if (width + own > columns && piece !== '') {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    piece += character;
    width += own;
  }
  return [...pieces, piece];
}

/**
 * Text that grows by deltas: full blocks, then the segments of the block being filled. A delta extends one small string
 * and copies one short array, whatever is already there; one string for it all would be flattened again at every read.
 */
export interface StreamedText {
  readonly blocks: readonly string[];
  readonly segments: readonly string[];
  /** UTF-16 units in all. */
  readonly length: number;
}

export const SEGMENT_LENGTH = 1024;
export const SEGMENTS_IN_BLOCK = 32;

export const NO_TEXT: StreamedText = { blocks: [], segments: [], length: 0 };

export function append({ blocks, segments, length }: StreamedText, text: string): StreamedText {
  const last = segments.at(-1);
  if (last !== undefined && last.length < SEGMENT_LENGTH) {
    return { blocks, segments: segments.with(-1, last + text), length: length + text.length };
  }
  return segments.length < SEGMENTS_IN_BLOCK
    ? { blocks, segments: [...segments, text], length: length + text.length }
    : { blocks: [...blocks, segments.join('')], segments: [text], length: length + text.length };
}

/** What stands after the first `seen` UTF-16 units. Reads only the pieces that hold it. */
export function textAfter({ blocks, segments, length }: StreamedText, seen: number): string {
  const pieces: string[] = [];
  let start = length;
  for (const source of [segments, blocks]) {
    for (let at = source.length - 1; at >= 0 && start > seen; at--) {
      const piece = source[at] ?? '';
      pieces.push(piece);
      start -= piece.length;
    }
  }
  return pieces
    .reverse()
    .join('')
    .slice(Math.max(0, seen - start));
}

export function wholeText(text: StreamedText): string {
  return textAfter(text, 0);
}

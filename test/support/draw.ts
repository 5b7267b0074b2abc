import type { ChatPart } from '../../src/selectors/parts.js';
import type { HistoryTurn } from '../../src/selectors/historyTurns.js';

/** One line for each part, so that a golden file reads like the conversation. Long texts are given by their length. */
export function drawParts(parts: readonly ChatPart[]): readonly string[] {
  return parts.map((part) => {
    const { kind, id, editor: _, ...rest } = part;
    const shown = Object.entries(rest).map(([name, value]) => `${name}=${short(value)}`);
    return `${kind} [${id}] ${shown.join(' ')}`;
  });
}

export function drawTurns(turns: readonly HistoryTurn[]): readonly string[] {
  return turns.flatMap(({ prompt, marker, parts }) => [
    `> ${marker ? '(marker)' : short(prompt)}`,
    ...drawParts(parts).map((line) => `  ${line}`),
  ]);
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 400 ? text : `${text.slice(0, 360)}… ${text.length} characters`;
}

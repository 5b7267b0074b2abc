import {
  HISTORY_BLOCKS_LIMIT,
  HISTORY_DETAILS_LIMIT,
  HISTORY_DETAIL_PARTS_LIMIT,
  HISTORY_SAID_LIMIT,
  HISTORY_SAID_PARTS_LIMIT,
  title,
} from './bounds.js';
import { textPart, toolName } from './chatParts.js';
import type { ChatPart } from './parts.js';
import type { Detail, Folded, PastTurn, Piece } from './pastTurn.js';
import type { RequestView } from './requestParts.js';
import { resolutionAlone } from './seenTurns.js';

/** Ends what is said of an omission. */
export const RUNTIME_HAS_ALL = "The runtime's own history is complete.";

export interface DrawnTurn {
  readonly prompt: string | null;
  readonly parts: readonly ChatPart[];
}

/**
 * What may still be shown of a conversation, spent from its newest turn backwards (ADR 9). What was said and its details
 * are paid for apart: details alone can't use up the room of older turns.
 */
export class HistoryBudget {
  private said = HISTORY_SAID_LIMIT;
  private saidParts = HISTORY_SAID_PARTS_LIMIT;
  private details = HISTORY_DETAILS_LIMIT;
  private detailParts = HISTORY_DETAIL_PARTS_LIMIT;
  private blocks = HISTORY_BLOCKS_LIMIT;
  private isFresh = true;

  constructor(private readonly view: RequestView) {}

  /** Undefined where there is no room for the turn. The newest one always has some. */
  draw(turn: PastTurn, id: string): DrawnTurn | undefined {
    const { pieces } = turn;
    const drawn = new Map<Piece, readonly ChatPart[]>();
    const prompt = this.drawPrompt(turn);
    const first = prompt && this.drawSaid(pieces, drawn);
    if (prompt === undefined || first === undefined) return undefined;
    const shown = pieces.slice(first);
    this.drawDetails(shown, drawn);
    const parts = [...beginning(id, pieces.slice(0, first)), ...this.inOrder(shown, drawn, id)];
    this.isFresh &&= prompt.text === null && parts.length === 0;
    return { prompt: prompt.text, parts };
  }

  private drawPrompt({ prompt }: PastTurn): { readonly text: string | null } | undefined {
    if (prompt && prompt.size > this.said && !this.isFresh) return undefined;
    const text = prompt?.draw() ?? null;
    // The line that may stand behind what is said last is part of the turn.
    return this.payFor(text?.length ?? 0, 2, this.isFresh) ? { text } : undefined;
  }

  /**
   * Draws what was said, the newest first, as far as there is room; returns where that begins, undefined where it is
   * nothing.
   */
  private drawSaid(pieces: readonly Piece[], drawn: Map<Piece, readonly ChatPart[]>): number | undefined {
    let isEmpty = true;
    for (let at = pieces.length - 1; at >= 0; at--) {
      const piece = pieces[at];
      if (piece?.kind !== 'said') continue;
      const isFirst: boolean = this.isFresh && isEmpty;
      const parts: readonly ChatPart[] | undefined = piece.size <= this.said || isFirst ? piece.draw() : undefined;
      const size = parts?.reduce((sum, part) => sum + sizeOf(part), 0) ?? 0;
      // A line of what is folded may stand in front of each.
      if (parts === undefined || !this.payFor(size, parts.length + 1, isFirst)) return isEmpty ? undefined : at + 1;
      drawn.set(piece, parts);
      isEmpty &&= parts.length === 0;
    }
    return 0;
  }

  private payFor(size: number, parts: number, always: boolean): boolean {
    if (!always && (size > this.said || parts > this.saidParts)) return false;
    this.said -= size;
    this.saidParts -= parts;
    return true;
  }

  /** From the first detail on that does not fit, the older ones are folded as well. */
  private drawDetails(pieces: readonly Piece[], drawn: Map<Piece, readonly ChatPart[]>): void {
    for (const piece of pieces.toReversed()) {
      if (piece.kind === 'said') continue;
      if (this.blocks <= 0) return;
      const part = piece.draw();
      const [size, blocks] = part ? [sizeOf(part), blocksOf(part)] : [0, 0];
      const parts = part?.kind === 'diff' ? 1 + part.files.length : 1;
      if (size > this.details || blocks > this.blocks || parts > this.detailParts) {
        this.blocks = 0;
        return;
      }
      this.details -= size;
      this.blocks -= blocks;
      this.detailParts -= parts;
      drawn.set(piece, part ? [part] : []);
    }
  }

  private inOrder(
    pieces: readonly Piece[],
    drawn: ReadonlyMap<Piece, readonly ChatPart[]>,
    id: string,
  ): readonly ChatPart[] {
    const parts: ChatPart[] = [];
    const alone = new Set<number>();
    let run: Folded[] = [];
    const unfold = () => {
      const text = foldedText(run);
      if (text !== '') parts.push(textPart(`${id}.folded.${parts.length}`, 'notice', text));
      run = [];
    };
    for (const piece of pieces) {
      const shown = drawn.get(piece);
      if (shown === undefined) {
        const { folded } = piece as Detail;
        run.push(folded);
        if (folded.as === 'request') alone.add(folded.requestId);
        continue;
      }
      if (shown.length > 0) unfold();
      for (const part of shown) {
        parts.push(part.kind === 'resolution' && alone.has(part.requestId) ? resolutionAlone(part, this.view) : part);
      }
    }
    unfold();
    return parts;
  }
}

/** What is missing of the turn in which the room ends. */
function beginning(id: string, pieces: readonly Piece[]): readonly ChatPart[] {
  const missing = pieces.filter((piece) => piece.kind === 'said' || piece.folded.as !== 'nothing').length;
  if (missing === 0) return [];
  const text = `The beginning of this turn is not shown (${counting(missing, 'part')}). ${RUNTIME_HAS_ALL}`;
  return [textPart(`${id}.beginning`, 'notice', text)];
}

const NAMES_SHOWN = 8;
const NAME_LIMIT = 40;

/** Details as one line: "20 tool calls: bash ×12, edit_file ×8 (details not shown)". */
function foldedText(run: readonly Folded[]): string {
  const names = new Map<string | null, number>();
  let calls = 0;
  for (const folded of run) {
    if (folded.as !== 'call') continue;
    calls += 1;
    names.set(folded.name, (names.get(folded.name) ?? 0) + 1);
  }
  const count = (as: Folded['as']) => run.filter((folded) => folded.as === as).length;
  const counted = [
    calls === 0 ? '' : `${counting(calls, 'tool call')}: ${namesText(names)}`,
    counting(count('request'), 'request'),
    counting(count('change'), 'set of changes', 'sets of changes'),
    counting(count('output'), 'piece of output', 'pieces of output'),
    counting(count('event'), 'other event'),
  ].filter((text) => text !== '');
  return counted.length === 0 ? '' : `${counted.join('; ')} (details not shown)`;
}

function namesText(names: ReadonlyMap<string | null, number>): string {
  const common = [...names].toSorted(([, a], [, b]) => b - a);
  const shown = common.slice(0, NAMES_SHOWN).map(([name, times]) => {
    const called = title(toolName(name), NAME_LIMIT);
    return times === 1 ? called : `${called} ×${times}`;
  });
  const more = common.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

function counting(count: number, one: string, many = `${one}s`): string {
  return count === 0 ? '' : `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** UTF-16 units of what a part shows. */
function sizeOf(part: ChatPart): number {
  switch (part.kind) {
    case 'tool':
      return part.name.length + (part.input?.length ?? 0) + (part.output?.length ?? 0);
    case 'diff':
      return part.patch.length;
    case 'request':
      return part.title.length + (part.preview?.length ?? 0);
    default:
      return part.text.length;
  }
}

/** The code blocks that an editor draws a detail as; a row of its own counts as one. */
function blocksOf(part: ChatPart): number {
  switch (part.kind) {
    case 'tool':
      return Math.max(1, (part.input ? 1 : 0) + (part.output ? 1 : 0));
    case 'progress':
      return 0;
    default:
      return 1;
  }
}

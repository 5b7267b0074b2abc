import type { HistoryMessage, HistoryToolCall } from '../protocol/frontend-v2.js';
import { cleanText, HISTORY_PREVIEW_LIMIT, HISTORY_TURNS_LIMIT, PART_LIMIT } from './bounds.js';
import { toolName, toolPart } from './chatParts.js';
import { textParts } from './newParts.js';
import type { PastPrompt, PastTurn, Piece } from './pastTurn.js';

/**
 * The turns of a saved history, the newest first. Only roles and ids are read before a turn is drawn. Where a result waits
 * for its call, older turns are looked through for that, no more of them than are ever shown.
 */
export function* savedTurnsBackwards(history: readonly HistoryMessage[]): Generator<PastTurn> {
  const results = new Results();
  const ready: PastTurn[] = [];
  let slots: Slot[] = [];
  for (let at = history.length - 1; at >= 0; at--) {
    const message = history[at];
    if (!message) continue;
    switch (message.role) {
      case 'system':
        break;
      case 'user':
        ready.push(pastTurn(promptOf(message), slots, () => countSavedTurns(history, at)));
        slots = [];
        if (results.allCalled || ready.length >= HISTORY_TURNS_LIMIT) yield* ready.splice(0);
        break;
      case 'assistant':
        slots.push(...callSlots(message, at, results).toReversed());
        if (message.text !== '') slots.push({ piece: textPiece(message, at), dropped: false });
        break;
      case 'tool':
        slots.push(results.wait(message, at));
        break;
    }
  }
  yield* ready;
  if (slots.some(({ dropped }) => !dropped)) yield pastTurn(null, slots, () => 0);
}

/** How many turns begin in front of a position. */
export function countSavedTurns(history: readonly HistoryMessage[], end = history.length): number {
  let prompts = 0;
  let isHeaded = false;
  for (let at = 0; at < end; at++) {
    const message = history[at];
    if (message?.role === 'user') prompts += 1;
    else if (prompts === 0 && !isHeaded) isHeaded = isShown(message);
  }
  return prompts + (isHeaded ? 1 : 0);
}

function isShown(message: HistoryMessage | undefined): boolean {
  if (message?.role === 'assistant') return message.text !== '' || message.toolCalls.length > 0;
  return message?.role === 'tool';
}

/** The place of a piece: whether it is dropped shows only once more was read. */
interface Slot {
  readonly piece: Piece;
  dropped: boolean;
}

function pastTurn(prompt: PastPrompt | null, slots: readonly Slot[], earlier: () => number): PastTurn {
  return {
    prompt,
    // Read when the turn is given out: until then a result of it may find its call.
    get pieces() {
      return slots.flatMap(({ piece, dropped }) => (dropped ? [] : [piece])).reverse();
    },
    earlier,
  };
}

/** Read backwards, results come before the calls that they answer. */
class Results {
  private readonly waiting = new Map<string, { message: HistoryMessage; readonly slots: Slot[] }>();

  get allCalled(): boolean {
    return this.waiting.size === 0;
  }

  /** A result whose call is not found was left behind by compaction, and is shown by itself. */
  wait(message: HistoryMessage, at: number): Slot {
    const { toolCallId } = message;
    const id = `saved.${at}`;
    const slot: Slot = {
      piece: callPiece(id, { id: toolCallId ?? id, name: null, arguments: '' }, message),
      dropped: false,
    };
    if (toolCallId === null) return slot;
    const known = this.waiting.get(toolCallId);
    known?.slots.push(slot);
    if (known) known.message = message;
    else this.waiting.set(toolCallId, { message, slots: [slot] });
    return slot;
  }

  /** Some models number the calls of each answer anew, so the next result counts, up to the next call of that id. */
  of(callId: string): HistoryMessage | undefined {
    const found = this.waiting.get(callId);
    for (const slot of found?.slots ?? []) slot.dropped = true;
    return found?.message;
  }

  forget(callId: string): void {
    this.waiting.delete(callId);
  }
}

function callSlots({ toolCalls }: HistoryMessage, at: number, results: Results): readonly Slot[] {
  const slots = toolCalls.map((call) => ({
    piece: callPiece(`saved.${at}.${call.id}`, call, results.of(call.id)),
    dropped: false,
  }));
  for (const { id } of toolCalls) results.forget(id);
  return slots;
}

function callPiece(
  id: string,
  call: Omit<HistoryToolCall, 'name'> & { readonly name: string | null },
  result: HistoryMessage | undefined,
): Piece {
  const { name } = call;
  const draw = () => {
    const output = result?.text ?? '';
    const { id: callId, arguments: args, omitted = 0 } = call;
    const saved = {
      callId,
      name,
      arguments: args,
      phase: result ? 'completed' : 'abandoned',
      output,
      // Saved results carry no error flag; the runtime starts the text of an error with `Error:`.
      isError: output.startsWith('Error:'),
      omitted: { arguments: omitted, output: result?.omitted ?? 0 },
    } as const;
    return { ...toolPart(id, saved, HISTORY_PREVIEW_LIMIT), saved: true } as const;
  };
  return { kind: 'detail', draw, folded: { as: 'call', name: () => toolName(name) } };
}

function textPiece({ text }: HistoryMessage, at: number): Piece {
  return { kind: 'said', size: text.length, draw: () => textParts(`saved.${at}`, 'markdown', text) };
}

function promptOf({ text, images }: HistoryMessage): PastPrompt {
  const draw = () => {
    const clean = cleanText(text, PART_LIMIT);
    return images === 0 ? clean : `${clean}\n(${images === 1 ? 'one image' : `${images} images`})`.trimStart();
  };
  return { size: Math.min(text.length, PART_LIMIT), draw };
}

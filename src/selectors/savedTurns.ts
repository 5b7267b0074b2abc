import type { HistoryMessage, HistoryToolCall } from '../protocol/frontend-v2.js';
import { cleanText, HISTORY_PREVIEW_LIMIT, HISTORY_TURNS_LIMIT, PART_LIMIT } from './bounds.js';
import { toolPart } from './chatParts.js';
import { textParts } from './newParts.js';
import type { ChatPart } from './parts.js';
import { isPrompt } from './savedHistory.js';
import type { Detail, Folded, PastPrompt, PastTurn, Said } from './pastTurn.js';

const NAMELESS: Folded = { as: 'call', name: null };

/**
 * The turns of a saved history, the newest first. Only roles and ids are read before a turn is drawn. Where a result waits
 * for its call, older turns are looked through for that, no more of them than are ever shown.
 */
export function* savedTurnsBackwards(history: readonly HistoryMessage[]): Generator<PastTurn> {
  const results = new Results();
  const ready: PastTurn[] = [];
  let pieces: SavedPiece[] = [];
  for (let at = history.length - 1; at >= 0; at--) {
    const message = history[at];
    if (!message) continue;
    switch (message.role) {
      case 'system':
        break;
      case 'user':
        if (!isPrompt(message)) break;
        ready.push(pastTurn(promptOf(message), pieces, () => countSavedTurns(history, at)));
        pieces = [];
        if (results.allCalled || ready.length >= HISTORY_TURNS_LIMIT) yield* ready.splice(0);
        break;
      case 'assistant':
        for (const call of callsOf(message, at, results)) pieces.push(call);
        if (message.text !== '') pieces.push(new SavedText(message, at));
        break;
      case 'tool':
        pieces.push(results.wait(message, at));
        break;
    }
  }
  yield* ready;
  if (pieces.some(isAlone)) yield pastTurn(null, pieces, () => 0);
}

/** How many turns begin in front of a position; to read no texts, it counts what a harness wrote in a person's name, too. */
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

/** A turn as it is gathered, the newest piece first: whether a result belongs to a call shows only once more was read. */
function pastTurn(prompt: PastPrompt | null, gathered: readonly SavedPiece[], earlier: () => number): PastTurn {
  return {
    prompt,
    get pieces() {
      return gathered.filter(isAlone).reverse();
    },
    earlier,
  };
}

type SavedPiece = SavedText | SavedCall | SavedResult;

function isAlone(piece: SavedPiece): boolean {
  return !(piece instanceof SavedResult) || !piece.isCalled;
}

/** Of classes, because there may be tens of thousands of which few are drawn: each is one small object. */
class SavedText implements Said {
  readonly kind = 'said';

  constructor(
    private readonly message: HistoryMessage,
    private readonly at: number,
  ) {}

  get size(): number {
    return this.message.text.length;
  }

  draw(): readonly ChatPart[] {
    return textParts(`saved.${this.at}`, 'markdown', this.message.text);
  }
}

class SavedCall implements Detail {
  readonly kind = 'detail';

  constructor(
    private readonly call: HistoryToolCall,
    private readonly at: number,
    private readonly result: HistoryMessage | undefined,
  ) {}

  get folded(): Folded {
    return { as: 'call', name: this.call.name };
  }

  draw(): ChatPart {
    return callPart(`saved.${this.at}.${this.call.id}`, this.call, this.result);
  }
}

/** A result whose call is not found was left behind by compaction, and is shown by itself. */
class SavedResult implements Detail {
  readonly kind = 'detail';
  readonly folded: Folded = NAMELESS;
  isCalled = false;

  constructor(
    readonly message: HistoryMessage,
    private readonly at: number,
    /** The next one with the same id. */
    readonly next: SavedResult | undefined,
  ) {}

  draw(): ChatPart {
    const id = `saved.${this.at}`;
    return callPart(id, { id: this.message.toolCallId ?? id, name: null, arguments: '' }, this.message);
  }
}

/** Read backwards, results come before the calls that they answer. */
class Results {
  private readonly waiting = new Map<string, SavedResult>();

  get allCalled(): boolean {
    return this.waiting.size === 0;
  }

  wait(message: HistoryMessage, at: number): SavedResult {
    const { toolCallId } = message;
    if (toolCallId === null) return new SavedResult(message, at, undefined);
    const result = new SavedResult(message, at, this.waiting.get(toolCallId));
    this.waiting.set(toolCallId, result);
    return result;
  }

  /** Some models number the calls of each answer anew, so the next result counts, up to the next call of that id. */
  of(callId: string): HistoryMessage | undefined {
    const first = this.waiting.get(callId);
    for (let result = first; result; result = result.next) result.isCalled = true;
    return first?.message;
  }

  forget(callId: string): void {
    this.waiting.delete(callId);
  }
}

function callsOf({ toolCalls }: HistoryMessage, at: number, results: Results): readonly SavedCall[] {
  const calls = toolCalls.map((call) => new SavedCall(call, at, results.of(call.id)));
  for (const { id } of toolCalls) results.forget(id);
  return calls.reverse();
}

function callPart(
  id: string,
  call: Omit<HistoryToolCall, 'name'> & { readonly name: string | null },
  result: HistoryMessage | undefined,
): ChatPart {
  const output = result?.text ?? '';
  const { id: callId, name, arguments: args, omitted = 0 } = call;
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
  return { ...toolPart(id, saved, HISTORY_PREVIEW_LIMIT), saved: true };
}

function promptOf({ text, images }: HistoryMessage): PastPrompt {
  const draw = () => {
    const clean = cleanText(text, PART_LIMIT);
    return images === 0 ? clean : `${clean}\n(${images === 1 ? 'one image' : `${images} images`})`.trimStart();
  };
  return { size: Math.min(text.length, PART_LIMIT), draw };
}

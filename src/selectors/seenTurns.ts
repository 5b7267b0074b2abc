import { wholeText } from '../store/streamedText.js';
import { endOf, entryAt, type Entry, type EventEntry, type Transcript } from '../store/transcript.js';
import { cleanText, HISTORY_PREVIEW_LIMIT, PART_LIMIT } from './bounds.js';
import { entryPart, toolPart } from './chatParts.js';
import { textParts } from './newParts.js';
import type { ChatPart, ResolutionPart } from './parts.js';
import type { PastPrompt, PastTurn, Piece } from './pastTurn.js';
import { titleOf } from './requestPreview.js';
import type { RequestView } from './requestParts.js';
import { promptIn } from './savedHistory.js';

/** The turns of what happened since the history was saved, the newest first. */
export function* seenTurnsBackwards(
  transcript: Transcript,
  view: RequestView,
  end: number,
  before: () => number,
): Generator<PastTurn> {
  let pieces: Piece[] = [];
  for (let at = end - 1; at >= 0; at--) {
    const entry = entryAt(transcript, at);
    const prompt = promptOf(entry);
    if (prompt) {
      yield { prompt, pieces: pieces.reverse(), earlier: () => before() + countSeenTurns(transcript, view, at) };
      pieces = [];
    } else if (entry) {
      pieces.push(pieceOf(entry, `${transcript.generation}.${at}`, view));
    }
  }
  // Asking for what stood in front of the first prompt costs nothing where nothing did.
  if (pieces.length > 0) yield { prompt: null, pieces: headPieces(pieces.reverse(), view), earlier: before };
}

/** How many turns begin in front of a position. */
export function countSeenTurns(transcript: Transcript, view: RequestView, end = endOf(transcript)): number {
  let prompts = 0;
  let isHeaded = false;
  for (let at = 0; at < end; at++) {
    const entry = entryAt(transcript, at);
    if (promptOf(entry)) prompts += 1;
    else if (entry && prompts === 0) isHeaded ||= isShown(entry, view);
  }
  return prompts + (isHeaded ? 1 : 0);
}

function isShown(entry: Entry, view: RequestView): boolean {
  if (entry.kind === 'text' || entry.kind === 'reasoning') return true;
  return retained(entryPart('', entry, view), view) !== undefined;
}

function promptOf(entry: Entry | undefined): PastPrompt | undefined {
  const text = promptIn(entry);
  if (text === undefined) return undefined;
  return { size: Math.min(text.length, PART_LIMIT), draw: () => cleanText(text, PART_LIMIT) };
}

function pieceOf(entry: Entry, id: string, view: RequestView): Piece {
  switch (entry.kind) {
    case 'text':
    case 'reasoning': {
      const { kind, text } = entry;
      const draw = () => textParts(id, kind === 'text' ? 'markdown' : 'thinking', wholeText(text));
      return { kind: 'said', size: text.length, draw };
    }
    case 'tool': {
      const draw = () => toolPart(id, entry, HISTORY_PREVIEW_LIMIT);
      return { kind: 'detail', draw, folded: { as: 'call', name: entry.name } };
    }
    case 'event':
      return eventPiece(entry, id, view);
    default:
      return said(id, entry, view);
  }
}

function eventPiece(entry: EventEntry, id: string, view: RequestView): Piece {
  const draw = () => entryPart(id, entry, view);
  const { event } = entry;
  switch (event.kind) {
    case 'diff_updated':
      return { kind: 'detail', draw, folded: { as: 'change' } };
    case 'background_output':
      return { kind: 'detail', draw, folded: { as: 'output' } };
    case 'opaque':
      return { kind: 'detail', draw, folded: { as: 'event' } };
    case 'usage':
    case 'provider_retry':
    case 'scheduled_prompt':
      return { kind: 'detail', draw, folded: { as: 'nothing' } };
    case 'request': {
      const { id: requestId } = event.request;
      // What waits is shown whatever it takes.
      const isOver = entry.epoch !== view.epoch || isDecided(view, requestId);
      return isOver ? { kind: 'detail', draw, folded: { as: 'request', requestId } } : said(id, entry, view);
    }
    default:
      return said(id, entry, view);
  }
}

function said(id: string, entry: Entry, view: RequestView): Piece {
  const draw = () => {
    const part = entryPart(id, entry, view);
    return part ? [part] : [];
  };
  return { kind: 'said', size: 0, draw };
}

/**
 * A native runtime keeps the requests of its whole session, and tells of them without the turns that they were part of
 * (frontend.v2 §5.2). What is over is one line each; only what still waits is shown whole.
 */
function headPieces(pieces: readonly Piece[], view: RequestView): readonly Piece[] {
  return pieces.map((piece) => {
    if (piece.kind === 'detail') return { ...piece, draw: () => retained(piece.draw(), view) };
    return { ...piece, draw: () => piece.draw().flatMap((part) => retained(part, view) ?? []) };
  });
}

function retained(part: ChatPart | undefined, view: RequestView): ChatPart | undefined {
  if (part?.kind !== 'request' && part?.kind !== 'resolution') return part;
  if (!isDecided(view, part.requestId)) return part;
  return part.kind === 'request' ? undefined : resolutionAlone(part, view);
}

/** The line of a decision without the request that it decided. */
export function resolutionAlone(part: ResolutionPart, { requests }: RequestView): ResolutionPart {
  const request = requests[part.requestId]?.request;
  const subject = request ? titleOf(request.body) : '';
  return part.text.includes(subject) ? part : { ...part, text: `${subject}: ${part.text}` };
}

function isDecided({ requests }: RequestView, requestId: number): boolean {
  const phase = requests[requestId]?.status.phase;
  return phase === 'answered' || phase === 'withdrawn';
}

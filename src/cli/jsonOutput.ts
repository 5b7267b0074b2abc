import type { HistoryTurn } from '../selectors/historyTurns.js';
import type { ChatPart } from '../selectors/parts.js';
import type { Outcome } from '../store/transcript.js';
import type { News } from './news.js';

/** A value as one line of JSON. */
export function jsonLine(value: object): string {
  return onOneLine(JSON.stringify(value));
}

/**
 * JSON text as one line. What some readers take for the end of a line besides the newline (Node 24's `readline` does)
 * is escaped.
 */
export function onOneLine(json: string): string {
  return `${json.replace(/[\u0085\u2028\u2029]/g, escaped)}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A part as others read it: what it says, without what only our own drawing needs. */
export function jsonPart(part: ChatPart): object {
  switch (part.kind) {
    case 'tool': {
      const { kind, callId, name, phase, input, output, isError } = part;
      return { kind, callId, name, phase, input, output, isError };
    }
    case 'diff':
      return { kind: part.kind, patch: part.patch, files: part.files };
    case 'request': {
      const { kind, requestId, requestKind, title, preview, answers } = part;
      return { kind, requestId, requestKind, title, preview, answers };
    }
    case 'resolution':
      return { kind: part.kind, requestId: part.requestId, text: part.text };
    case 'opaque':
      return { kind: part.kind, eventKind: part.eventKind, text: part.text };
    default:
      return { kind: part.kind, text: part.text };
  }
}

export function newsLine(news: News): string {
  return jsonLine(news.type === 'part' ? { type: 'part', part: jsonPart(news.part) } : news);
}

export function turnLine({ prompt, marker, parts }: HistoryTurn): string {
  return jsonLine({ type: 'turn', turn: { prompt, marker, parts: parts.map(jsonPart) } });
}

export function settledLine(outcome: Outcome, message: string): string {
  return jsonLine({ type: 'settled', outcome, ...(message === '' ? {} : { message }) });
}

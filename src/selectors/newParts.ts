import type { ConnectionId } from '../store/connections.js';
import type { Requests } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import { textAfter } from '../store/streamedText.js';
import { EMPTY_TRANSCRIPT, entryAt, type TextEntry, type ToolEntry, type Transcript } from '../store/transcript.js';
import type { TurnId } from '../store/turn.js';
import { PART_LIMIT, splitPoint } from './bounds.js';
import { entryPart, textPart, toolPart } from './chatParts.js';
import type { ChatPart } from './parts.js';
import type { RequestView } from './requestParts.js';
import { sanitise } from './sanitise.js';

/** How far a reader has read one conversation. Plain data; a reader keeps it between readings. */
export interface PartCursor {
  readonly generation: number;
  /** Position of the entry to read next. */
  readonly at: number;
  /** Of a text entry at `at`: UTF-16 units of it that were read. */
  readonly seen: number;
  /** Of a text entry at `at`: the part being filled, and how much is in it. */
  readonly part: number;
  readonly filled: number;
  /** Calls that were shown as started and have not ended. */
  readonly calls: readonly number[];
}

export interface NewParts {
  readonly parts: readonly ChatPart[];
  readonly cursor: PartCursor;
}

/** A reader that has read nothing: it gets every entry, without the saved history. */
export function startCursor(root: RootState, connection: ConnectionId): PartCursor {
  return cursorAt(root.transcript[connection] ?? EMPTY_TRANSCRIPT, 0);
}

/** A reader that has read everything there is: it gets what comes from now on. */
export function endCursor(root: RootState, connection: ConnectionId): PartCursor {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const { count, open } = transcript;
  return { ...cursorAt(transcript, count), seen: open ? open.text.length : 0 };
}

/**
 * What a reader has not seen yet: the rest of the text that streams, every new entry, and each call of its own that
 * ended. The cost is that of what is new, whatever the conversation holds. Entries that started over (the runtime
 * serves another conversation) are history, not news.
 *
 * @param turn stops behind the end of this turn; what follows is another reader's
 */
export function selectNewParts(root: RootState, connection: ConnectionId, cursor: PartCursor, turn?: TurnId): NewParts {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  if (cursor.generation !== transcript.generation) return { parts: [], cursor: endCursor(root, connection) };
  const view = requestView(root, connection, transcript);
  const parts: ChatPart[] = [];
  let reader = cursor;
  while (true) {
    reader = endCalls(transcript, reader, parts);
    const entry = isBehind(turn, transcript, reader.at) ? undefined : entryAt(transcript, reader.at);
    if (!entry) break;
    if (entry.kind === 'text' || entry.kind === 'reasoning') {
      const finished = reader.at < transcript.count;
      reader = readText(transcript, entry, finished, reader, parts);
      if (!finished) break;
    } else if (entry.kind === 'tool' && isStillOpenBehind(entry, reader.at)) {
      parts.push(toolPart(idOf(transcript, reader.at), { ...entry, phase: 'started' }));
      reader = { ...cursorAt(transcript, reader.at + 1), calls: [...reader.calls, reader.at] };
    } else {
      const part = entryPart(idOf(transcript, reader.at), entry, view);
      if (part) parts.push(part);
      reader = { ...cursorAt(transcript, reader.at + 1), calls: reader.calls };
    }
  }
  return { parts, cursor: reader };
}

/** Shows the calls that ended in front of what is read next: everything is told in the order in which it happened. */
function endCalls(transcript: Transcript, reader: PartCursor, parts: ChatPart[]): PartCursor {
  const calls = reader.calls.filter((at) => {
    const entry = entryAt(transcript, at);
    if (entry?.kind !== 'tool' || entry.endedAt === null || entry.endedAt > reader.at) return true;
    parts.push(toolPart(idOf(transcript, at), entry));
    return false;
  });
  return calls.length === reader.calls.length ? reader : { ...reader, calls };
}

/** Whether something happened between the start of a call and its end, if it has one. */
function isStillOpenBehind({ endedAt }: ToolEntry, at: number): boolean {
  return endedAt === null || endedAt > at + 1;
}

function isBehind(turn: TurnId | undefined, transcript: Transcript, at: number): boolean {
  if (turn === undefined) return false;
  const before = entryAt(transcript, at - 1);
  return before?.kind === 'turnEnd' && before.turnId === turn;
}

/** One and the same, for readers that compare what they are given with what they had. */
const NO_REQUESTS: Requests = {};

export function requestView(root: RootState, connection: ConnectionId, { epoch }: Transcript): RequestView {
  return {
    requests: root.requests[connection] ?? NO_REQUESTS,
    epoch,
    descriptor: root.connections[connection]?.descriptor,
  };
}

/** The parts of a whole text: bounded ones, in order, nothing left out. */
export function textParts(id: string, kind: 'markdown' | 'thinking', text: string): readonly ChatPart[] {
  const parts: ChatPart[] = [];
  cutIntoParts(id, kind, sanitise(text, true).text, { part: 0, filled: 0 }, parts);
  return parts;
}

function readText(
  transcript: Transcript,
  { kind, text }: TextEntry,
  finished: boolean,
  reader: PartCursor,
  parts: ChatPart[],
): PartCursor {
  if (text.length > reader.seen) {
    const { text: clean, consumed } = sanitise(textAfter(text, reader.seen), finished);
    const id = idOf(transcript, reader.at);
    const place = cutIntoParts(id, kind === 'text' ? 'markdown' : 'thinking', clean, reader, parts);
    if (!finished) return { ...reader, ...place, seen: reader.seen + consumed };
  }
  return finished ? { ...cursorAt(transcript, reader.at + 1), calls: reader.calls } : reader;
}

interface Place {
  readonly part: number;
  readonly filled: number;
}

/** Assistant text goes on in the next part where one is full: nothing of it is cut. */
function cutIntoParts(
  id: string,
  kind: 'markdown' | 'thinking',
  text: string,
  { part, filled }: Place,
  parts: ChatPart[],
): Place {
  let rest = text;
  let place = { part, filled };
  while (rest.length > 0) {
    const room = PART_LIMIT - place.filled;
    if (rest.length <= room) {
      parts.push(textPart(`${id}.${place.part}`, kind, rest));
      return { part: place.part, filled: place.filled + rest.length };
    }
    const at = splitPoint(rest, room);
    if (at > 0) parts.push(textPart(`${id}.${place.part}`, kind, rest.slice(0, at)));
    rest = rest.slice(at);
    place = { part: place.part + 1, filled: 0 };
  }
  return place;
}

/** A reader that has read everything in front of a position. */
export function cursorAt({ generation }: Transcript, at: number): PartCursor {
  return { generation, at, seen: 0, part: 0, filled: 0, calls: [] };
}

function idOf({ generation }: Transcript, at: number): string {
  return `${generation}.${at}`;
}

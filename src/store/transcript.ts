import type { HistoryMessage } from '../protocol/frontend-v2.js';
import type { RuntimeEvent } from '../protocol/frontend-v2-events.js';
import { append, NO_TEXT, type StreamedText } from './streamedText.js';

/**
 * What happened in one conversation, in the order in which it happened.
 *
 * Only this slice sees every event, so it is written by hand, without Immer: see ADR 1. Finished entries lie in pages
 * of PAGE_SIZE; the text being streamed stands apart in `open`, so that a delta touches nothing else.
 */
export interface Transcript {
  /** Sequence of the last event applied; a live event at or below it is a repeat. */
  readonly cursor: number;
  /** Which conversation the runtime serves; null until a snapshot said so. */
  readonly sessionId: string | null;
  /** Counts the runtime's processes: sequences and request ids start anew with each. */
  readonly epoch: number;
  /** Counts the times that the entries started over; a reader's position is good for one generation. */
  readonly generation: number;
  /** What the runtime had saved before the first entry. */
  readonly history: readonly HistoryMessage[];
  /** A full page changes only when a call that started in it ends. */
  readonly pages: readonly (readonly Entry[])[];
  /** Entries in `pages`; the position of `open`, if there is one. */
  readonly count: number;
  readonly open: OpenText | null;
  /** Calls that one half of is known of: normally the start. */
  readonly openCalls: readonly OpenCall[];
}

export type TranscriptState = Readonly<Record<string, Transcript>>;

export type Entry = TextEntry | ToolEntry | EventEntry | WithdrawnEntry | TurnEndEntry | NoteEntry;

export interface TextEntry {
  readonly kind: 'text' | 'reasoning';
  readonly text: StreamedText;
}

export interface ToolEntry {
  readonly kind: 'tool';
  /** The runtime's id of the call; one made from the sequence where it gave none. */
  readonly callId: string;
  readonly name: string | null;
  readonly arguments: string;
  readonly phase: 'started' | 'completed' | 'abandoned';
  readonly output: string;
  readonly isError: boolean;
  /** UTF-16 units of the ends of `arguments` and `output` that are not kept; absent where they are whole. */
  readonly omitted?: { readonly arguments?: number; readonly output?: number };
  /** Where the transcript stood when the call ended: it ended in front of the entry of this position. */
  readonly endedAt: number | null;
}

/** An event that is an entry of its own. */
export interface EventEntry {
  readonly kind: 'event';
  readonly event: RuntimeEvent;
  /** Of a request: the runtime process that raised it, without which its id means nothing. */
  readonly epoch: number;
}

/** A request that nobody answered and nobody can answer any more. */
export interface WithdrawnEntry {
  readonly kind: 'withdrawn';
  readonly requestId: number;
  readonly reason: WithdrawalReason;
}

export type WithdrawalReason = 'turnEnded' | 'notHeld' | 'restarted';

export interface TurnEndEntry {
  readonly kind: 'turnEnd';
  readonly turnId: string | null;
  readonly outcome: Outcome;
  readonly message: string;
}

export type Outcome = 'succeeded' | 'failed' | 'interrupted';

/** Something that only this client can tell, worded by the selectors. */
export interface NoteEntry {
  readonly kind: 'note';
  readonly note: Note;
}

export type Note =
  | { readonly about: 'restarted' }
  /** An earlier window showed another conversation under this connection. */
  | { readonly about: 'replaced' }
  | { readonly about: 'gap'; readonly message: string }
  | { readonly about: 'malformed'; readonly count: number }
  /** The runtime's saved history and what was received do not fit together; both stand as they are. */
  | { readonly about: 'unmatched' };

interface OpenText {
  readonly kind: 'text' | 'reasoning';
  readonly text: StreamedText;
}

interface OpenCall {
  readonly callId: string | null;
  readonly name: string | null;
  readonly at: number;
  /** True where the completion came first and the start is still owed. */
  readonly completed: boolean;
}

export const PAGE_SIZE = 256;

export const EMPTY_TRANSCRIPT: Transcript = {
  cursor: 0,
  sessionId: null,
  epoch: 0,
  generation: 0,
  history: [],
  pages: [],
  count: 0,
  open: null,
  openCalls: [],
};

/** The entry at a position; undefined past the end. */
export function entryAt({ pages, count, open }: Transcript, at: number): Entry | undefined {
  if (at === count) return open ?? undefined;
  return pages[Math.floor(at / PAGE_SIZE)]?.[at % PAGE_SIZE];
}

/** The position after the last entry, the open one included. */
export function endOf({ count, open }: Transcript): number {
  return open ? count + 1 : count;
}

/** The transcript after an event that is no repeat. */
export function applyEvent(transcript: Transcript, event: RuntimeEvent): Transcript {
  switch (event.kind) {
    case 'text_delta':
      return stream(transcript, 'text', event);
    case 'reasoning':
      return stream(transcript, 'reasoning', event);
    case 'tool_call_started':
      return startCall(transcript, event);
    case 'tool_call_completed':
      return completeCall(transcript, event);
    case 'turn_started':
    case 'turn_succeeded':
    case 'turn_failed':
    case 'turn_interrupted':
      // The turn's own slice says what a terminal event ends; `endTurn` then writes it down.
      return advance(transcript, event);
    case 'turn_completed':
      return advance(seal(transcript), event);
    default:
      return add(advance(transcript, event), { kind: 'event', event, epoch: transcript.epoch });
  }
}

/** The transcript that has seen the event and has nothing to show for it. */
export function advance(transcript: Transcript, { sequence }: RuntimeEvent): Transcript {
  return sequence > transcript.cursor ? { ...transcript, cursor: sequence } : transcript;
}

/** The transcript with one more finished entry. */
export function add(transcript: Transcript, entry: Entry): Transcript {
  const { pages, count, ...sealed } = seal(transcript);
  const last = pages.at(-1);
  const grown = last !== undefined && last.length < PAGE_SIZE ? pages.with(-1, [...last, entry]) : [...pages, [entry]];
  return { ...sealed, pages: grown, count: count + 1 };
}

/** A turn is over: its unfinished calls never will be. A second end right behind the first says nothing new. */
export function endTurn(transcript: Transcript, end: Omit<TurnEndEntry, 'kind'>): Transcript {
  const sealed = seal(transcript);
  if (entryAt(sealed, sealed.count - 1)?.kind === 'turnEnd') return sealed;
  const settled = sealed.openCalls.reduce((current, { at }) => {
    const entry = entryAt(current, at);
    return entry?.kind === 'tool' && entry.phase === 'started'
      ? put(current, at, { ...entry, phase: 'abandoned', endedAt: current.count })
      : current;
  }, sealed);
  return add({ ...settled, openCalls: [] }, { kind: 'turnEnd', ...end });
}

/** What is streamed is finished as it stands. */
function seal(transcript: Transcript): Transcript {
  const { open } = transcript;
  return open ? add({ ...transcript, open: null }, open) : transcript;
}

function stream(
  transcript: Transcript,
  kind: OpenText['kind'],
  event: RuntimeEvent & { readonly text: string },
): Transcript {
  const { open } = transcript;
  if (event.text === '') return advance(transcript, event);
  if (open?.kind === kind) {
    return withOpen(transcript, event.sequence, { kind, text: append(open.text, event.text) });
  }
  return { ...seal(transcript), cursor: event.sequence, open: { kind, text: append(NO_TEXT, event.text) } };
}

/** Spelled out: see the same in the root reducer. */
function withOpen(
  { sessionId, epoch, generation, history, pages, count, openCalls }: Transcript,
  cursor: number,
  open: OpenText,
): Transcript {
  return { cursor, sessionId, epoch, generation, history, pages, count, open, openCalls };
}

function startCall(before: Transcript, event: RuntimeEvent & { readonly kind: 'tool_call_started' }): Transcript {
  const transcript = seal(advance(before, event));
  const { callId, name } = event;
  const known = callId === null ? undefined : transcript.openCalls.find((call) => call.callId === callId);
  const entry = known && entryAt(transcript, known.at);
  if (known && entry?.kind === 'tool') {
    const filled = withOmitted({ ...entry, name: name ?? entry.name, arguments: event.arguments }, 'arguments', event);
    const openCalls = known.completed ? transcript.openCalls.filter((call) => call !== known) : transcript.openCalls;
    return put({ ...transcript, openCalls }, known.at, filled);
  }
  return add(
    { ...transcript, openCalls: [...transcript.openCalls, { callId, name, at: transcript.count, completed: false }] },
    withOmitted(
      {
        kind: 'tool',
        callId: callId ?? unnamed(event),
        name,
        arguments: event.arguments,
        phase: 'started',
        output: '',
        isError: false,
        endedAt: null,
      },
      'arguments',
      event,
    ),
  );
}

function completeCall(before: Transcript, event: RuntimeEvent & { readonly kind: 'tool_call_completed' }): Transcript {
  const transcript = seal(advance(before, event));
  const { callId, name, output, isError } = event;
  const known = transcript.openCalls.findLast(
    (call) =>
      !call.completed &&
      (callId === null ? call.callId === null && (name === null || call.name === name) : call.callId === callId),
  );
  const entry = known && entryAt(transcript, known.at);
  if (known && entry?.kind === 'tool') {
    const openCalls = transcript.openCalls.filter((call) => call !== known);
    const ended = { phase: 'completed', output, isError, endedAt: transcript.count } as const;
    const completed: ToolEntry = { ...entry, name: entry.name ?? name, ...ended };
    return put({ ...transcript, openCalls }, known.at, withOmitted(completed, 'output', event));
  }
  const openCalls =
    callId === null
      ? transcript.openCalls
      : [...transcript.openCalls, { callId, name, at: transcript.count, completed: true }];
  return add(
    { ...transcript, openCalls },
    withOmitted(
      {
        kind: 'tool',
        callId: callId ?? unnamed(event),
        name,
        arguments: '',
        phase: 'completed',
        output,
        isError,
        endedAt: transcript.count,
      },
      'output',
      event,
    ),
  );
}

function withOmitted(
  entry: ToolEntry,
  of: 'arguments' | 'output',
  { omitted }: { readonly omitted?: number },
): ToolEntry {
  return omitted === undefined ? entry : { ...entry, omitted: { ...entry.omitted, [of]: omitted } };
}

function put(transcript: Transcript, at: number, entry: Entry): Transcript {
  const page = transcript.pages[Math.floor(at / PAGE_SIZE)];
  if (!page) return transcript;
  return {
    ...transcript,
    pages: transcript.pages.with(Math.floor(at / PAGE_SIZE), page.with(at % PAGE_SIZE, entry)),
  };
}

function unnamed({ sequence }: RuntimeEvent): string {
  return `event-${sequence}`;
}

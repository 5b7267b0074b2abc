import { cutAtCodePoint } from '../protocol/bounded.js';
import type { EventBody, EventKind } from '../protocol/frontend-v2-events.js';
import type { Entry, ToolEntry } from '../store/transcript.js';
import { cleanText, OPAQUE_LIMIT, PART_LIMIT, title } from './bounds.js';
import { filesOfDiff } from './diffFiles.js';
import { EDITOR_PARTS, type ChatPart, type DiffPart, type OpaquePart, type TextPart, type ToolPart } from './parts.js';
import { requestPart, resolutionPart, withdrawalPart, type RequestView } from './requestParts.js';
import { sanitise } from './sanitise.js';

/**
 * What a finished entry of a transcript looks like: the whole mapping from events to chat parts (streamed text is cut
 * into parts by the readers, see `newParts`). Undefined where an entry has nothing to show of its own.
 */
export function entryPart(id: string, entry: Entry, requests: RequestView): ChatPart | undefined {
  switch (entry.kind) {
    case 'text':
    case 'reasoning':
      return undefined;
    case 'tool':
      return toolPart(id, entry);
    case 'withdrawn':
      return withdrawalPart(id, entry.requestId, entry.reason);
    case 'turnEnd':
      return turnEndPart(id, entry.outcome, entry.message);
    case 'note':
      return notePart(id, entry.note);
    case 'event':
      return eventPart(id, entry.event, entry.epoch, requests);
  }
}

export function textPart(id: string, kind: TextPart['kind'], text: string): TextPart {
  return { kind, id, text, editor: EDITOR_PARTS[kind] };
}

/** @param limit UTF-16 units of the input, and of the output */
export function toolPart(id: string, entry: Omit<ToolEntry, 'kind' | 'endedAt'>, limit = PART_LIMIT): ToolPart {
  const { callId, name, phase, omitted = {} } = entry;
  return {
    kind: 'tool',
    id,
    callId,
    name: toolName(name),
    phase,
    ...(entry.arguments === '' ? {} : { input: cleanText(entry.arguments, limit, omitted.arguments) }),
    ...(phase === 'completed'
      ? { output: cleanText(entry.output, limit, omitted.output), isError: entry.isError }
      : {}),
    editor: EDITOR_PARTS.tool,
  };
}

export function toolName(name: string | null): string {
  return title(name ?? '') || 'tool';
}

/** How each kind of event is shown; the kinds that make entries of another sort, or none, have no row. */
type EventRow<K extends EventKind> = (id: string, event: Extract<EventBody, { kind: K }>) => ChatPart | undefined;

const EVENT_ROWS: { readonly [K in ShownKind]: EventRow<K> } = {
  // The editor shows a person's own prompt already; a restored one is the request turn of the history.
  user_message: () => undefined,
  turn_aborted: (id, { source }) =>
    textPart(id, 'notice', title(source === null ? 'Aborted.' : `Aborted (${source}).`)),
  usage: (id, { prompt, completion, cached }) =>
    textPart(
      id,
      'progress',
      `${count(prompt)} tokens in${cached === null ? '' : ` (${count(cached)} cached)`}, ${count(completion)} out`,
    ),
  cache_warning: (id, { message }) => textPart(id, 'warning', bounded(message)),
  provider_retry: (id, { attempt, delayMs, reason }) =>
    textPart(
      id,
      'progress',
      bounded(`The model provider was asked again (attempt ${attempt + 1}, after ${seconds(delayMs)}): ${reason}`),
    ),
  model_changed: (id, { from, to, reason }) =>
    textPart(
      id,
      'notice',
      bounded(`Model changed${from === '' ? '' : ` from ${from}`} to ${to}${reason === null ? '.' : `: ${reason}`}`),
    ),
  background_output: (id, { chunk, truncated }) =>
    textPart(id, 'output', truncated ? `${bounded(chunk, KEPT_NO_MORE.length)}${KEPT_NO_MORE}` : bounded(chunk)),
  diff_updated: (id, { diff }) => diffPart(id, diff),
  scheduled_prompt: (id, { phase, detail }) =>
    textPart(id, 'progress', bounded(`Scheduled prompt ${phase}${detail === '' ? '.' : `: ${detail}`}`)),
  trouble: (id, { source, message }) =>
    textPart(id, 'warning', bounded(`${TROUBLE[source] ?? title(source)}${message === '' ? '.' : `: ${message}`}`)),
  opaque: (id, { eventKind, preview }) => opaquePart(id, eventKind, preview),
};

type ShownKind = Exclude<
  EventKind,
  | 'turn_started'
  | 'turn_completed'
  | 'turn_succeeded'
  | 'turn_failed'
  | 'turn_interrupted'
  | 'text_delta'
  | 'reasoning'
  | 'tool_call_started'
  | 'tool_call_completed'
  | 'request'
  | 'request_resolved'
>;

const TROUBLE: Readonly<Record<string, string>> = {
  scheduler_error: 'The scheduler reported an error',
  stream_error: 'The harness reported an error in its stream',
  transport_error: 'The connection to the harness failed',
  watch_error: 'Watching the session failed',
  runtime_disconnected: 'The runtime disconnected',
};

const KEPT_NO_MORE = '\n… (the runtime kept no more of this output)';

function eventPart(id: string, event: EventBody, epoch: number, requests: RequestView): ChatPart | undefined {
  switch (event.kind) {
    case 'request':
      return requestPart(id, event.request, epoch, requests);
    case 'request_resolved':
      return resolutionPart(id, event.requestId, event.resolution, epoch, requests);
    default: {
      if (!(event.kind in EVENT_ROWS)) return undefined;
      // The table is keyed by the event's own kind, which TypeScript cannot correlate with its row.
      const row = EVENT_ROWS[event.kind as ShownKind] as EventRow<ShownKind>;
      return row(id, event as Extract<EventBody, { kind: ShownKind }>);
    }
  }
}

function turnEndPart(id: string, outcome: 'succeeded' | 'failed' | 'interrupted', message: string) {
  switch (outcome) {
    case 'succeeded':
      return undefined;
    case 'interrupted':
      return textPart(id, 'notice', 'Interrupted.');
    case 'failed':
      return textPart(id, 'warning', bounded(message === '' ? 'The turn failed.' : message));
  }
}

function notePart(id: string, note: Extract<Entry, { kind: 'note' }>['note']): TextPart {
  switch (note.about) {
    case 'restarted':
      return textPart(id, 'notice', 'The runtime was restarted. What was shown before is kept.');
    case 'replaced':
      return textPart(id, 'notice', 'The runtime serves another conversation now than the one that was shown before.');
    case 'gap':
      return textPart(id, 'warning', bounded(`Part of this conversation can't be shown now: ${note.message}`));
    case 'malformed':
      return textPart(
        id,
        'warning',
        note.count === 1
          ? 'One event of the runtime could not be read.'
          : `${count(note.count)} events of the runtime could not be read.`,
      );
    case 'unmatched':
      return textPart(
        id,
        'notice',
        'The connection was down for a while; some of what happened then is not shown here.',
      );
  }
}

function diffPart(id: string, diff: string): DiffPart {
  return { kind: 'diff', id, patch: bounded(diff), files: filesOfDiff(diff), editor: EDITOR_PARTS.diff };
}

function opaquePart(id: string, eventKind: string, preview: string): OpaquePart {
  const clean = sanitise(preview, true).text;
  // The preview may be a cut one: how much is missing in all is not known here.
  const text = clean.length <= OPAQUE_LIMIT ? clean : `${cutAtCodePoint(clean, OPAQUE_LIMIT - 1)}…`;
  return { kind: 'opaque', id, eventKind: title(eventKind), text, editor: EDITOR_PARTS.opaque };
}

/** Text from outside, clean and within a part's bound; `spare` is kept free for what is said after it. */
function bounded(text: string, spare = 0): string {
  return cleanText(text, PART_LIMIT - spare);
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toLocaleString('en-US', { maximumFractionDigits: 1 })} s`;
}

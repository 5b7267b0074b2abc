import type { UnknownAction } from '@reduxjs/toolkit';
import { isEventReceived } from '../store/events.js';
import type { LogRecord } from '../store/recorder.js';
import { replay } from '../store/replay.js';
import type { RootState } from '../store/state.js';
import type { EndedTurn } from '../store/turn.js';
import { title } from './bounds.js';
import { fallbackOf } from './fallback.js';
import { selectHistoryTurns } from './historyTurns.js';
import { selectIdentityLabel } from './identity.js';
import { escapeMarkdown, fence, inlineCode } from './markdown.js';
import type { ChatPart } from './parts.js';
import type { SecretKind } from './redactionRules.js';
import { LOGGED_CONVERSATION } from './turnLog.js';

export interface TurnReportOptions {
  /** What was involved, in what version, by name. */
  readonly versions: readonly (readonly [name: string, version: string])[];
  readonly redacted: ReadonlyMap<SecretKind, number>;
  readonly ended: EndedTurn | undefined;
  /** The name of the log's file. */
  readonly log: string;
}

/**
 * A turn to read, as Markdown: drawn from its log and nothing else, so that whoever looks at it has seen what the log
 * tells. What was said stands in code blocks: whatever shows the file makes no links, images or mentions of it.
 */
export function turnReport(lines: readonly string[], options: TurnReportOptions): string {
  const records: LogRecord[] = [];
  const { state } = replay(lines, { onAction: (record) => records.push(record) });
  const turns = selectHistoryTurns(state, LOGGED_CONVERSATION);
  const sections = [
    '# A turn of Volter Harness',
    redactionNote(options),
    versionLines(state, options),
    timeLines(records, options.ended),
    '## What was said and done',
    ...turns.flatMap(({ prompt, marker, parts }) => [
      ...(prompt === null || marker ? [] : ['### Prompt', fence(prompt)]),
      ...parts.flatMap(partBlocks),
    ]),
    '## What happened when',
    timeline(records),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function redactionNote({ redacted, log }: TurnReportOptions): string {
  const kinds = [...redacted].map(([kind, count]) => `${kind} (${count})`).join(', ');
  const found =
    kinds === ''
      ? 'Nothing was found in it that had to be replaced.'
      : `It was redacted. Labels such as ⟨${[...redacted.keys()][0] ?? 'token'} 1⟩ stand for what was found, one for each value: ${kinds}.`;
  return (
    `This file and ${inlineCode(log)} hold the prompt, the answers, and what tools were given and gave back. ${found} ` +
    'What looks like nothing secret was not found: **read this before you share it.**'
  );
}

function versionLines(state: RootState, { versions }: TurnReportOptions): string {
  const known = state.connections[LOGGED_CONVERSATION]?.descriptor;
  const agent = known === undefined ? [] : [['Agent', selectIdentityLabel(state, LOGGED_CONVERSATION)] as const];
  return [...versions, ...agent].map(([name, version]) => `- ${name}: ${escapeMarkdown(title(version))}`).join('\n');
}

function timeLines(records: readonly LogRecord[], ended: EndedTurn | undefined): string {
  const [first, last] = [records[0]?.at ?? 0, records.at(-1)?.at ?? 0];
  const outcome = ended === undefined ? 'it was still going on when this was saved' : ended.outcome;
  return `- Began: ${isoTime(first)}\n- ${ended ? 'Ended' : 'Saved'}: ${isoTime(last)} (${seconds(last - first)}; ${outcome})`;
}

/** Where it stands in a chat there is a heading for it; a chat's own words are quoted as they are. */
function partBlocks(part: ChatPart): readonly string[] {
  switch (part.kind) {
    case 'markdown':
      return ['### Answer', fence(part.text, 'markdown')];
    case 'thinking':
      return ['### Reasoning', fence(part.text)];
    case 'request':
      return ['### Request', ...fallbackOf(part).map(({ text }) => text.trim())];
    default:
      return fallbackOf(part).map(({ text }) => text.trim());
  }
}

const TIMES_LIMIT = 1000;

/** A line for each fact; streamed text is one line for as long as nothing else comes. */
function timeline(records: readonly LogRecord[]): string {
  const lines: { readonly at: number; readonly what: string; count: number }[] = [];
  for (const { at, action } of records) {
    const what = factOf(action);
    const last = lines.at(-1);
    if (last?.what === what) last.count += 1;
    else lines.push({ at, what, count: 1 });
  }
  const start = records[0]?.at ?? 0;
  const shown = lines.slice(0, TIMES_LIMIT).map(({ at, what, count }) => {
    return `- +${seconds(at - start)} ${escapeMarkdown(what)}${count > 1 ? ` (${count} times)` : ''}`;
  });
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`- … (${more} more in the log)`] : [])].join('\n');
}

function factOf(action: UnknownAction): string {
  if (!isEventReceived(action)) return title(action.type);
  const event = action.payload;
  switch (event.kind) {
    case 'tool_call_started':
    case 'tool_call_completed':
      return title(`${event.kind} ${event.name ?? ''} ${event.callId ?? ''}`);
    case 'request':
      return `request ${event.request.id}`;
    case 'request_resolved':
      return `request_resolved ${event.requestId}`;
    case 'opaque':
      return title(`${event.kind} ${event.eventKind}`);
    default:
      return event.kind;
  }
}

function isoTime(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? 'unknown' : time.toISOString();
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}

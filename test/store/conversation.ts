import type { UnknownAction } from '@reduxjs/toolkit';
import type { Descriptor, HistoryMessage, HistoryToolCall } from '../../src/protocol/frontend-v2.js';
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { attached, opened } from '../../src/store/connections.js';
import { eventMeta, eventReceived } from '../../src/store/events.js';
import { emptyState } from '../../src/store/replay.js';
import { rootReducer } from '../../src/store/root.js';
import type { RootState } from '../../src/store/state.js';
import { wholeText } from '../../src/store/streamedText.js';
import { EMPTY_TRANSCRIPT, endOf, entryAt, type Entry, type Transcript } from '../../src/store/transcript.js';
import { DESCRIPTOR } from '../doubles/runtime.js';

export const IDLE = DESCRIPTOR;
export const BUSY: Descriptor = { ...DESCRIPTOR, turnState: 'busy' };
export const HOSTED: Descriptor = { ...DESCRIPTOR, sourceHarness: 'claude-code' };

export function open(connection = 'c'): UnknownAction {
  const credential = { kind: 'secret', key: 'k' } as const;
  const target = { baseUrl: 'http://127.0.0.1:1', clientId: 'me', credential, permissions: null };
  return opened({ connection, origin: 'api', target });
}

export interface Join {
  readonly descriptor?: Descriptor;
  readonly history?: readonly HistoryMessage[];
  readonly historyCursor?: number;
  readonly replay?: readonly RuntimeEvent[];
  readonly connection?: string;
}

/** A snapshot arrives; of what is not said, as of a fresh, idle runtime. */
export function attach(join: Join = {}): UnknownAction {
  const { descriptor = IDLE, history = [], historyCursor = 0, replay = [], connection = 'c' } = join;
  const snapshot = { descriptor, history, historyCursor, replay, malformed: 0 };
  return attached({ connection, snapshot, at: 1_000 });
}

export function receive(events: readonly RuntimeEvent[], connection = 'c'): readonly UnknownAction[] {
  const meta = eventMeta(connection, 2_000);
  return events.map((event) => eventReceived(event, meta));
}

export function fold(actions: readonly UnknownAction[], state: RootState = emptyState()): RootState {
  return actions.reduce<RootState>(rootReducer, state);
}

/** A conversation that was attached to a fresh runtime and then heard these events. */
export function heard(events: readonly RuntimeEvent[], join: Join = {}): RootState {
  return fold([open(), attach(join), ...receive(events)]);
}

export function transcriptOf(state: RootState, connection = 'c'): Transcript {
  return state.transcript[connection] ?? EMPTY_TRANSCRIPT;
}

export function entriesOf(state: RootState, connection = 'c'): readonly Entry[] {
  const transcript = transcriptOf(state, connection);
  return Array.from({ length: endOf(transcript) }, (_, at) => entryAt(transcript, at) as Entry);
}

/** What a conversation says and does, a line each: prompts, text (however it was cut up), calls and ends. */
export function storyOf(state: RootState, connection = 'c'): readonly string[] {
  const story: string[] = [];
  let text: string | undefined;
  const tell = (line: string) => {
    if (text !== undefined) story.push(`text ${text}`);
    text = undefined;
    story.push(line);
  };
  for (const entry of entriesOf(state, connection)) {
    if (entry.kind === 'text') text = `${text ?? ''}${wholeText(entry.text)}`;
    else if (entry.kind === 'tool') {
      const { callId, name, arguments: args, phase, output } = entry;
      tell(`tool ${callId} ${name ?? '?'}(${args}) ${phase} ${output}`.trim());
    } else if (entry.kind === 'event' && entry.event.kind === 'user_message') tell(`> ${entry.event.text}`);
    else if (entry.kind === 'turnEnd') tell(`end ${entry.outcome} ${entry.message}`.trim());
    else if (entry.kind === 'note') tell(`note ${entry.note.about}`);
  }
  return text === undefined ? story : [...story, `text ${text}`];
}

export function endingsOf(state: RootState, connection = 'c'): readonly string[] {
  return (state.turn[connection]?.ended ?? []).map(({ turnId, outcome, message }) =>
    `${turnId} ${outcome} ${message}`.trim(),
  );
}

const MESSAGE: Omit<HistoryMessage, 'role'> = { text: '', images: 0, toolCalls: [], toolCallId: null };

export const system = (text: string): HistoryMessage => ({ ...MESSAGE, role: 'system', text });
export const user = (text: string): HistoryMessage => ({ ...MESSAGE, role: 'user', text });
export const assistant = (text: string, ...toolCalls: readonly HistoryToolCall[]): HistoryMessage => ({
  ...MESSAGE,
  role: 'assistant',
  text,
  toolCalls,
});
export const result = (toolCallId: string | null, text: string): HistoryMessage => ({
  ...MESSAGE,
  role: 'tool',
  text,
  toolCallId,
});
export const call = (id: string, args = '{}', name = 'bash'): HistoryToolCall => ({ id, name, arguments: args });

import type { HistoryMessage } from '../protocol/frontend-v2.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT, endOf, entryAt, type Transcript } from '../store/transcript.js';
import type { TurnId } from '../store/turn.js';
import { formOf } from './requestPreview.js';
import { selectTurn } from './turn.js';

/** What a turn changed, as far as the runtime told of it. */
export interface TurnChanges {
  /** Null where the turn has no name here: its end came from the runtime's saved history. */
  readonly turnId: TurnId | null;
  readonly prompt: string | null;
  /** The runtime's own account: it tells of the whole turn each time, so this is the last one. Undefined where it gave none. */
  readonly diff: string | undefined;
  /** The calls of tools that edit files, in order; those that failed are left out. */
  readonly edits: readonly EditCall[];
}

export interface EditCall {
  readonly name: string;
  /** As the model wrote them: usually, not always, valid JSON. */
  readonly arguments: string;
  /** UTF-16 units of them that were not kept. */
  readonly omitted: number;
  /** False where the turn ended before the call did. */
  readonly isComplete: boolean;
}

/** The turns that changed something, oldest first: those of the saved history, then those that were seen. */
export function selectChangedTurns(root: RootState, connection: ConnectionId): readonly TurnChanges[] {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const turns = [...savedChanges(transcript.history)];
  let from = 0;
  for (let at = 0; at < endOf(transcript); at++) {
    const entry = entryAt(transcript, at);
    if (entry?.kind !== 'turnEnd') continue;
    turns.push(changesIn(transcript, from, at, entry.turnId));
    from = at + 1;
  }
  const current = selectTurn(root, connection);
  const running = current.phase === 'idle' ? null : current.turnId;
  return [...turns, changesIn(transcript, from, endOf(transcript), running)].filter(hasChanges);
}

/** What a turn that is over changed; undefined where that is nothing. It reads no further back than to the turn's beginning. */
export function selectChangesOf(root: RootState, connection: ConnectionId, turnId: TurnId): TurnChanges | undefined {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  let end = endOf(transcript) - 1;
  for (; end >= 0; end--) {
    const entry = entryAt(transcript, end);
    if (entry?.kind === 'turnEnd' && entry.turnId === turnId) break;
  }
  let from = end;
  while (from > 0 && entryAt(transcript, from - 1)?.kind !== 'turnEnd') from -= 1;
  const changes = end < 0 ? undefined : changesIn(transcript, from, end, turnId);
  return changes && hasChanges(changes) ? changes : undefined;
}

function hasChanges({ diff, edits }: TurnChanges): boolean {
  return diff === undefined ? edits.length > 0 : diff !== '';
}

function changesIn(transcript: Transcript, from: number, end: number, turnId: TurnId | null): TurnChanges {
  let prompt: string | null = null;
  let diff: string | undefined;
  const edits: EditCall[] = [];
  for (let at = from; at < end; at++) {
    const entry = entryAt(transcript, at);
    if (entry?.kind === 'event') {
      if (entry.event.kind === 'user_message') prompt ??= entry.event.text;
      if (entry.event.kind === 'diff_updated') diff = entry.event.diff;
    } else if (entry?.kind === 'tool' && entry.phase !== 'started' && !entry.isError && isEdit(entry.name)) {
      const { name, arguments: args, omitted } = entry;
      edits.push({ name, arguments: args, omitted: omitted?.arguments ?? 0, isComplete: entry.phase === 'completed' });
    }
  }
  return { turnId, prompt, diff, edits };
}

function savedChanges(history: readonly HistoryMessage[]): readonly TurnChanges[] {
  const turns: { prompt: string | null; edits: EditCall[] }[] = [];
  /** Read backwards, the result of a call is the next one of its id, up to the next call of that id. */
  const results = new Map<string, HistoryMessage>();
  let edits: EditCall[] = [];
  for (const message of history.toReversed()) {
    if (message.toolCallId !== null) results.set(message.toolCallId, message);
    for (const { id, name, arguments: args, omitted = 0 } of message.toolCalls.toReversed()) {
      const result = results.get(id);
      results.delete(id);
      // Saved results carry no error flag; the runtime starts the text of an error with `Error:`.
      if (!isEdit(name) || result?.text.startsWith('Error:') === true) continue;
      edits.push({ name, arguments: args, omitted, isComplete: result !== undefined });
    }
    if (message.role !== 'user') continue;
    turns.push({ prompt: message.text, edits: edits.reverse() });
    edits = [];
  }
  if (edits.length > 0) turns.push({ prompt: null, edits: edits.reverse() });
  return turns.reverse().map((turn) => ({ ...turn, turnId: null, diff: undefined }));
}

const EDITORS = ['edit', 'multiedit', 'write', 'apply_patch', 'notebookedit'];

function isEdit(name: string | null): name is string {
  return name !== null && EDITORS.includes(formOf(name));
}

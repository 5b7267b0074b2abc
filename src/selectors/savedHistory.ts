import type { HistoryMessage } from '../protocol/frontend-v2.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT, type Entry } from '../store/transcript.js';
import { isHarnessText } from './harnessText.js';

/**
 * What was saved of a conversation before this window saw it: by the runtime, or by the host where the runtime has no prompt
 * saved. What happened since stands behind it either way.
 */
export function selectSavedHistory(root: RootState, connection: ConnectionId): readonly HistoryMessage[] {
  const { history } = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const fallback = root.connections[connection]?.before.transcript ?? [];
  return fallback.length === 0 || history.some(isPrompt) ? history : fallback;
}

/** Whether a message is a person's own. */
export function isPrompt({ role, text }: HistoryMessage): boolean {
  return role === 'user' && !isHarnessText(text);
}

/** What a person was heard to say; undefined for anything else. */
export function promptIn(entry: Entry | undefined): string | undefined {
  if (entry?.kind !== 'event' || entry.event.kind !== 'user_message') return undefined;
  return isHarnessText(entry.event.text) ? undefined : entry.event.text;
}

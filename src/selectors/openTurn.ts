import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT, endOf, entryAt } from '../store/transcript.js';
import { cutText, PART_LIMIT } from './bounds.js';
import { cursorAt, type PartCursor } from './newParts.js';
import { selectWaitingIds } from './requests.js';
import { sanitise } from './sanitise.js';
import { isTurnGoingOn } from './turn.js';

/** What of a conversation is not over: its last turn, with the place in it where a reader starts. */
export interface OpenTurn {
  /** Null where what goes on has no prompt that is known. */
  readonly prompt: string | null;
  readonly cursor: PartCursor;
}

/**
 * The turn that runs, or the last one where nothing runs and a request waits all the same. Undefined where all is over.
 */
export function selectOpenTurn(root: RootState, connection: ConnectionId): OpenTurn | undefined {
  const isRunning = isTurnGoingOn(root, connection);
  if (!isRunning && selectWaitingIds(root, connection).length === 0) return undefined;
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const end = endOf(transcript);
  let start = end;
  let prompt: string | null = null;
  for (let at = start - 1; at >= 0; at--) {
    const entry = entryAt(transcript, at);
    // What stands behind the end of a turn is no part of it, and does not open it again.
    if (entry?.kind === 'turnEnd' && (isRunning || start < end)) break;
    start = at;
    // A prompt that came in the middle of a turn steers it: the turn's own stands before it.
    if (entry?.kind !== 'event' || entry.event.kind !== 'user_message') continue;
    prompt = cutText(sanitise(entry.event.text, true).text, PART_LIMIT);
    if (!isRunning) break;
  }
  return { prompt, cursor: cursorAt(transcript, start) };
}

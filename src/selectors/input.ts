import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { endOf, entryAt, EMPTY_TRANSCRIPT } from '../store/transcript.js';
import { isPrompt, promptIn } from './savedHistory.js';
import { selectTurn } from './turn.js';

/**
 * Whether the runtime is known to have had a prompt in this conversation: it took ours, has one saved, or told of one. That it
 * is busy proves nothing: it may be busy with something else.
 */
export function selectHasInput(root: RootState, connection: ConnectionId): boolean {
  const turn = selectTurn(root, connection);
  if (turn.phase === 'submitting' && turn.accepted) return true;
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  if (transcript.history.some(isPrompt)) return true;
  for (let at = 0; at < endOf(transcript); at++) {
    if (promptIn(entryAt(transcript, at)) !== undefined) return true;
  }
  return false;
}

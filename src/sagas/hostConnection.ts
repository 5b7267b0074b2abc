import { put } from 'typed-redux-saga';
import type { HistoryMessage } from '../protocol/frontend-v2.js';
import { isSameTarget, type HostSnapshot } from '../protocol/host.js';
import { isOver } from '../selectors/connections.js';
import { selectConversation } from '../selectors/host.js';
import { closeRequested, opened, recalled } from '../store/connections.js';
import { state } from './context.js';

/**
 * Attaches to what the host hands over, and to nothing else of it: the old attachment ends before a new one begins.
 *
 * @param history what `/open` said of the conversation
 * @param isAsked a person wants it, so that an attachment that failed is tried again
 */
export function* followConnection(
  { activeSession, connection: target }: HostSnapshot,
  history: readonly HistoryMessage[] | undefined,
  isAsked: boolean,
) {
  const root = yield* state();
  const wanted = target === null ? null : activeSession;
  for (const [connection, { origin, phase }] of Object.entries(root.connections)) {
    if (origin === 'host' && connection !== wanted && !isOver(phase)) yield* put(closeRequested({ connection }));
  }
  if (wanted === null || target === null) return;

  const known = root.connections[wanted];
  const isUsable = known && (!isOver(known.phase) || (known.phase.name !== 'closed' && !isAsked));
  if (isUsable && isSameTarget(known.target, target)) {
    if (history && history.length > 0 && known.before.transcript.length === 0) {
      yield* put(recalled({ connection: wanted, transcript: history }));
    }
    return;
  }
  // What was never bound is kept nowhere.
  const transcript = history ?? (selectConversation(root, wanted)?.identity === null ? [] : undefined);
  const before = transcript ? { before: { transcript } } : {};
  yield* put(opened({ connection: wanted, origin: 'host', target, ...before }));
}

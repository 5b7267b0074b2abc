import type { RuntimeEvent } from '../protocol/frontend-v2-events.js';
import { TERMINAL_KINDS } from '../protocol/frontend-v2-events.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';

/** Sequence of the last event applied. */
export function selectCursor(root: RootState, connection: ConnectionId): number {
  return root.transcript[connection]?.cursor ?? 0;
}

/** Whether the runtime could not replay what is missing, so that only the live stream is shown. */
export function isAtGap(root: RootState, connection: ConnectionId): boolean {
  const phase = root.connections[connection]?.phase;
  return phase?.name === 'attached' && phase.gap !== null;
}

/**
 * How many numbers a native runtime skips in front of an event: at a turn's end it numbers the session's requests and
 * resolutions anew and sends none of them (frontend.v2 §6.2). Any other skip means that something is missing.
 */
export function expectedSkip(root: RootState, connection: ConnectionId, { kind }: RuntimeEvent): number {
  if (!TERMINAL_KINDS.some((terminal) => terminal === kind)) return 0;
  return Object.values(root.requests[connection] ?? {}).reduce(
    (skipped, { request, status }) =>
      skipped + (request ? 1 : 0) + (status.phase === 'answered' && status.resolution ? 1 : 0),
    0,
  );
}

import type { RuntimeEvent } from '../protocol/frontend-v2-events.js';
import { TERMINAL_KINDS } from '../protocol/frontend-v2-events.js';
import type { ConnectionId, ConnectionPhase } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { title } from './bounds.js';

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

/** Whether a connection has ended and nothing but a person, or a new handover, brings it back. */
export function isOver(phase: ConnectionPhase | undefined): phase is Over {
  return phase?.name === 'refused' || phase?.name === 'lost' || phase?.name === 'closed';
}

/** Whether a connection is attached, or will not be by itself; one that nobody knows is neither on its way. */
export function isSettled(phase: ConnectionPhase | undefined): boolean {
  return phase === undefined || phase.name === 'attached' || isOver(phase);
}

type Over = Extract<ConnectionPhase, { readonly name: 'refused' | 'lost' | 'closed' }>;

/** Why it ended and what to do about it, in one line. */
export function whyOver(phase: Over): string {
  switch (phase.name) {
    case 'refused':
      return title(
        `${phase.refusal.message} ${REMEDIES[phase.refusal.permission ?? ''] ?? ''}`.trim(),
        SENTENCES_LIMIT,
      );
    case 'lost':
      return title(`The runtime could not be reached: ${phase.message}`, SENTENCES_LIMIT);
    case 'closed':
      return 'The connection was closed.';
  }
}

/** A refusal names what it is about; what to do about that is ours to say. Source: frontend.v2 §2.2, §3. */
const REMEDIES: Readonly<Record<string, string>> = {
  client_id: 'A minted token works only with the client id that it was minted for: give that id as well.',
  observe: 'The credential does not allow to watch this runtime: ask for one that does.',
};
const SENTENCES_LIMIT = 1000;

/** One or two words on the state of a connection. */
export function selectPhaseLabel(root: RootState, connection: ConnectionId): string {
  const phase = root.connections[connection]?.phase;
  switch (phase?.name) {
    case undefined:
    case 'closed':
      return 'Not connected';
    case 'connecting':
      return 'Connecting';
    case 'reconnecting':
      return 'Reconnecting';
    case 'attached':
      return 'Connected';
    case 'refused':
      return 'Refused';
    case 'lost':
      return 'Connection lost';
  }
}

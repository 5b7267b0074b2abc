import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { NO_TURN, type EndedTurn, type Turn, type TurnId } from '../store/turn.js';
import { title } from './bounds.js';

export function selectTurn(root: RootState, connection: ConnectionId): Turn {
  return (root.turn[connection] ?? NO_TURN).current;
}

/** How a turn ended; undefined while it has not. */
export function selectEndedTurn(root: RootState, connection: ConnectionId, turnId: TurnId): EndedTurn | undefined {
  return root.turn[connection]?.ended.findLast((ended) => ended.turnId === turnId);
}

/** Whether the runtime works for us, or has our prompt: it is then bound to tell us of an end. */
export function isTurnGoingOn(root: RootState, connection: ConnectionId): boolean {
  const turn = selectTurn(root, connection);
  switch (turn.phase) {
    case 'idle':
      return false;
    case 'submitting':
      return turn.accepted;
    case 'interrupting':
      return turn.started;
    case 'running':
    case 'settling':
      return true;
  }
}

/** What the person sees of a turn that goes on; undefined while nothing does. */
export function selectTurnLabel(root: RootState, connection: ConnectionId): string | undefined {
  const turn = selectTurn(root, connection);
  switch (turn.phase) {
    case 'idle':
      return undefined;
    case 'submitting':
      return 'Sending';
    case 'running':
      return turn.problem === null ? 'Working' : `Working (Stop did not get through: ${title(turn.problem)})`;
    case 'interrupting':
      return 'Stop requested';
    case 'settling':
      return 'Stopping';
  }
}

import { selectTurn } from '../selectors/turn.js';
import type { ConnectionId } from '../store/connections.js';
import { interruptRequested } from '../store/turn.js';
import type { Front } from './front.js';

/** A person wants what runs in a conversation to stop. Returns whether anything does. */
export function requestStop({ app, services }: Front, connection: ConnectionId): boolean {
  const turn = selectTurn(app.getState(), connection);
  if (turn.phase === 'idle') return false;
  app.dispatch(interruptRequested({ connection, turnId: turn.turnId, at: services.clock.wall() }));
  return true;
}

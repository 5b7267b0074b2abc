import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';

/** The conversation that is meant where nothing else says so; undefined where there is none. */
export function selectFocus(root: RootState): ConnectionId | undefined {
  const { connection } = root.focus;
  if (connection !== null && root.connections[connection]) return connection;
  return Object.keys(root.connections).at(-1);
}

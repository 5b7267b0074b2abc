import type { ConnectionId } from '../store/connections.js';
import type { LeaseState } from '../store/lease.js';
import { title } from './bounds.js';

/** What the status bar says about control of one runtime; undefined while there is nothing to say. */
export function selectControlLabel(leases: LeaseState, connection: ConnectionId): string | undefined {
  const lease = leases[connection];
  switch (lease?.phase) {
    case undefined:
      return undefined;
    case 'controlling':
      return 'In control';
    case 'observing':
      return lease.holder ? `Watching (${title(lease.holder)} is in control)` : 'Watching';
    case 'lost':
      return lease.holder ? `Control taken by ${title(lease.holder)}` : 'Control lost';
  }
}

import { selectFocus } from '../selectors/focus.js';
import { selectConnectionName } from '../selectors/identity.js';
import { selectWaitingIds } from '../selectors/requests.js';
import { isTurnGoingOn } from '../selectors/turn.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { conversationResource } from './sessionResource.js';

/** What `supercode.frontend.status` tells a host. Source: host-controls §12. */
export interface FrontendStatus {
  /** Of the package that really runs. */
  readonly version: string;
  readonly activeSession: ConnectionId | null;
  readonly busy: boolean;
  readonly setupHandoff: { readonly complete: boolean };
  readonly connections?: readonly ConnectionStatus[];
}

export interface ConnectionStatus {
  readonly id: ConnectionId;
  readonly label: string;
  readonly state: string;
  readonly resource: string;
  /** The runtime's own name for the conversation; null until it was heard. */
  readonly sessionId: string | null;
  readonly pendingRequests: readonly number[];
  /** Whether its history was shown and what goes on is being drawn: more than an open socket. */
  readonly viewReady: boolean;
  /** The last event that is known here. */
  readonly cursor: number;
}

export function statusOf(
  root: RootState,
  version: string,
  views: ReadonlySet<ConnectionId>,
  withDetail: boolean,
): FrontendStatus {
  const focus = selectFocus(root);
  const isAttached = focus !== undefined && root.connections[focus]?.phase.name === 'attached';
  return {
    version,
    activeSession: focus ?? null,
    busy: focus !== undefined && isTurnGoingOn(root, focus),
    setupHandoff: { complete: isAttached },
    ...(withDetail
      ? { connections: Object.keys(root.connections).map((id) => connectionStatus(root, id, views)) }
      : {}),
  };
}

function connectionStatus(root: RootState, id: ConnectionId, views: ReadonlySet<ConnectionId>): ConnectionStatus {
  return {
    id,
    label: selectConnectionName(root, id),
    state: root.connections[id]?.phase.name ?? 'closed',
    resource: conversationResource(id).toString(),
    sessionId: root.transcript[id]?.sessionId ?? null,
    pendingRequests: selectWaitingIds(root, id),
    viewReady: views.has(id) && root.connections[id]?.phase.name === 'attached',
    cursor: root.transcript[id]?.cursor ?? 0,
  };
}

import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT } from '../store/transcript.js';
import { requestView } from './newParts.js';
import type { RequestPart } from './parts.js';
import { requestPart } from './requestParts.js';
import { selectRequestKey, selectWaitingIds } from './requests.js';

/** A request that waits for a person here. */
export interface WaitingRequest {
  readonly connection: ConnectionId;
  readonly part: RequestPart;
  /** Why the last answer did not get through. */
  readonly problem: string | null;
}

/** What waits for a person, the oldest first. */
export function selectWaitingRequests(root: RootState, connection: ConnectionId): readonly WaitingRequest[] {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const view = requestView(root, connection, transcript);
  return selectWaitingIds(root, connection).flatMap((id) => {
    const known = root.requests[connection]?.[id];
    if (!known?.request || known.status.phase !== 'pending') return [];
    const part = requestPart(selectRequestKey(root, connection, id), known.request, transcript.epoch, view);
    return [{ connection, part, problem: known.status.problem }];
  });
}

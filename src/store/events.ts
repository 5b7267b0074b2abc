import type { UnknownAction } from '@reduxjs/toolkit';
import type { RuntimeEvent } from '../protocol/frontend-v2-events.js';
import type { ConnectionId } from './connections.js';

/** `RTK_autoBatch` lets subscribers hear of a chunk of events once, not of each (see `autoBatchEnhancer`). */
export interface EventMeta {
  readonly connection: ConnectionId;
  /** Epoch ms at which the chunk was read. */
  readonly at: number;
  readonly RTK_autoBatch: true;
}

export interface EventReceived extends UnknownAction {
  readonly type: 'runtime/eventReceived';
  readonly payload: RuntimeEvent;
  readonly meta: EventMeta;
}

/** One `meta` serves a whole chunk: on the streaming path each allocation counts. */
export function eventReceived(event: RuntimeEvent, meta: EventMeta): EventReceived {
  return { type: 'runtime/eventReceived', payload: event, meta };
}

export function eventMeta(connection: ConnectionId, at: number): EventMeta {
  return { connection, at, RTK_autoBatch: true };
}

export function isEventReceived(action: UnknownAction): action is EventReceived {
  return action.type === 'runtime/eventReceived';
}

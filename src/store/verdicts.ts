import { createAction } from '@reduxjs/toolkit';
import type { ConnectionId } from './connections.js';
import type { Outcome } from './transcript.js';
import type { TurnId } from './turn.js';

/**
 * A turn is over though no event of the runtime said so: its input was refused or never sent, or the runtime was found
 * idle. `message` is shown where the turn failed.
 */
export const turnEnded = createAction<{
  readonly connection: ConnectionId;
  readonly turnId: TurnId;
  readonly outcome: Outcome;
  readonly message: string;
}>('turn/ended');

/** We follow a turn no longer: the connection is gone for good. The runtime may well go on with it. */
export const turnLeft = createAction<{
  readonly connection: ConnectionId;
  readonly turnId: TurnId;
  readonly message: string;
}>('turn/left');

/** A named part of the sagas died of an error and is started anew. */
export const sagaCrashed = createAction<{ readonly name: string; readonly message: string }>('saga/crashed');

/** The runtime does not hold this request any more, so it can't be answered. */
export const requestGone = createAction<{ readonly connection: ConnectionId; readonly requestId: number }>(
  'requests/gone',
);

import type { Action } from '@reduxjs/toolkit';
import type { Saga, Task } from 'redux-saga';
import { cancel, fork, take } from 'typed-redux-saga';
import { forgotten, opened, type ConnectionId, type Origin } from '../store/connections.js';

/** Keeps one task for each connection that `isMeant`: a new handover of a known one replaces its task. */
export function* oneForEach(
  running: Map<ConnectionId, Task>,
  task: Saga<[ConnectionId]>,
  isMeant: (origin: Origin) => boolean = () => true,
) {
  while (true) {
    const action = yield* take(isComingOrGoing);
    const { connection } = action.payload;
    const before = running.get(connection);
    if (before) yield* cancel(before);
    running.delete(connection);
    if (opened.match(action) && isMeant(action.payload.origin)) running.set(connection, yield* fork(task, connection));
  }
}

function isComingOrGoing(action: Action): action is ReturnType<typeof opened | typeof forgotten> {
  return opened.match(action) || forgotten.match(action);
}

import type { Action } from '@reduxjs/toolkit';
import type { Task } from 'redux-saga';
import { call, fork, put, take } from 'typed-redux-saga';
import { isOver } from '../selectors/connections.js';
import { selectConversation } from '../selectors/host.js';
import { selectHasInput } from '../selectors/input.js';
import { attached, type ConnectionId, type Origin } from '../store/connections.js';
import { isEventReceived } from '../store/events.js';
import type { HostRequest } from '../store/hostState.js';
import { identitySaved, identityUnsaved, identityVoided } from '../store/identity.js';
import type { RootState } from '../store/state.js';
import { inputAccepted, NO_TURN } from '../store/turn.js';
import { turnEnded, turnLeft } from '../store/verdicts.js';
import { services, state } from './context.js';
import { readState } from './hostCalls.js';
import { perform } from './hostRequests.js';
import type { HostLink } from './hostLink.js';
import { oneForEach } from './oneForEach.js';

/** A try makes the host list sessions again, so events in quick succession are one reason to try; ms. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 15_000;

/** The tries for one attachment. */
interface Saving {
  readonly link: HostLink;
  readonly connection: ConnectionId;
  failures: number;
  notBefore: number;
}

/** Has each conversation of the host bound to the session of its harness, so that it is found again (host-controls §7). */
export function* saveIdentities(link: HostLink) {
  const running = new Map<ConnectionId, Task>();
  for (const [connection, { origin }] of Object.entries((yield* state()).connections)) {
    if (isOfHost(origin)) running.set(connection, yield* fork(saveIdentity, link, connection));
  }
  yield* call(oneForEach, running, (connection: ConnectionId) => saveIdentity(link, connection), isOfHost);
}

const isOfHost = (origin: Origin) => origin === 'host';

/** One attachment, one try at a time. The prompt itself is never touched, whatever becomes of the tries. */
function* saveIdentity(link: HostLink, connection: ConnectionId) {
  const { clock } = yield* services();
  const saving: Saving = { link, connection, failures: 0, notBefore: 0 };
  const endings = (root: RootState) => (root.turn[connection] ?? NO_TURN).ended;
  let seen = endings(yield* state());
  while (true) {
    const root = yield* state();
    // A turn may end while a try is under way.
    if (endings(root) !== seen) {
      seen = endings(root);
      yield* call(conclude, saving);
      continue;
    }
    yield* take(isReason(connection));
    const now = yield* state();
    if (endings(now) !== seen || isSaved(now, connection) || clock.monotonic() < saving.notBefore) continue;
    if (isDue(now, connection)) yield* call(trySaving, saving);
  }
}

/** Whether an action is a reason to look: the input was accepted, or the runtime said something more than text. */
const isReason = (connection: ConnectionId) => (action: Action) => {
  if (isEventReceived(action)) return action.meta.connection === connection;
  return [attached, inputAccepted, turnEnded, turnLeft].some(
    (reason) => reason.match(action) && action.payload.connection === connection,
  );
};

/** At the end of a turn nothing is taken on trust: the host may have lost what it acknowledged. */
function* conclude(saving: Saving) {
  const { link, connection } = saving;
  saving.failures = 0;
  saving.notBefore = 0;
  if (!isDue(yield* state(), connection)) return;
  if (isSaved(yield* state(), connection)) {
    const { ok } = yield* call(readState, link);
    const root = yield* state();
    if (ok && selectConversation(root, connection)?.identity === root.identity[connection]?.saved?.identity) return;
    yield* put(identityVoided({ connection }));
    if (!isDue(root, connection)) return;
  }
  const problem = yield* call(trySaving, saving);
  if (problem === undefined || selectConversation(yield* state(), connection)?.identity) return;
  yield* put(identityUnsaved({ connection, message: problem }));
}

/** Why it was not saved; undefined where it was. */
function* trySaving(saving: Saving) {
  const { link, connection } = saving;
  const { clock } = yield* services();
  const root = yield* state();
  const nativeId = nativeIdOf(root, connection);
  if (nativeId === undefined) return 'The conversation is not attached.';
  const request: HostRequest = { kind: 'remember', id: connection, nativeId };
  const outcome = yield* call(perform, link, request);
  const row = outcome.ok ? outcome.answer.snapshot?.sessions.find(({ id }) => id === connection) : undefined;
  if (row?.identity) {
    saving.failures = 0;
    yield* put(identitySaved({ connection, nativeId, identity: row.identity }));
    return undefined;
  }
  saving.notBefore = clock.monotonic() + Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** saving.failures++);
  return outcome.ok ? 'The host bound nothing.' : outcome.message;
}

/** Whether the conversation is the host's active one, attached, and had a prompt. */
function isDue(root: RootState, connection: ConnectionId): boolean {
  const { snapshot } = root.host;
  const phase = root.connections[connection]?.phase;
  const isActive = snapshot?.activeSession === connection && snapshot.connection !== null;
  return isActive && phase !== undefined && !isOver(phase) && selectHasInput(root, connection);
}

/** All still match: the attachment (a new one starts with nothing), the session, and what it was bound to. */
function isSaved(root: RootState, connection: ConnectionId): boolean {
  const saved = root.identity[connection]?.saved;
  return (
    !!saved &&
    saved.nativeId === nativeIdOf(root, connection) &&
    saved.identity === selectConversation(root, connection)?.identity
  );
}

/** Of what the runtime serves now, not of what an earlier one did. */
function nativeIdOf(root: RootState, connection: ConnectionId): string | undefined {
  return root.transcript[connection]?.sessionId ?? undefined;
}

import * as vscode from 'vscode';
import { isOver, isSettled, whyOver } from '../selectors/connections.js';
import { selectRefusals } from '../selectors/requests.js';
import type { ConnectionId } from '../store/connections.js';
import { connectionAwaited, connectionFocused } from '../store/focus.js';
import { answerRequested } from '../store/requests.js';
import type { Front } from './front.js';
import { revealConversation } from './reveal.js';
import { requestStop } from './requestStop.js';
import { connectionIn } from './sessionResource.js';
import { statusOf, type FrontendStatus } from './status.js';
import { untilState } from '../sagas/untilState.js';

// What a host that bundles the extension, or a program outside, may ask of it. Source: host-controls §12, §14.

export function status({ app, context, views }: Front, withDetail: unknown): FrontendStatus {
  const { version } = context.extension.packageJSON as { readonly version?: unknown };
  return statusOf(app.getState(), typeof version === 'string' ? version : 'unknown', views, withDetail === true);
}

export async function openSession(front: Front, connection: unknown): Promise<void> {
  await revealConversation(front, known(front, connection));
}

/** Answers what the agent waits for, then interrupts, whoever began the turn. */
export function stopTurn(front: Front, connection: unknown): void {
  const { app } = front;
  const id = known(front, connection);
  if (requestStop(front, id)) return;
  // Stop answers what waits by itself; where nothing runs, nothing else would.
  for (const answer of selectRefusals(app.getState(), id)) {
    app.dispatch(answerRequested({ connection: id, by: 'stop', ...answer }));
  }
}

/**
 * Settles once the conversation of a resource is the one that is meant, or another one was chosen meanwhile. It shows
 * nothing: a host waits for it before it changes the view, and would wait for ever for a view that it is to change.
 */
export async function activateSession(front: Front, resource: unknown): Promise<void> {
  const connection = known(front, connectionIn(parsed(resource)));
  const { app } = front;
  const phaseNow = () => app.getState().connections[connection]?.phase;
  const choose = phaseNow()?.name === 'attached' ? connectionFocused : connectionAwaited;
  app.dispatch(choose({ connection }));
  await untilState(app, () => isSettled(phaseNow()));
  const phase = phaseNow();
  if (phase === undefined) throw new Error('This conversation was disconnected.');
  if (isOver(phase)) throw new Error(whyOver(phase));
}

/** Keeps account of what a person looks at; nothing else follows from it. */
export function focusSession({ app }: Front, resource: unknown): void {
  const connection = connectionIn(parsed(resource));
  if (connection !== undefined && app.getState().connections[connection])
    app.dispatch(connectionFocused({ connection }));
}

function known({ app }: Front, connection: unknown): ConnectionId {
  if (typeof connection === 'string' && app.getState().connections[connection]) return connection;
  throw new Error(`There is no connection ${JSON.stringify(connection)}.`);
}

function parsed(resource: unknown): vscode.Uri | undefined {
  return typeof resource === 'string' ? vscode.Uri.parse(resource) : undefined;
}

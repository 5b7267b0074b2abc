import * as vscode from 'vscode';
import type { App } from '../sagas/app.js';
import { isOver, isSettled, whyOver } from '../selectors/connections.js';
import { HISTORY_MARKER, selectHistoryTurns, type HistoryTurn } from '../selectors/historyTurns.js';
import { selectConversationLabel } from '../selectors/conversations.js';
import { escapeMarkdown } from '../selectors/markdown.js';
import { selectOpenTurn, type OpenTurn } from '../selectors/openTurn.js';
import { selectTurn } from '../selectors/turn.js';
import type { ConnectionId } from '../store/connections.js';
import { connectionFocused } from '../store/focus.js';
import type { RootState } from '../store/state.js';
import type { Turn } from '../store/turn.js';
import { conversationDrawer } from './conversationDrawer.js';
import type { Front } from './front.js';
import { PartCollector } from './partCollector.js';
import { proposed, type SessionContent } from './proposed.js';
import { Reply } from './reply.js';
import { requestStop } from './requestStop.js';
import { connectionIn, SESSION_TYPE } from './sessionResource.js';
import { untilState } from '../sagas/untilState.js';

/** A conversation that can't be attached to by then is shown as far as it is known; ms. */
const PATIENCE_MS = 15_000;
/** After a reload another extension may hand its runtime over a moment later; ms. */
const UNKNOWN_PATIENCE_MS = 5_000;
const NOT_CONNECTED =
  'This conversation is not connected. Connect to its runtime, then close this tab and open it again.';

/**
 * What a session of ours shows when it is opened: its whole history, and what still goes on as it goes on. A new
 * session, which is bound to no conversation yet, shows nothing, and has nothing to stop.
 */
export async function sessionContent(
  front: Front,
  resource: vscode.Uri,
  requestHandler: vscode.ChatRequestHandler,
): Promise<SessionContent> {
  const { app } = front;
  const connection = connectionIn(resource);
  if (connection === undefined) return { history: [], requestHandler };
  // At once: by the time that it is attached a person may have gone on to another one.
  if (app.getState().connections[connection]) app.dispatch(connectionFocused({ connection }));
  await Promise.all([attachedOrOver(front, connection), front.cards.look()]);
  const root = app.getState();
  const phase = root.connections[connection]?.phase;
  if (phase === undefined) return { title: 'Not connected', history: aside(NOT_CONNECTED), requestHandler };
  front.views.add(connection);
  const open = selectOpenTurn(root, connection);
  // By the time that it is drawn it may be over, and another turn run.
  const turn = selectTurn(root, connection);
  const turns = selectHistoryTurns(root, connection, open?.cursor);
  const history = turns.flatMap((turn, at) => turnsOf(front, connection, turn, at));
  const title = selectConversationLabel(root, connection);
  if (isOver(phase)) return { title, history: [...history, ...aside(whyOver(phase))], requestHandler };
  if (!open) return { title, history, requestHandler };
  return {
    title,
    history: [...history, requestTurn(open.prompt, 'open')],
    activeResponseCallback: (stream, token) => drawOpenTurn(front, connection, { ...open, turn }, stream, token),
    requestHandler,
  };
}

async function attachedOrOver({ app }: Front, connection: ConnectionId): Promise<void> {
  const phaseIn = ({ connections }: RootState) => connections[connection]?.phase;
  await patiently(app, UNKNOWN_PATIENCE_MS, (root) => phaseIn(root) !== undefined);
  await patiently(app, PATIENCE_MS, (root) => isSettled(phaseIn(root)));
}

async function patiently(app: App, ms: number, wanted: (root: RootState) => boolean): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
  }, ms);
  await untilState(app, wanted, late.signal);
  clearTimeout(timer);
}

/** Something that is no part of the conversation, with a way on. */
function aside(text: string): readonly (vscode.ChatRequestTurn | vscode.ChatResponseTurn)[] {
  const parts = [
    new vscode.ChatResponseMarkdownPart(new vscode.MarkdownString(escapeMarkdown(text))),
    new vscode.ChatResponseCommandButtonPart({ command: 'supercode.frontend.showStatus', title: 'Show Status…' }),
  ];
  return [requestTurn(null, 'aside'), new proposed.ChatResponseTurn2(parts, {}, SESSION_TYPE)];
}

function turnsOf(front: Front, connection: ConnectionId, turn: HistoryTurn, at: number) {
  const collector = new PartCollector();
  const drawer = conversationDrawer({ front, connection, stream: collector.stream, inSession: true });
  for (const part of turn.parts) drawer.draw(part);
  drawer.end();
  const response = new proposed.ChatResponseTurn2(collector.all(), { metadata: { connection } }, SESSION_TYPE);
  return [requestTurn(turn.prompt, `turn-${at}`), response];
}

/** A response needs a request in front of it: the marker names itself, so that nothing passes for a person's words. */
function requestTurn(prompt: string | null, id: string): vscode.ChatRequestTurn {
  const text = prompt ?? HISTORY_MARKER;
  return new proposed.ChatRequestTurn2(text, undefined, [], SESSION_TYPE, [], undefined, id, undefined, undefined);
}

/** Draws what goes on until it is over; Stop means the turn itself, and its end is waited for. */
async function drawOpenTurn(
  front: Front,
  connection: ConnectionId,
  { cursor, turn }: OpenTurn & { readonly turn: Turn },
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<void> {
  const { app } = front;
  const reply = new Reply({ front, connection, stream, token, inSession: true });
  const stopped = token.onCancellationRequested(() => {
    const current = selectTurn(app.getState(), connection);
    // By then another turn may run, which is not the one that is shown.
    const isShown = turn.phase !== 'idle' && current.phase !== 'idle' && current.turnId === turn.turnId;
    if (isShown) requestStop(front, connection);
  });
  try {
    if (turn.phase === 'idle')
      await reply.followUntil(cursor, (root) => selectOpenTurn(root, connection) === undefined);
    else await reply.follow({ turnId: turn.turnId, cursor, shouldYield: () => false });
    const phase = app.getState().connections[connection]?.phase;
    if (isOver(phase)) reply.remark(whyOver(phase));
  } finally {
    stopped.dispose();
    reply.end();
  }
}

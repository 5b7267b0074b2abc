import * as vscode from 'vscode';
import type { JsonObject, RequestAnswer } from '../protocol/requests.js';
import { fieldsOf, type Field } from '../selectors/elicitation.js';
import type { AnswerChoice, RequestPart } from '../selectors/parts.js';
import { selectWaitingRequests, type WaitingRequest } from '../selectors/waitingRequests.js';
import { sha256Hex } from '../services/node/hash.js';
import { canonicalJson } from '../store/canonical.js';
import type { ConnectionId } from '../store/connections.js';
import { answerRequested } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import { askForm } from './form.js';
import type { Front } from './front.js';
import { narrate } from './narrate.js';
import { shownText } from './shownText.js';
import { untilState } from '../sagas/untilState.js';

export const RESPOND = 'supercode.frontend.respond';

/**
 * What a button carries (host-controls §13: a host draws the buttons of one request as one row by the first two).
 * Buttons outlive turns, windows and runtimes, so it says all that it was drawn for.
 */
interface ButtonArgument {
  readonly connectionId: ConnectionId;
  readonly requestId: number;
  readonly label: string;
  readonly response: RequestAnswer;
  // A host's own may lack what follows.
  /** Which process of the runtime asked, as this window counts them: each numbers its requests from 1. */
  readonly epoch?: number;
  /** Of what the request shows: another window counts otherwise. */
  readonly shown?: string;
}

/** One button per answer that is offered. */
export function answerButtons({ app }: Front, connection: ConnectionId, part: RequestPart): readonly vscode.Command[] {
  const epoch = epochOf(app.getState(), connection);
  return part.answers.map(({ label, response }) => {
    const argument: ButtonArgument = {
      connectionId: connection,
      requestId: part.requestId,
      label,
      response,
      epoch,
      shown: shownIn(part),
    };
    return { command: RESPOND, title: shownText(label), arguments: [argument] };
  });
}

/**
 * What became of an answer. `responded`: it got through; `resolved`: the request waits no longer; `failed`: it may be given
 * again; `cancelled`: the person left its form; `unavailable`: it is no answer. Source: host-controls §13.
 */
export type AnswerStatus = 'responded' | 'resolved' | 'failed' | 'cancelled' | 'unavailable';

/** Answers the request that a button stands under, if that still waits for exactly this; else it changes nothing. */
export async function respond(front: Front, argument: unknown): Promise<AnswerStatus> {
  const button = buttonArgument(argument);
  if (!button) {
    front.log.warn('An answer was given that no button of this extension gives; it was ignored.');
    return 'unavailable';
  }
  const { connectionId, requestId, label, response, epoch, shown } = button;
  const root = front.app.getState();
  const isMeant = (part: RequestPart) =>
    part.requestId === requestId &&
    (epoch === undefined || epochOf(root, connectionId) === epoch) &&
    (shown === undefined || shownIn(part) === shown);
  const waiting = selectWaitingRequests(root, connectionId).find(({ part }) => isMeant(part));
  // Only what is offered here and now is ever sent.
  const choice = waiting?.part.answers.find(
    (each) => each.label === label && canonicalJson(each.response) === canonicalJson(response),
  );
  if (!waiting || !choice) {
    narrate(RESOLVED);
    return 'resolved';
  }
  return answer(front, waiting, choice);
}

/** Answers with a choice; a form asks for its values first. Leaving the form changes nothing. */
export async function answer(front: Front, request: WaitingRequest, choice: AnswerChoice): Promise<AnswerStatus> {
  const { app, log } = front;
  const { connection, part } = request;
  // A list or a notification may have stood for long.
  if (!stillWaits(app.getState(), request)) {
    narrate(RESOLVED);
    return 'resolved';
  }
  let { response } = choice;
  const fields = part.schema ? fieldsOf(part.schema) : [];
  if (response.kind === 'elicitation' && response.action === 'accept' && response.content === null) {
    const content = fields.length === 0 ? null : await askWhileWaiting(front, request, fields);
    if (content === undefined) return stillWaits(app.getState(), request) ? 'cancelled' : 'resolved';
    response = { ...response, content };
  }
  const { requestId } = part;
  app.dispatch(answerRequested({ connection, answer: response, label: choice.label, by: 'person' }));
  const told = shownText(`${choice.label}: ${part.title}`);
  narrate(`$(sync~spin) ${told}`);
  await untilState(app, (root) => root.requests[connection]?.[requestId]?.status.phase !== 'answering');
  const status = app.getState().requests[connection]?.[requestId]?.status;
  if (status?.phase === 'answered' && status.by === 'person') {
    narrate(`$(check) ${told}`);
    return 'responded';
  }
  if (status?.phase === 'pending' && status.problem !== null) {
    log.warn(`The answer "${choice.label}" did not get through: ${status.problem}`);
    const problem = shownText(status.problem);
    void vscode.window.showErrorMessage(`The answer did not get through; it can be given again. ${problem}`);
    return 'failed';
  }
  narrate(RESOLVED);
  return 'resolved';
}

/** Whether this very request waits, and not another one of its number. */
function stillWaits(root: RootState, { connection, part }: WaitingRequest): boolean {
  return selectWaitingRequests(root, connection).some(({ part: { id } }) => id === part.id);
}

/** The form of a request, open for as long as that waits; undefined where it was left, or where somebody else answered. */
async function askWhileWaiting(
  { app }: Front,
  request: WaitingRequest,
  fields: readonly Field[],
): Promise<JsonObject | undefined> {
  const gone = new vscode.CancellationTokenSource();
  let seen = app.getState().requests;
  const leave = app.subscribe(() => {
    const root = app.getState();
    if (root.requests === seen) return;
    seen = root.requests;
    if (!stillWaits(root, request)) gone.cancel();
  });
  try {
    const content = await askForm(fields, request.part.title, gone.token);
    if (content === undefined && gone.token.isCancellationRequested) narrate(RESOLVED);
    return content;
  } finally {
    leave();
    gone.dispose();
  }
}

/** Answers the oldest request that waits with the first of `labels` that it offers. */
export async function answerOldest(front: Front, connection: ConnectionId, labels: readonly string[]): Promise<void> {
  const [waiting] = selectWaitingRequests(front.app.getState(), connection);
  const choice = labels.map((wanted) => waiting?.part.answers.find(({ label }) => label === wanted)).find(Boolean);
  if (waiting && choice) await answer(front, waiting, choice);
  else narrate(waiting ? 'Volter Harness: this request has no such answer.' : 'Volter Harness: nothing waits.');
}

/** Lets a person choose among all that waits, and then among its answers. */
export async function answerAny(front: Front, connections: readonly ConnectionId[]): Promise<void> {
  const root = front.app.getState();
  const waiting = connections.flatMap((connection) => selectWaitingRequests(root, connection));
  if (waiting.length === 0) {
    narrate('Volter Harness: nothing waits.');
    return;
  }
  const items = waiting.flatMap((request) =>
    request.part.answers.map((choice) => ({
      label: shownText(choice.label),
      description: shownText(request.part.title),
      request,
      choice,
    })),
  );
  const picked = await vscode.window.showQuickPick(items, {
    title: 'What waits for an answer',
    matchOnDescription: true,
  });
  if (picked) await answer(front, picked.request, picked.choice);
}

const RESOLVED = 'Volter Harness: already resolved.';

function epochOf(root: RootState, connection: ConnectionId): number {
  return root.transcript[connection]?.epoch ?? 0;
}

function shownIn({ title, preview = '' }: RequestPart): string {
  return sha256Hex(`${title}\n${preview}`).slice(0, 16);
}

function buttonArgument(value: unknown): ButtonArgument | undefined {
  const argument = value as Partial<ButtonArgument> | null | undefined;
  return typeof argument?.connectionId === 'string' &&
    typeof argument.requestId === 'number' &&
    typeof argument.label === 'string' &&
    typeof argument.response === 'object' &&
    (argument.epoch === undefined || typeof argument.epoch === 'number') &&
    (argument.shown === undefined || typeof argument.shown === 'string')
    ? (argument as ButtonArgument)
    : undefined;
}

import * as vscode from 'vscode';
import type { JsonObject } from '../protocol/requests.js';
import { fieldsOf, type Field } from '../selectors/elicitation.js';
import type { AnswerChoice, RequestPart } from '../selectors/parts.js';
import { selectWaitingRequests, type WaitingRequest } from '../selectors/waitingRequests.js';
import { sha256Hex } from '../services/node/hash.js';
import type { ConnectionId } from '../store/connections.js';
import { answerRequested } from '../store/requests.js';
import { askForm } from './form.js';
import type { Front } from './front.js';
import { shownText } from './shownText.js';
import { untilState } from './untilState.js';

export const RESPOND = 'supercode.frontend.respond';

/** What a button of ours carries. Buttons outlive turns, windows and runtimes, so it says all that it was drawn for. */
interface ButtonArgument {
  readonly connection: ConnectionId;
  readonly requestId: number;
  /** Of what the request shows: another process of the runtime numbers other requests alike. */
  readonly shown: string;
  readonly label: string;
}

/** One button per answer that is offered. */
export function answerButtons(connection: ConnectionId, part: RequestPart): readonly vscode.Command[] {
  return part.answers.map(({ label }) => {
    const argument: ButtonArgument = { connection, requestId: part.requestId, shown: shownIn(part), label };
    return { command: RESPOND, title: label, arguments: [argument] };
  });
}

/** Answers the request that a button stands under, if that still waits for exactly this; else it changes nothing. */
export async function respond(front: Front, argument: unknown): Promise<void> {
  const button = buttonArgument(argument);
  if (!button) {
    front.log.warn('An answer was given that no button of this extension gives; it was ignored.');
    return;
  }
  const waiting = selectWaitingRequests(front.app.getState(), button.connection).find(
    ({ part }) => part.requestId === button.requestId && shownIn(part) === button.shown,
  );
  const choice = waiting?.part.answers.find(({ label }) => label === button.label);
  if (!waiting || !choice) {
    narrate(`Volter Harness: already resolved.`);
    return;
  }
  await answer(front, waiting, choice);
}

/** Answers with a choice; a form asks for its values first. Leaving the form changes nothing. */
export async function answer(
  front: Front,
  { connection, part }: Pick<WaitingRequest, 'connection' | 'part'>,
  choice: AnswerChoice,
): Promise<void> {
  const { app, log } = front;
  let { response } = choice;
  const fields = part.schema ? fieldsOf(part.schema) : [];
  if (response.kind === 'elicitation' && response.action === 'accept' && response.content === null) {
    const content = fields.length === 0 ? null : await askWhileWaiting(front, { connection, part }, fields);
    if (content === undefined) return;
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
  } else if (status?.phase === 'pending' && status.problem !== null) {
    log.warn(`The answer "${choice.label}" did not get through: ${status.problem}`);
    const problem = shownText(status.problem);
    void vscode.window.showErrorMessage(`The answer did not get through; it can be given again. ${problem}`);
  } else {
    narrate('Volter Harness: already resolved.');
  }
}

/** The form of a request, open for as long as that waits; undefined where it was left, or where somebody else answered. */
async function askWhileWaiting(
  { app }: Front,
  { connection, part }: Pick<WaitingRequest, 'connection' | 'part'>,
  fields: readonly Field[],
): Promise<JsonObject | undefined> {
  const gone = new vscode.CancellationTokenSource();
  const leave = app.subscribe(() => {
    if (app.getState().requests[connection]?.[part.requestId]?.status.phase !== 'pending') gone.cancel();
  });
  try {
    const content = await askForm(fields, part.title, gone.token);
    if (content === undefined && gone.token.isCancellationRequested) narrate('Volter Harness: already resolved.');
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

const NARRATED_MS = 5_000;

/** An action whose success nobody sees is one that nobody trusts. */
export function narrate(text: string): void {
  vscode.window.setStatusBarMessage(text, NARRATED_MS);
}

function shownIn({ title, preview = '' }: RequestPart): string {
  return sha256Hex(`${title}\n${preview}`).slice(0, 16);
}

function buttonArgument(value: unknown): ButtonArgument | undefined {
  const argument = value as Partial<ButtonArgument> | null | undefined;
  return typeof argument?.connection === 'string' &&
    typeof argument.requestId === 'number' &&
    typeof argument.shown === 'string' &&
    typeof argument.label === 'string'
    ? (argument as ButtonArgument)
    : undefined;
}

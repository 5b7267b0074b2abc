import { fieldsOf } from '../selectors/elicitation.js';
import { contentOf } from '../selectors/elicitationContent.js';
import type { AnswerChoice } from '../selectors/parts.js';
import { selectWaitingRequests, type WaitingRequest } from '../selectors/waitingRequests.js';
import { isTurnGoingOn } from '../selectors/turn.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';

export interface TypedAnswer {
  readonly request: WaitingRequest;
  readonly choice: AnswerChoice;
}

/**
 * What a prompt answers, where nothing runs and a request waits all the same: the words of one of its buttons, or the
 * one value that a form asks for. While a turn runs no typed text answers anything: it may be meant for something else.
 */
export function typedAnswer(root: RootState, connection: ConnectionId, prompt: string): TypedAnswer | undefined {
  if (isTurnGoingOn(root, connection)) return undefined;
  const [request] = selectWaitingRequests(root, connection);
  if (!request) return undefined;
  const said = words(prompt);
  const { answers, schema = null } = request.part;
  const named = answers.find(({ label }) => words(label) === said);
  const fields = fieldsOf(schema);
  if (named && (fields.length === 0 || words(named.label) !== 'answer')) return { request, choice: named };
  const [field] = fields;
  const accept = answers.find(({ response }) => response.kind === 'elicitation' && response.action === 'accept');
  if (fields.length !== 1 || !field || !accept || accept.response.kind === 'approval') return undefined;
  const filled = contentOf(fields, { [field.name]: prompt.trim() });
  return 'content' in filled
    ? { request, choice: { label: 'Answer', response: { ...accept.response, content: filled.content } } }
    : undefined;
}

function words(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[….!]+$/, '');
}

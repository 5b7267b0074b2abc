import type { RequestBody } from '../protocol/requests.js';
import { PART_LIMIT } from './bounds.js';
import { asksSomething, distinctLabel } from './schema.js';
import type { AnswerChoice } from './parts.js';

const CHOICES_LIMIT = 32;
const DECISIONS = ['allow', 'allow_for_session', 'deny'];

/** Exactly what may be answered, in the runtime's order, each label once. Source: frontend.v2 §8.3. */
export function answersOf(id: number, body: RequestBody): readonly AnswerChoice[] {
  if (body.kind === 'approval') return decisionsOf(id, body.decisions ?? DECISIONS);
  const { kind } = body;
  const answer = (label: string, action: 'accept' | 'decline' | 'cancel'): AnswerChoice => ({
    label,
    response: { kind, request_id: id, action, content: null },
  });
  const asks = kind === 'elicitation' && body.schema !== null && asksSomething(body.schema);
  return [answer(asks ? 'Answer…' : 'Accept', 'accept'), answer('Decline', 'decline'), answer('Cancel', 'cancel')];
}

function decisionsOf(id: number, decisions: readonly string[]): readonly AnswerChoice[] {
  const offered = [...new Set(decisions)];
  const choices = offered.slice(0, CHOICES_LIMIT);
  // Whatever else there is no room for, a person can say no.
  if (offered.includes('deny') && !choices.includes('deny')) choices.splice(-1, 1, 'deny');
  const taken = new Set<string>();
  return choices.map((decision) => ({
    label: distinctLabel(humanised(decision), taken),
    response: { kind: 'approval', request_id: id, decision },
  }));
}

/** `allow_for_session` → `Allow for session`, `acceptEdits` → `Accept edits`. */
function humanised(decision: string): string {
  const words = decision
    .slice(0, PART_LIMIT)
    .replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
    .replace(/[_\s]+/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

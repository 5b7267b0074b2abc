import type { RequestAnswer, RuntimeRequest } from '../protocol/requests.js';
import type { Policy } from '../store/permissions.js';
import type { ConnectionId } from '../store/connections.js';
import { unresolvedIds } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import { answersOf } from './answers.js';
import type { AnswerChoice } from './parts.js';

export interface GivenAnswer {
  readonly answer: RequestAnswer;
  readonly label: string;
}

/** How Stop answers what waits: deny an approval, cancel anything else. Undefined where no such answer is offered. */
export function refusalAnswer(request: RuntimeRequest): GivenAnswer | undefined {
  return pick(request, (response) =>
    response.kind === 'approval' ? response.decision === 'deny' : response.action === 'cancel',
  );
}

/** How Stop answers all that waits in a conversation. */
export function selectRefusals(root: RootState, connection: ConnectionId): readonly GivenAnswer[] {
  const requests = root.requests[connection] ?? {};
  return unresolvedIds(requests).flatMap((id) => {
    const known = requests[id];
    return known?.status.phase === 'pending' && known.request ? (refusalAnswer(known.request) ?? []) : [];
  });
}

/** How a policy answers; undefined where it leaves the request to a person. */
export function policyAnswer(request: RuntimeRequest, policy: Exclude<Policy, 'ask'>): GivenAnswer | undefined {
  if (policy === 'autoApprove' && request.body.kind !== 'approval') return undefined;
  const wanted = DECISIONS[policy];
  for (const decision of wanted) {
    const given = pick(request, (response) =>
      response.kind === 'approval' ? response.decision === decision : response.action === 'decline',
    );
    if (given) return given;
  }
  return undefined;
}

/** What each policy asks for, best first. */
const DECISIONS: Readonly<Record<Exclude<Policy, 'ask'>, readonly string[]>> = {
  autoApprove: ['allow'],
  allow: ['allow'],
  session: ['allow_for_session', 'allow'],
  deny: ['deny'],
};

function pick({ id, body }: RuntimeRequest, wanted: (response: RequestAnswer) => boolean): GivenAnswer | undefined {
  const choice: AnswerChoice | undefined = answersOf(id, body).find(({ response }) => wanted(response));
  return choice && { answer: choice.response, label: choice.label };
}

/** Names a request for as long as a program runs: each process of a runtime numbers its requests from 1. */
export function selectRequestKey(root: RootState, connection: ConnectionId, requestId: number): string {
  return `${root.transcript[connection]?.epoch ?? 0}.${requestId}`;
}

/** The ids of what waits for a person, the oldest first: not what a policy answers, nor what may not be answered here. */
export function selectWaitingIds(root: RootState, connection: ConnectionId): readonly number[] {
  const requests = root.requests[connection];
  if (requests === undefined || root.connections[connection]?.descriptor?.actions.respond === false) return [];
  const policy = root.permissions[connection] ?? 'ask';
  return unresolvedIds(requests).filter((id) => {
    const known = requests[id];
    if (!known?.request || known.status.phase !== 'pending') return false;
    if (answersOf(id, known.request.body).length === 0) return false;
    return policy === 'ask' || known.status.problem !== null || policyAnswer(known.request, policy) === undefined;
  });
}

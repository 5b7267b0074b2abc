import type { RequestAnswer, RuntimeRequest } from '../protocol/requests.js';
import type { Policy } from '../store/permissions.js';
import type { ConnectionId } from '../store/connections.js';
import { unresolvedIds } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT } from '../store/transcript.js';
import { requestView } from './newParts.js';
import type { AnswerChoice, RequestPart } from './parts.js';
import { requestPart } from './requestParts.js';
import { answersOf } from './requestPreview.js';

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

/** How a policy answers; undefined where it leaves the request to a person. */
export function policyAnswer(request: RuntimeRequest, policy: Exclude<Policy, 'ask'>): GivenAnswer | undefined {
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
  allow: ['allow'],
  session: ['allow_for_session', 'allow'],
  deny: ['deny'],
};

function pick({ id, body }: RuntimeRequest, wanted: (response: RequestAnswer) => boolean): GivenAnswer | undefined {
  const choice: AnswerChoice | undefined = answersOf(id, body).find(({ response }) => wanted(response));
  return choice && { answer: choice.response, label: choice.label };
}

/** A request that waits for a person here. */
export interface WaitingRequest {
  readonly connection: ConnectionId;
  /** Tells the processes of one runtime apart: each numbers its requests from 1. */
  readonly epoch: number;
  readonly part: RequestPart;
  /** Why the last answer did not get through. */
  readonly problem: string | null;
}

/** What waits for a person, the oldest first: not what a policy answers, nor what may not be answered from here. */
export function selectWaitingRequests(root: RootState, connection: ConnectionId): readonly WaitingRequest[] {
  const requests = root.requests[connection];
  if (requests === undefined) return [];
  const policy = root.permissions[connection] ?? 'ask';
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  return unresolvedIds(requests).flatMap((id) => {
    const known = requests[id];
    if (!known?.request || known.status.phase !== 'pending') return [];
    const { problem } = known.status;
    if (policy !== 'ask' && problem === null && policyAnswer(known.request, policy)) return [];
    const { epoch } = transcript;
    const part = requestPart(`${epoch}.${id}`, known.request, epoch, requestView(root, connection, transcript));
    return part.answers.length === 0 ? [] : [{ connection, epoch, part, problem }];
  });
}

import type { RequestAnswer, RuntimeRequest } from '../protocol/requests.js';
import type { Policy } from '../store/permissions.js';
import type { AnswerChoice } from './parts.js';
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

import { describe, expect, it } from 'vitest';
import type { RequestBody, RuntimeRequest } from '../../src/protocol/requests.js';
import { policyAnswer, refusalAnswer } from '../../src/selectors/requests.js';

const approval = (decisions: readonly string[] | null = null): RuntimeRequest => ({
  id: 7,
  body: { kind: 'approval', tool: 'bash', subject: 'ls', args: null, decisions, childAgent: null },
});
const asks = (body: RequestBody): RuntimeRequest => ({ id: 7, body });
const question = asks({ kind: 'elicitation', message: 'Which?', schema: { properties: { q1: { type: 'string' } } } });
const other = asks({ kind: 'other', preview: '{}' });

describe('Stop answers what waits', () => {
  it.each([
    ['an approval', approval(), { label: 'Deny', answer: { kind: 'approval', request_id: 7, decision: 'deny' } }],
    [
      'a question',
      question,
      { label: 'Cancel', answer: { kind: 'elicitation', request_id: 7, action: 'cancel', content: null } },
    ],
    [
      'anything else',
      other,
      { label: 'Cancel', answer: { kind: 'other', request_id: 7, action: 'cancel', content: null } },
    ],
  ])('%s with a no', (_, request, given) => {
    expect(refusalAnswer(request)).toEqual(given);
  });

  it('with nothing where no is not offered', () => {
    expect(refusalAnswer(approval(['allow']))).toBeUndefined();
    expect(refusalAnswer(approval([]))).toBeUndefined();
  });
});

describe('a policy answers', () => {
  it.each([
    ['allow', null, 'allow', 'Allow'],
    ['allow', ['allow', 'deny'], 'allow', 'Allow'],
    ['session', null, 'allow_for_session', 'Allow for session'],
    ['session', ['allow', 'deny'], 'allow', 'Allow'],
    ['deny', null, 'deny', 'Deny'],
    ['deny', ['allow', 'deny'], 'deny', 'Deny'],
  ] as const)('as %s of the offered %j with %s', (policy, decisions, decision, label) => {
    expect(policyAnswer(approval(decisions), policy)).toEqual({
      label,
      answer: { kind: 'approval', request_id: 7, decision },
    });
  });

  it.each([
    ['allow', ['deny']],
    ['allow', ['allow_for_session', 'deny']],
    ['session', ['deny', 'ask_again']],
    ['deny', ['allow']],
    ['allow', []],
  ] as const)('as %s nothing where only %j is offered: that is for a person', (policy, decisions) => {
    expect(policyAnswer(approval(decisions), policy)).toBeUndefined();
  });

  it.each(['allow', 'session', 'deny'] as const)(
    'as %s a question by declining it: no policy knows an answer',
    (policy) => {
      const declined = (kind: string) => ({
        label: 'Decline',
        answer: { kind, request_id: 7, action: 'decline', content: null },
      });
      expect(policyAnswer(question, policy)).toEqual(declined('elicitation'));
      expect(policyAnswer(other, policy)).toEqual(declined('other'));
    },
  );
});

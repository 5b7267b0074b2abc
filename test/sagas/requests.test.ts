import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RequestPart } from '../../src/selectors/parts.js';
import { policyChosen, type Policy } from '../../src/store/permissions.js';
import { answerRequested } from '../../src/store/requests.js';
import { approval, DESCRIPTOR, event, resolved, RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function windowWithTurn(runtime = new RuntimeDouble()): Promise<Window> {
  const window = await new Window(runtime).attach();
  window.submit();
  runtime.stream.send(...turnStart(1));
  await settle();
  return window;
}

function answer(window: Window, requestId: number, decision = 'allow'): void {
  const given = { kind: 'approval', request_id: requestId, decision } as const;
  window.app.dispatch(answerRequested({ connection: 'c', answer: given, label: decision, by: 'person' }));
}

function choose(window: Window, policy: Policy): void {
  window.app.dispatch(policyChosen({ connection: 'c', policy }));
}

const requestsOf = (window: Window) => window.parts.filter((part): part is RequestPart => part.kind === 'request');
const answersTo = (window: Window) => window.runtime.calls.filter((call) => call.startsWith('respond'));

describe('a request', () => {
  it('is offered, answered once and seen to be answered', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    await settle();
    expect(requestsOf(window)[0]?.answers.map(({ label }) => label)).toEqual(['Allow', 'Allow for session', 'Deny']);
    const arrive = window.runtime.hold('respond');
    answer(window, 7);
    await settle();
    expect(window.request(7)?.phase).toBe('answering');
    arrive();
    window.runtime.stream.send(resolved(4, 7));
    await settle();
    expect(window.request(7)).toMatchObject({ phase: 'answered', by: 'person', label: 'allow' });
    expect(window.said).toEqual(['Allowed.']);
  });

  it('[fault 31] that comes in the same moment as another is answered by itself', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7), approval(4, 8));
    await settle();
    answer(window, 8, 'deny');
    answer(window, 7, 'allow');
    await settle();
    expect(answersTo(window)).toEqual(['respond 8 deny', 'respond 7 allow']);
  });

  it('[fault 31] is one of four that belong to the same call: each is drawn and each is answered', async () => {
    const window = await windowWithTurn();
    const started = event(3, 'tool_call_started', { id: 'call', name: 'bash', arguments: '{}' });
    window.runtime.stream.send(started, approval(4, 1), approval(5, 2), approval(6, 3), approval(7, 4));
    await settle();
    expect(requestsOf(window).map(({ requestId }) => requestId)).toEqual([1, 2, 3, 4]);
    for (const id of [1, 2, 3, 4]) answer(window, id);
    await settle();
    expect(answersTo(window)).toHaveLength(4);
  });

  it('[fault 32] that is answered twice at once is answered once', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    await settle();
    answer(window, 7, 'allow');
    answer(window, 7, 'deny');
    await settle();
    answer(window, 7, 'deny');
    await settle();
    expect(answersTo(window)).toEqual(['respond 7 allow']);
  });

  it('[fault 32] [defect P15] that another window answers first is seen to be answered elsewhere', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7), resolved(4, 7, 'deny'));
    await settle();
    answer(window, 7);
    await settle();
    expect(answersTo(window)).toEqual([]);
    expect(window.said).toEqual(['Denied elsewhere.']);
  });

  it('[fault 32] whose answer crosses another window’s is shown as theirs, without an error', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    await settle();
    window.runtime.refuse('respond', 'not_found', 'request 7 is not pending');
    answer(window, 7);
    await settle();
    expect(window.request(7)?.phase).toBe('withdrawn');
    window.runtime.stream.send(resolved(4, 7, 'deny'));
    await settle();
    expect(window.request(7)).toMatchObject({ phase: 'answered', by: 'elsewhere' });
  });

  it('[fault 32] of another connection, or of none, is not answered', async () => {
    const window = await windowWithTurn();
    const other = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    other.runtime.stream.send(approval(3, 8));
    await settle();
    answer(other, 7);
    answer(window, 99);
    const stranger = { kind: 'approval', request_id: 7, decision: 'allow' } as const;
    window.app.dispatch(answerRequested({ connection: 'stranger', answer: stranger, label: 'Allow', by: 'person' }));
    await settle();
    expect([answersTo(window), answersTo(other)]).toEqual([[], []]);
    expect(window.request(7)?.phase).toBe('pending');
  });

  it('[fault 33] whose answer met a broken line can be answered again, with one effect', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    await settle();
    window.runtime.fault('respond');
    answer(window, 7);
    await settle();
    expect(window.request(7)).toEqual({ phase: 'pending', problem: 'The line broke.' });
    answer(window, 7);
    window.runtime.stream.send(resolved(4, 7));
    await settle();
    expect(answersTo(window)).toEqual(['respond 7 allow', 'respond 7 allow']);
    expect(window.said).toEqual(['Allowed.']);
  });

  it('[fault 33] whose answer arrived though the line broke is answered, and answered no more', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    await settle();
    window.runtime.fault('respond');
    answer(window, 7);
    await settle();
    window.runtime.stream.send(resolved(4, 7));
    await settle();
    answer(window, 7);
    await settle();
    expect(answersTo(window)).toHaveLength(1);
  });

  it('answered in a wrong kind still waits, and says what was wrong', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    await settle();
    window.runtime.refuse('respond', 'invalid_argument', 'request 7 is an approval');
    answer(window, 7);
    await settle();
    expect(window.request(7)).toEqual({ phase: 'pending', problem: 'request 7 is an approval' });
  });

  it('takes control back when it must, and is answered then', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    await settle();
    window.runtime.refuse('respond', 'controller_required');
    answer(window, 7);
    await settle();
    expect(window.runtime.calls.slice(-3)).toEqual(['respond 7 allow', 'takeControl', 'respond 7 allow']);
  });

  it('goes with the turn that it waited in', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7), event(4, 'turn_succeeded'));
    await settle();
    answer(window, 7);
    await settle();
    expect(answersTo(window)).toEqual([]);
    expect(window.said).toEqual(['The turn ended before this request was answered.']);
  });

  it('goes when the call that it held up goes on without an answer', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(
      event(3, 'tool_call_started', { id: 'c1', name: 'bash', arguments: '{}' }),
      approval(4, 7),
      event(5, 'tool_call_completed', { id: 'c1', name: 'bash', output: 'Error: not approved', is_error: true }),
    );
    await settle();
    expect(window.request(7)).toEqual({ phase: 'withdrawn', reason: 'notHeld' });
  });

  it('[defect C52] waits on while other output streams', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7), event(4, 'text_delta', { text: 'a subagent talks' }));
    await settle();
    expect(window.request(7)?.phase).toBe('pending');
  });

  it('whose resolution comes first is drawn as answered', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(resolved(3, 7), approval(4, 7));
    await settle();
    expect(requestsOf(window)).toMatchObject([{ requestId: 7, answers: [], unanswerable: 'Already answered.' }]);
  });

  it('can’t be answered where the attachment may not', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = {
      ...DESCRIPTOR,
      sourceHarness: 'codex',
      actions: { ...DESCRIPTOR.actions, respond: false },
    };
    const window = await windowWithTurn(runtime);
    choose(window, 'allow');
    runtime.stream.send(approval(3, 7));
    await settle();
    expect(requestsOf(window)).toMatchObject([
      { answers: [], unanswerable: "Answer it in codex: its requests can't be answered from here." },
    ]);
    expect(answersTo(window)).toEqual([]);
  });
});

describe('a policy', () => {
  it('[fault 35] that is chosen while a request waits answers it, and what comes after, each noted', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(approval(3, 7));
    await settle();
    expect(answersTo(window)).toEqual([]);
    choose(window, 'allow');
    await settle();
    window.runtime.stream.send(resolved(4, 7), approval(5, 8));
    await settle();
    window.runtime.stream.send(resolved(6, 8));
    await settle();
    expect(answersTo(window)).toEqual(['respond 7 allow', 'respond 8 allow']);
    expect(window.said).toEqual(['auto-approved: bash: ls', 'auto-approved: bash: ls']);
  });

  it('[fault 35] that is dropped before a request comes leaves it to the person', async () => {
    const window = await windowWithTurn();
    choose(window, 'allow');
    choose(window, 'ask');
    window.runtime.stream.send(approval(3, 7));
    await window.pass(10_000);
    expect(answersTo(window)).toEqual([]);
    expect(window.request(7)?.phase).toBe('pending');
  });

  it('[fault 35] that is dropped while its answer is under way sends that one answer', async () => {
    const window = await windowWithTurn();
    choose(window, 'allow');
    const arrive = window.runtime.hold('respond');
    window.runtime.stream.send(approval(3, 7));
    await settle();
    choose(window, 'ask');
    window.runtime.stream.send(approval(4, 8));
    await settle();
    arrive();
    await settle();
    expect(answersTo(window)).toEqual(['respond 7 allow']);
    expect(window.request(8)?.phase).toBe('pending');
  });

  it('of one conversation answers nothing of another', async () => {
    const window = await windowWithTurn();
    const other = await windowWithTurn();
    choose(window, 'allow');
    other.runtime.stream.send(approval(3, 7));
    await settle();
    expect(answersTo(other)).toEqual([]);
  });

  it('answers a request only once, and leaves it to the person when that fails', async () => {
    const window = await windowWithTurn();
    choose(window, 'allow');
    window.runtime.fault('respond');
    window.runtime.stream.send(approval(3, 7));
    await window.pass(10_000);
    expect(answersTo(window)).toHaveLength(1);
    expect(window.request(7)).toEqual({ phase: 'pending', problem: 'The line broke.' });
  });

  it.each([
    ['session', undefined, 'allow_for_session'],
    ['session', ['allow', 'deny'], 'allow'],
    ['deny', undefined, 'deny'],
    ['allow', ['allow', 'deny'], 'allow'],
  ] as const)('%s answers what is offered (%s) with %s', async (policy, decisions, given) => {
    const window = await windowWithTurn();
    choose(window, policy);
    window.runtime.stream.send(approval(3, 7, decisions));
    await settle();
    expect(answersTo(window)).toEqual([`respond 7 ${given}`]);
  });

  it.each(['allow', 'session', 'deny'] as const)(
    '%s declines a question that only a person can answer',
    async (policy) => {
      const window = await windowWithTurn();
      choose(window, policy);
      const payload = { message: 'Which one?', requested_schema: null };
      window.runtime.stream.send(event(3, 'request', { request: { id: 7, kind: 'elicitation', payload } }));
      await settle();
      expect(answersTo(window)).toEqual(['respond 7 decline']);
    },
  );

  it('finds a request in the snapshot that a turn is joined with', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
    runtime.snapshot = { history: [], historyCursor: 0, replay: [...turnStart(1), approval(3, 7)] };
    const window = new Window(runtime);
    window.open();
    choose(window, 'allow');
    await settle();
    expect(answersTo(window)).toEqual(['respond 7 allow']);
  });
});

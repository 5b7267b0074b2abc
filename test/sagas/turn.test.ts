import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { approval, delta, DESCRIPTOR, event, resolved, RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const BUSY = { ...DESCRIPTOR, turnState: 'busy' } as const;
const HOSTED = { ...DESCRIPTOR, sourceHarness: 'claude-code' };

describe('a turn', () => {
  it('ends on its terminal event, whichever of event and answer comes first', async () => {
    const window = await new Window().attach();
    const answer = window.runtime.hold('sendInput');
    window.submit();
    await settle();
    window.runtime.stream.send(...turnStart(1), delta(3, 'Hi'), event(4, 'turn_succeeded'));
    await settle();
    expect(window.endings).toEqual(['mine-1 succeeded']);
    answer();
    await settle();
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(window.phase).toBe('idle');
  });

  it('is seen to be sent, to run and to be over', async () => {
    const window = await new Window().attach();
    const seen = [window.phase];
    window.submit();
    await settle();
    seen.push(window.phase);
    window.runtime.stream.send(...turnStart(1));
    await settle();
    seen.push(window.phase);
    window.runtime.stream.send(event(3, 'turn_failed', { message: 'no model' }));
    await settle();
    expect([...seen, window.phase]).toEqual(['idle', 'submitting', 'running', 'idle']);
    expect(window.endings).toEqual(['mine-1 failed no model']);
  });

  it.each(['controller_required', 'lease_expired'] as const)(
    '[fault 22] takes control and sends its prompt once more when that meets %s',
    async (reason) => {
      const window = await new Window().attach();
      window.runtime.calls.length = 0;
      window.runtime.refuse('sendInput', reason);
      window.submit('hello');
      await settle();
      expect(window.runtime.calls).toEqual(['sendInput hello', 'takeControl', 'sendInput hello']);
    },
  );

  it('[fault 22] fails on the second want of control: the prompt was not taken once', async () => {
    const window = await new Window().attach();
    window.runtime.refuse('sendInput', 'controller_required');
    window.runtime.refuse('sendInput', 'controller_required', 'somebody else has control');
    window.submit();
    await settle(60_000);
    expect(window.runtime.count('sendInput')).toBe(2);
    expect(window.endings).toEqual(['mine-1 failed somebody else has control']);
  });

  it('is sent once more when the runtime is still busy with the end of the turn before', async () => {
    const window = await new Window().attach();
    window.runtime.refuse('sendInput', 'busy');
    window.submit();
    await settle(1_000);
    expect(window.runtime.count('sendInput')).toBe(2);
    expect(window.phase).toBe('submitting');
  });

  it('fails when the runtime stays busy', async () => {
    const window = await new Window().attach();
    window.runtime.refuse('sendInput', 'busy');
    window.runtime.refuse('sendInput', 'busy', 'a turn is already in progress');
    window.submit();
    await settle(1_000);
    expect(window.runtime.count('sendInput')).toBe(2);
    expect(window.endings).toEqual(['mine-1 failed a turn is already in progress']);
  });

  it('is refused in words while another one runs, which goes on undisturbed', async () => {
    const window = await new Window().attach();
    window.submit('first');
    window.runtime.stream.send(...turnStart(1, 'first'));
    await settle();
    window.submit('second');
    await settle();
    expect(window.runtime.count('sendInput')).toBe(1);
    expect(window.endings).toEqual([
      'mine-2 failed A turn is still running. Stop it or wait for its end; the prompt was not sent.',
    ]);
    window.runtime.stream.send(event(3, 'turn_succeeded'));
    await settle();
    expect(window.endings[1]).toBe('mine-1 succeeded');
  });

  it('of another client overtakes ours: ours is refused, theirs is followed to its end', async () => {
    const window = await new Window().attach();
    window.runtime.refuse('sendInput', 'busy');
    window.runtime.refuse('sendInput', 'busy');
    window.submit('ours');
    window.runtime.stream.send(...turnStart(1, 'theirs'), delta(3, 'for them'));
    await settle(1_000);
    expect(window.endings).toEqual(['mine-1 failed busy']);
    expect(window.phase).toBe('running');
    window.runtime.stream.send(event(4, 'turn_succeeded'));
    await settle();
    expect(window.endings).toHaveLength(2);
    expect(window.phase).toBe('idle');
  });

  it('[fault 26] [defect P21] ends once when its terminal event got lost and the runtime is found idle', async () => {
    const window = await new Window().attach();
    window.submit();
    const events = [...turnStart(1), delta(3, 'All of it')];
    window.runtime.stream.send(...events);
    window.runtime.snapshot = { history: [], historyCursor: 0, replay: events };
    await settle();
    await window.pass(60_000);
    expect(window.endings).toEqual(['mine-1 failed The runtime is idle, but it never said how this turn ended.']);
    expect(window.text).toBe('All of it');
    expect(window.runtime.count('describe')).toBe(1);
  });

  it('[fault 26] learns from a fresh snapshot how a turn ended whose terminal event got lost', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), delta(3, 'All'));
    await settle();
    window.runtime.snapshot = {
      history: [
        { role: 'user', text: 'hello', images: 0, toolCalls: [], toolCallId: null },
        { role: 'assistant', text: 'All of it', images: 0, toolCalls: [], toolCallId: null },
      ],
      historyCursor: 5,
      replay: [event(6, 'turn_succeeded')],
    };
    await window.pass(45_000);
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(window.text).toBe('All of it');
  });

  it('[fault 26] goes on while the runtime says that it is busy, and is asked about again', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1));
    await settle();
    window.runtime.descriptor = BUSY;
    await window.pass(65_000);
    expect(window.phase).toBe('running');
    expect(window.runtime.count('describe')).toBe(3);
  });

  it('[fault 27] ends on its first terminal event; a second one ends nothing and is not shown', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(
      ...turnStart(1),
      event(3, 'turn_failed', { message: 'first' }),
      event(4, 'turn_failed', { message: 'second' }),
    );
    await settle();
    expect(window.endings).toEqual(['mine-1 failed first']);
    expect(window.said).toEqual(['first']);
    window.submit('again');
    await settle();
    window.runtime.stream.send(event(5, 'turn_succeeded'));
    await settle();
    expect(window.phase).toBe('submitting');
  });

  it('[fault 28] [defect P13] is not brought back by a `turn_started` that is repeated after its end', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), event(3, 'turn_succeeded'), event(4, 'turn_started'));
    await settle();
    expect(window.phase).toBe('idle');
    expect(window.endings).toEqual(['mine-1 succeeded']);
  });

  it('that a fresh window finds running is shown and ends with its own event', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = BUSY;
    runtime.snapshot = { history: [], historyCursor: 0, replay: [...turnStart(1), delta(3, 'so far')] };
    const window = await new Window(runtime).attach();
    expect([window.phase, window.text]).toEqual(['running', 'so far']);
    runtime.stream.send(delta(4, ' and on'), event(5, 'turn_succeeded'));
    await settle();
    expect([window.phase, window.text]).toEqual(['idle', 'so far and on']);
  });

  it('is over when the replay ends with its terminal event, whatever the descriptor says', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = BUSY;
    runtime.snapshot = { history: [], historyCursor: 0, replay: [...turnStart(1), event(3, 'turn_succeeded')] };
    const window = await new Window(runtime).attach();
    expect(window.phase).toBe('idle');
  });

  it('whose prompt met a broken line is looked for and never sent again', async () => {
    const window = await new Window().attach();
    window.runtime.fault('sendInput');
    window.submit();
    await settle(30_000);
    expect(window.runtime.count('sendInput')).toBe(1);
    expect(window.endings[0]).toContain('it was not sent again');
  });

  it('whose prompt met a broken line and arrived all the same goes on', async () => {
    const window = await new Window().attach();
    window.runtime.fault('sendInput');
    window.runtime.descriptor = BUSY;
    window.runtime.snapshot = { history: [], historyCursor: 0, replay: [...turnStart(1), delta(3, 'Hi')] };
    window.submit();
    await settle(1_000);
    expect([window.phase, window.text]).toEqual(['running', 'Hi']);
    window.runtime.stream.send(event(4, 'turn_succeeded'));
    await settle();
    expect(window.endings).toEqual(['mine-1 succeeded']);
  });
});

describe('Stop', () => {
  it('is asked for, acknowledged and done, each to be seen', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), delta(3, 'Hi'));
    await settle();
    const acknowledge = window.runtime.hold('interrupt');
    window.stop();
    await settle();
    const seen = [window.phase];
    acknowledge();
    await settle();
    seen.push(window.phase);
    window.runtime.stream.send(event(4, 'turn_interrupted'));
    await settle();
    expect([...seen, window.phase]).toEqual(['interrupting', 'settling', 'idle']);
    expect(window.endings).toEqual(['mine-1 interrupted']);
    expect(window.said).toEqual(['Interrupted.']);
  });

  it('[fault 24] before the prompt was acknowledged waits for it, and then stops the turn', async () => {
    const window = await new Window().attach();
    const accept = window.runtime.hold('sendInput');
    window.submit();
    await settle();
    window.stop();
    await settle(5_000);
    expect(window.runtime.count('interrupt')).toBe(0);
    accept();
    await settle();
    expect(window.runtime.count('interrupt')).toBe(1);
    window.runtime.stream.send(...turnStart(1), event(3, 'turn_interrupted'));
    await settle();
    expect(window.endings).toEqual(['mine-1 interrupted']);
  });

  it('[fault 24] while control is taken for the prompt keeps the prompt from being sent', async () => {
    const window = await new Window().attach();
    window.runtime.refuse('sendInput', 'controller_required');
    const taken = window.runtime.hold('takeControl');
    window.submit();
    await settle();
    window.stop();
    taken();
    await settle();
    expect(window.runtime.count('sendInput')).toBe(1);
    expect(window.runtime.count('interrupt')).toBe(0);
    expect(window.endings).toEqual(['mine-1 interrupted']);
  });

  it('[fault 24] after the turn has ended does nothing', async () => {
    const window = await new Window().attach();
    const turnId = window.submit();
    window.runtime.stream.send(...turnStart(1), event(3, 'turn_succeeded'));
    await settle();
    window.app.dispatch({ type: 'turn/interruptRequested', payload: { connection: 'c', turnId, at: 0 } });
    await settle(5_000);
    expect(window.runtime.count('interrupt')).toBe(0);
    expect(window.endings).toEqual(['mine-1 succeeded']);
  });

  it('[fault 24] twice interrupts once', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1));
    await settle();
    window.stop();
    window.stop();
    await settle();
    window.stop();
    await settle(5_000);
    expect(window.runtime.count('interrupt')).toBe(1);
  });

  it('[fault 24] denies what waits as well: a runtime stops only once nothing waits', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), approval(3, 7));
    await settle();
    window.stop();
    await settle();
    expect(window.runtime.calls.slice(-2)).toEqual(['interrupt', 'respond 7 deny']);
    window.runtime.stream.send(approval(4, 8));
    await settle();
    expect(window.runtime.calls.at(-1)).toBe('respond 8 deny');
    window.runtime.stream.send(resolved(5, 7, 'deny'), resolved(6, 8, 'deny'), event(7, 'turn_interrupted'));
    await settle();
    expect(window.endings).toEqual(['mine-1 interrupted']);
    expect(window.said).toEqual([
      'Denied, because the turn was stopped.',
      'Denied, because the turn was stopped.',
      'Interrupted.',
    ]);
  });

  it('[fault 25] [defect P19] that is never acknowledged stays visible as asked for, and still denies what waits', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), approval(3, 7));
    await settle();
    window.runtime.hold('interrupt');
    window.runtime.descriptor = BUSY;
    window.stop();
    await window.pass(120_000);
    expect(window.phase).toBe('interrupting');
    expect(window.runtime.calls).toContain('respond 7 deny');
    expect(window.endings).toEqual([]);
  });

  it('that does not get through says so, and may be asked for again', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1));
    await settle();
    window.runtime.fault('interrupt');
    window.stop();
    await settle();
    expect(window.app.getState().turn['c']?.current).toMatchObject({ phase: 'running', problem: 'The line broke.' });
    window.stop();
    await settle();
    expect(window.phase).toBe('settling');
  });

  it('of a turn that the runtime does not run ends it', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1));
    await settle();
    window.runtime.running = false;
    window.runtime.snapshot = { history: [], historyCursor: 0, replay: turnStart(1) };
    window.stop();
    await settle(30_000);
    expect(window.endings).toEqual(['mine-1 interrupted']);
  });

  it('turns the failure with which a hosted runtime ends the turn into an interruption', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = HOSTED;
    const window = await new Window(runtime).attach();
    window.submit();
    runtime.stream.send(...turnStart(1));
    await settle();
    window.stop();
    await settle();
    runtime.stream.send(event(3, 'turn_failed', { message: 'Claude turn failed.' }), event(4, 'turn_completed'));
    await settle();
    expect(window.endings).toEqual(['mine-1 interrupted']);
    expect(window.said).toEqual(['Interrupted.']);
  });

  it('that was refused leaves a later failure of a hosted turn what it is', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = HOSTED;
    const window = await new Window(runtime).attach();
    window.submit();
    runtime.stream.send(...turnStart(1));
    await settle();
    runtime.refuse('interrupt', 'unauthorized');
    window.stop();
    await settle();
    runtime.stream.send(event(3, 'turn_failed', { message: 'no credit' }));
    await settle();
    expect(window.endings).toEqual(['mine-1 failed no credit']);
  });
});

import { describe, expect, it } from 'vitest';
import { expectedSkip, isAtGap, selectCursor } from '../../src/selectors/connections.js';
import { attemptStarted, replayRefused } from '../../src/store/connections.js';
import { approval, delta, event, resolved, turnStart } from '../doubles/runtime.js';
import { attach, fold, heard, open, transcriptOf } from '../store/conversation.js';
import { actionsOf } from '../support/traffic.js';
import { emptyState } from '../../src/store/replay.js';
import { isEventReceived } from '../../src/store/events.js';
import { rootReducer } from '../../src/store/root.js';

describe('the cursor', () => {
  it('is the last sequence that was applied', () => {
    expect(selectCursor(heard([delta(4, 'a'), delta(9, 'b'), delta(5, 'late')]), 'c')).toBe(9);
    expect(selectCursor(fold([]), 'nowhere')).toBe(0);
  });
});

describe('a gap', () => {
  const refused = replayRefused({ connection: 'c', message: 'too old', at: 0 });

  it('is there from its refusal until a snapshot comes or the connection breaks', () => {
    expect(isAtGap(fold([open()]), 'c')).toBe(false);
    expect(isAtGap(heard([]), 'c')).toBe(false);
    const gap = fold([open(), refused]);
    expect(isAtGap(gap, 'c')).toBe(true);
    expect(isAtGap(fold([attach()], gap), 'c')).toBe(false);
    expect(isAtGap(fold([attemptStarted({ connection: 'c', attempt: 1, at: 0, lost: 'ended' })], gap), 'c')).toBe(
      false,
    );
    expect(isAtGap(gap, 'nowhere')).toBe(false);
  });
});

describe('the numbers that a native runtime skips', () => {
  const end = (sequence: number, kind = 'turn_succeeded') => event(sequence, kind);

  it.each(['turn_succeeded', 'turn_failed', 'turn_interrupted'])('in front of %s are those of its requests', (kind) => {
    const state = heard([...turnStart(1), approval(3, 7), resolved(4, 7), approval(5, 8)]);
    expect(expectedSkip(state, 'c', end(9, kind))).toBe(3);
  });

  it('are none in front of anything else', () => {
    const state = heard([...turnStart(1), approval(3, 7), resolved(4, 7)]);
    expect(expectedSkip(state, 'c', delta(9, 'x'))).toBe(0);
    expect(expectedSkip(state, 'c', end(9, 'turn_completed'))).toBe(0);
  });

  it('are none where nothing was asked', () => {
    expect(expectedSkip(heard(turnStart(1)), 'c', end(9))).toBe(0);
    expect(expectedSkip(fold([]), 'nowhere', end(9))).toBe(0);
  });

  it('do not count a request that only its answer is known of, nor an answer that the runtime did not tell', () => {
    const state = heard([...turnStart(1), resolved(3, 7), approval(4, 8), event(5, 'turn_succeeded'), ...turnStart(6)]);
    expect(expectedSkip(state, 'c', end(9))).toBe(2);
  });

  it.each(['tool-approval-allow', 'elicitation', 'edit-approvals', 'parallel-tools', 'plain-turn'])(
    'are as many as in the recorded traffic of %s',
    (scenario) => {
      let state = emptyState();
      const skips: [number, number][] = [];
      for (const action of actionsOf(scenario, 'A', () => state)) {
        if (isEventReceived(action)) {
          const missing = action.payload.sequence - transcriptOf(state, 'A').cursor - 1;
          if (missing >= 0) skips.push([missing, expectedSkip(state, 'A', action.payload)]);
        }
        state = rootReducer(state, action);
      }
      expect(skips.length).toBeGreaterThan(5);
      expect(skips.filter(([missing, expected]) => missing !== expected)).toEqual([]);
    },
  );
});

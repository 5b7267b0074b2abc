import { describe, expect, it } from 'vitest';
import { forgotten } from '../../src/store/connections.js';
import { steerQueued, steerRefused, steerRequested } from '../../src/store/steering.js';
import { fold, open } from './conversation.js';

const of = (steerId: string, connection = 'c') => ({ connection, steerId });

describe('steering', () => {
  it('knows what became of each prompt, by conversation', () => {
    const state = fold([
      open(),
      open('d'),
      steerRequested({ ...of('1'), prompt: 'a' }),
      steerRequested({ ...of('2'), prompt: 'b' }),
      steerRequested({ ...of('1', 'd'), prompt: 'c' }),
      steerQueued(of('1')),
      steerRefused({ ...of('2'), over: true, message: 'idle' }),
    ]);
    expect(state.steering).toEqual({
      c: { '1': { phase: 'queued' }, '2': { phase: 'refused', over: true, message: 'idle' } },
      d: { '1': { phase: 'sending' } },
    });
  });

  it('forgets the oldest, and with a connection all of it', () => {
    const many = Array.from({ length: 40 }, (_, at) => steerRequested({ ...of(`id-${at}`), prompt: 'p' }));
    const state = fold([open(), ...many]);
    expect(Object.keys(state.steering['c'] ?? {})).toEqual(Array.from({ length: 32 }, (_, at) => `id-${at + 8}`));
    expect(fold([forgotten({ connection: 'c' })], state).steering).toEqual({});
  });
});

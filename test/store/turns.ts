import { fc } from '@fast-check/vitest';
import type { HistoryMessage } from '../../src/protocol/frontend-v2.js';
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { event } from '../doubles/runtime.js';
import { assistant, call, result, user } from './conversation.js';

/** One round-trip to the model: text, and the calls that it asks for. */
export interface Round {
  readonly pieces: readonly string[];
  readonly calls: readonly { readonly args: string; readonly output: string }[];
  readonly parallel: boolean;
  /** Something that comes between two pieces of the text and is not text. */
  readonly aside: boolean;
}

const piece = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '😀'), minLength: 1, maxLength: 6 });
const round = fc.record({
  pieces: fc.array(piece, { maxLength: 5 }),
  calls: fc.array(
    fc.record({ args: fc.constantFrom('{}', '{"a":1}', '{'), output: fc.constantFrom('', 'ok', 'Error: no') }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  parallel: fc.boolean(),
  aside: fc.boolean(),
});
const last = fc.record({
  pieces: fc.array(piece, { minLength: 1, maxLength: 5 }),
  calls: fc.constant([]),
  parallel: fc.constant(false),
  aside: fc.boolean(),
});

/** Turns that succeed, as a native runtime tells and saves them. */
export const turns = (most: number) =>
  fc.array(
    fc.tuple(fc.array(round, { maxLength: 3 }), last).map(([rounds, end]): readonly Round[] => [...rounds, end]),
    { minLength: 1, maxLength: most },
  );

export interface Told {
  readonly events: readonly RuntimeEvent[];
  /** Of each turn, the position of its terminal event in `events`. */
  readonly ends: readonly number[];
  readonly history: readonly HistoryMessage[];
  /** Of each turn, how many messages stand before it. */
  readonly starts: readonly number[];
}

/** The turns as events, and as messages that the runtime saved. */
export function tell(conversation: readonly (readonly Round[])[]): Told {
  const events: RuntimeEvent[] = [];
  const history: HistoryMessage[] = [];
  const ends: number[] = [];
  const starts: number[] = [];
  const say = (kind: string, payload: object = {}) => events.push(event(events.length + 1, kind, payload));
  conversation.forEach((rounds, turn) => {
    const prompt = `prompt ${turn}`;
    starts.push(history.length);
    say('user_message', { text: prompt });
    say('turn_started');
    history.push(user(prompt));
    rounds.forEach(({ pieces, calls, parallel, aside }, at) => {
      pieces.forEach((text, number) => {
        if (aside && number > 0) say('a_later_kind', { number });
        say('text_delta', { text });
      });
      say('usage', { prompt_tokens: 1, completion_tokens: 1 });
      say('turn_completed');
      const made = calls.map(({ args, output }, number) => ({ id: `call_${turn}_${at}_${number}`, args, output }));
      history.push(assistant(pieces.join(''), ...made.map(({ id, args }) => call(id, args))));
      const start = ({ id, args }: (typeof made)[number]) =>
        say('tool_call_started', { id, name: 'bash', arguments: args });
      const complete = ({ id, output }: (typeof made)[number]) => {
        say('tool_call_completed', { id, name: 'bash', output, is_error: output.startsWith('Error:') });
        history.push(result(id, output));
      };
      if (parallel) {
        made.forEach(start);
        made.forEach(complete);
      } else {
        for (const each of made) {
          start(each);
          complete(each);
        }
      }
    });
    ends.push(events.length);
    say('turn_succeeded');
  });
  return { events, ends, history, starts };
}

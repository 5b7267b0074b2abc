import { createParser } from 'eventsource-parser';
import { closedBody } from './body.js';
import { TextCheck } from './check.js';
import { openSession } from './ours.js';
import { readsOf, runtimeFrames, type Conversation, type ReadSize } from './wire.js';

/** Brings one streamed text from its input to the end; says what is wrong with what came out. */
export type Run = () => Promise<string | undefined>;

export interface Side {
  readonly name: string;
  /** What the time of a run includes. */
  readonly includes: string;
  /** Makes a run ready, outside of the measured time. */
  prepare(conversation: Conversation, size: ReadSize): Run;
  stop?(): Promise<void>;
}

export const OURS = 'this product';

/** One connection that is attached for the whole bench, as in an editor; a run is a turn on it. */
export async function openOurs(): Promise<Side> {
  const session = await openSession();
  let sequence = 0;
  return {
    name: OURS,
    includes: 'SSE, JSON, guard, one action per event through the whole store, new parts once a read',
    prepare(conversation, size) {
      const frames = runtimeFrames(conversation, sequence + 1);
      const reads = readsOf(frames, size);
      sequence += frames.length;
      const last = sequence;
      return async () => {
        const check = new TextCheck(conversation.text);
        session.check(check);
        await session.send(reads, last);
        return check.verdict();
      };
    },
    stop: () => session.stop(),
  };
}

/** What nobody can do without: the same bytes from the same kind of body, framed and parsed. */
export const parseAlone: Side = {
  name: 'SSE and JSON.parse alone',
  includes: 'SSE (eventsource-parser), JSON',
  prepare(conversation, size) {
    const reader = closedBody(readsOf(runtimeFrames(conversation), size)).getReader();
    return async () => {
      const check = new TextCheck(conversation.text);
      const decoder = new TextDecoder();
      const parser = createParser({
        onEvent: ({ data }) => {
          const { kind, payload } = JSON.parse(data) as { kind: string; payload: { text: string } };
          if (kind === 'text_delta') check.take(payload.text);
        },
      });
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        parser.feed(decoder.decode(read.value, { stream: true }));
      }
      return check.verdict();
    };
  },
};

import { createParser } from 'eventsource-parser';
import { toRuntimeEvent, type RuntimeEvent } from '../protocol/frontend-v2-events.js';
import type { EventChunk, EventStream } from './services.js';

/** UTF-16 units of one frame. The runtime takes 16 MiB of prompt and sends it back in one event. */
const LONGEST_FRAME = 16 * 1024 * 1024;
/** Reads that are there already come in one turn of the event loop: after so many events something else has its turn. */
const EVENTS_A_TURN = 2_048;
const KEEP_ALIVE: EventChunk = { events: [], malformed: 0 };
const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };
const STREAMING = { stream: true };

/**
 * The events of a stream's body, a chunk for each network read: a burst is as many chunks as reads, and the next read is
 * made only when the consumer asks. A frame over 16 Mi UTF-16 units ends the stream; a frame cut off by the end is not
 * delivered.
 */
export function readEvents(body: ReadableStream<Uint8Array>): EventStream {
  const reader = body.getReader();
  // The parser drops the one leading BOM, so the decoder must not drop another.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let events: RuntimeEvent[] = [];
  let malformed = 0;
  let open = true;
  let thisTurn = 0;

  const close = () => {
    if (!open) return;
    open = false;
    // Of a body of `fetch`, this gives up the connection as well.
    reader.cancel().catch(() => undefined);
  };
  const parser = createParser({
    maxBufferSize: LONGEST_FRAME,
    onEvent: ({ data }) => {
      const event = eventOf(data);
      if (event === undefined) malformed += 1;
      else events.push(event);
    },
    onError: ({ type }) => {
      if (type !== 'max-buffer-size-exceeded') return;
      malformed += 1;
      close();
    },
  });
  const taken = (): EventChunk => {
    if (events.length === 0 && malformed === 0) return KEEP_ALIVE;
    const chunk: EventChunk = { events, malformed };
    thisTurn += events.length;
    events = [];
    malformed = 0;
    return chunk;
  };
  const isOpen = () => open;

  const iterator: AsyncIterator<EventChunk, undefined> = {
    async next() {
      if (thisTurn >= EVENTS_A_TURN) {
        thisTurn = 0;
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      try {
        const read = await reader.read();
        if (isOpen() && !read.done) {
          parser.feed(decoder.decode(read.value, STREAMING));
          return { done: false, value: taken() };
        }
      } catch {
        // A broken line and a closed one are the same to the reader of events: attach again from the cursor.
      }
      close();
      return DONE;
    },
    return() {
      close();
      return Promise.resolve(DONE);
    },
  };
  return { chunks: { [Symbol.asyncIterator]: () => iterator }, close };
}

function eventOf(data: string): RuntimeEvent | undefined {
  try {
    return toRuntimeEvent(JSON.parse(data));
  } catch {
    return undefined;
  }
}

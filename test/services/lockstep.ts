import type { ServerResponse } from 'node:http';
import { readEvents } from '../../src/services/events.js';
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import type { EventChunk, EventStream, RuntimeClient } from '../../src/services/services.js';
import { clientAt, readAll, startPeer, type Peer } from './peer.js';

export interface Lockstep {
  readonly peer: Peer;
  readonly client: RuntimeClient;
  readonly stream: EventStream;
  /** The server's end of the stream. */
  readonly response: ServerResponse;
  readonly next: () => Promise<IteratorResult<EventChunk>>;
  /** Writes these bytes and waits until they were read, so that the cut between two writes is a cut between two reads. */
  readonly send: (bytes: string | Uint8Array) => Promise<EventChunk>;
}

/** An event stream from a real server whose every write is one read. */
export async function openLockstep(): Promise<Lockstep> {
  let answer: ServerResponse | undefined;
  const peer = await startPeer((response) => {
    answer = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  });
  const client = clientAt(peer.url);
  const stream = await client.openEvents();
  if (answer === undefined) throw new Error('The stream is open and nobody opened it.');
  const response = answer;
  const iterator = stream.chunks[Symbol.asyncIterator]();
  const next = () => iterator.next();
  return {
    peer,
    client,
    stream,
    response,
    next,
    send: async (bytes) => {
      response.write(bytes);
      const read = await next();
      if (read.done === true) throw new Error('The stream ended.');
      return read.value;
    },
  };
}

export interface Heard {
  readonly events: readonly RuntimeEvent[];
  readonly malformed: number;
  /** How many reads there were. */
  readonly chunks: number;
}

export function sumOf(chunks: readonly EventChunk[]): Heard {
  return {
    events: chunks.flatMap(({ events }) => events),
    malformed: chunks.reduce((sum, { malformed }) => sum + malformed, 0),
    chunks: chunks.length,
  };
}

/** What is heard of a body that comes in these pieces, one a read. */
export async function hear(pieces: Iterable<string | Uint8Array>): Promise<Heard> {
  const left = pieces[Symbol.iterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = left.next();
        if (piece.done === true) controller.close();
        else controller.enqueue(typeof piece.value === 'string' ? encoder.encode(piece.value) : piece.value);
      },
    },
    { highWaterMark: 0 },
  );
  return sumOf(await readAll(readEvents(body)));
}

export function texts(heard: { readonly events: readonly RuntimeEvent[] }): string[] {
  return heard.events.map((event) => ('text' in event ? event.text : event.kind));
}

/** The bytes of `text` cut before each of these offsets. */
export function cutAt(text: string | Uint8Array, offsets: readonly number[]): Uint8Array[] {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const edges = [0, ...[...offsets].sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((end, at) => bytes.slice(edges[at], end));
}

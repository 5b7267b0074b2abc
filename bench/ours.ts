import { createApp } from '../src/sagas/app.js';
import { selectNewParts, startCursor } from '../src/selectors/newParts.js';
import { createRuntimeClient } from '../src/services/runtime.js';
import type { Services } from '../src/services/services.js';
import { opened } from '../src/store/connections.js';
import { createRecentActions } from '../src/store/recentActions.js';
import { openBody } from './body.js';
import type { TextCheck } from './check.js';

const CONNECTION = 'bench';
const CLIENT = 'bench-1';

const DESCRIPTOR = {
  schema_version: 2,
  session_id: 'session-1',
  source_harness: null,
  model: 'scripted/model',
  turn_state: 'idle',
  connection_state: 'connected',
  actions: { submit: true, interrupt: true, steer: true, respond: true, detach: true, close: false },
  operations: [],
};

/** The whole product on one attached runtime, and a reader who takes the new parts at each notification. */
export interface Session {
  /** Sends these reads down the stream; resolves when the reader has seen this sequence. */
  send(reads: readonly Uint8Array[], lastSequence: number): Promise<void>;
  /** The assistant text in the parts from now on goes here. */
  check(text: TextCheck | undefined): void;
  /** Finished entries in the transcript. */
  entries(): number;
  stop(): Promise<void>;
}

/**
 * Nothing of the product is stood in for but the socket: `fetch` answers the calls, and the body of its event stream is
 * the bench's.
 */
export async function openSession(): Promise<Session> {
  const body = openBody();
  const services: Services = {
    runtime: (target) =>
      createRuntimeClient({
        target,
        readCredential: () => Promise.resolve('bench-token'),
        fetch: (url, init) => Promise.resolve(url.pathname === '/rpc' ? answer(init.body) : eventStream(body.stream)),
      }),
    clock: { monotonic: () => performance.now(), wall: () => Date.now() },
    newId: () => 'bench-id',
    random: () => 0.5,
    log: (line) => {
      throw new Error(line);
    },
  };
  // Between two turns here others may run for minutes and keep every timer waiting.
  const { enhancer: recorder } = createRecentActions({ wall: () => Date.now() });
  const app = createApp({ services, recorder, timings: { silence: 3_600_000 } });
  let cursor = startCursor(app.getState(), CONNECTION);
  let text: TextCheck | undefined;
  let awaited = Infinity;
  let arrived: (() => void) | undefined;
  app.subscribe(() => {
    const state = app.getState();
    const read = selectNewParts(state, CONNECTION, cursor);
    cursor = read.cursor;
    for (const part of read.parts) if (part.kind === 'markdown') text?.take(part.text);
    if ((state.transcript[CONNECTION]?.cursor ?? 0) < awaited) return;
    awaited = Infinity;
    arrived?.();
  });
  const controlling = new Promise<void>((resolve) => {
    const leave = app.subscribe(() => {
      if (app.getState().lease[CONNECTION]?.phase !== 'controlling') return;
      leave();
      resolve();
    });
  });
  const credential = { kind: 'secret', key: 'bench' } as const;
  const target = { baseUrl: 'http://127.0.0.1:9', clientId: CLIENT, credential, permissions: null };
  app.dispatch(opened({ connection: CONNECTION, origin: 'api', target }));
  await controlling;
  return {
    send: (reads, lastSequence) =>
      new Promise((resolve) => {
        awaited = lastSequence;
        arrived = resolve;
        body.send(reads);
      }),
    check: (next) => {
      text = next;
    },
    entries: () => app.getState().transcript[CONNECTION]?.count ?? 0,
    stop: () => app.stop(),
  };
}

function eventStream(stream: ReadableStream<Uint8Array>): Response {
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
}

function answer(body: RequestInit['body']): Response {
  const { id, method } = JSON.parse(new TextDecoder().decode(body as Uint8Array)) as { id: number; method: string };
  const result =
    method === 'frontend.v2.attach'
      ? { descriptor: DESCRIPTOR, history: [], history_cursor: 0, replay: [] }
      : { controller: { client_id: CLIENT }, lease_ttl_ms: 60_000 };
  return Response.json({ id, result });
}

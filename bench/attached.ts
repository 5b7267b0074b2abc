import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApp, type App } from '../src/sagas/app.js';
import { createRuntimeClient } from '../src/services/runtime.js';
import type { Services } from '../src/services/services.js';
import { opened } from '../src/store/connections.js';
import type { RootState } from '../src/store/state.js';

export const CONNECTION = 'bench';
const CLIENT = 'bench-1';

/** A hosted runtime: it gives its whole history, however long. */
const DESCRIPTOR = {
  schema_version: 2,
  session_id: 'session-1',
  source_harness: 'claude-code',
  model: 'scripted/model',
  turn_state: 'idle',
  connection_state: 'connected',
  actions: { submit: true, interrupt: true, steer: false, respond: true, detach: true, close: false },
  operations: [],
};

export interface Attached {
  readonly state: RootState;
  stop(): Promise<void>;
}

/** A server on this machine that has this history to give, as bytes that are written beforehand. */
export class HistoryServer {
  readonly bytes: number;
  readonly #server: Server;
  readonly #snapshot: Buffer;

  private constructor(history: readonly object[]) {
    this.#snapshot = Buffer.from(JSON.stringify({ descriptor: DESCRIPTOR, history, history_cursor: 0, replay: [] }));
    this.bytes = this.#snapshot.byteLength;
    this.#server = createServer((request, response) => {
      if (request.method !== 'POST') {
        response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
        response.flushHeaders();
        return;
      }
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { id, method } = JSON.parse(Buffer.concat(pieces).toString()) as { id: number; method: string };
        this.#answer(response, id, method);
      });
    });
  }

  static async open(history: readonly object[]): Promise<HistoryServer> {
    const server = new HistoryServer(history);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** The whole product, attached to this server. */
  async attach(): Promise<Attached> {
    const baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const app = createApp({ services: SERVICES, timings: { silence: 3_600_000 } });
    const credential = { kind: 'secret', key: 'bench' } as const;
    app.dispatch(
      opened({
        connection: CONNECTION,
        origin: 'api',
        target: { baseUrl, clientId: CLIENT, credential, permissions: null },
      }),
    );
    await attached(app);
    return { state: app.getState(), stop: () => app.stop() };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(response: ServerResponse, id: number, method: string): void {
    const head = Buffer.from(`{"id":${id},"result":`);
    const body =
      method === 'frontend.v2.attach'
        ? this.#snapshot
        : Buffer.from(JSON.stringify({ controller: { client_id: CLIENT }, lease_ttl_ms: 60_000 }));
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': head.byteLength + body.byteLength + 1,
      connection: 'close',
    });
    response.write(head);
    response.write(body);
    response.end('}');
  }
}

const SERVICES: Services = {
  runtime: (target) => createRuntimeClient({ target, readCredential: () => Promise.resolve('bench-token') }),
  clock: { monotonic: () => performance.now(), wall: () => Date.now() },
  newId: () => 'bench-id',
  random: () => 0.5,
  log: (line) => {
    throw new Error(line);
  },
};

function attached(app: App): Promise<void> {
  return new Promise((resolve) => {
    const see = () => {
      if (app.getState().connections[CONNECTION]?.phase.name !== 'attached') return;
      leave();
      resolve();
    };
    const leave = app.subscribe(see);
    see();
  });
}

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createRuntimeClient, type RuntimeClientOptions } from '../../src/services/runtime.js';
import type { ConnectionTarget, EventChunk, EventStream, RuntimeClient } from '../../src/services/services.js';

export const TOKEN = 'c0ffee11'.repeat(8);

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Peer {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** How many connections were made to it. */
  readonly connections: () => number;
  /** How many that carried a request are still open. (Node 20 connects anew, idly, after an abort.) */
  readonly openConnections: () => number;
}

export type Handler = (response: ServerResponse, request: Seen, raw: IncomingMessage) => void;

/** A real HTTP server on this machine, gone when the test is over. */
export async function startPeer(handler: Handler): Promise<Peer> {
  const seen: Seen[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((raw, response) => {
    open.add(raw.socket);
    raw.socket.on('close', () => open.delete(raw.socket));
    const pieces: Buffer[] = [];
    raw.on('data', (piece: Buffer) => pieces.push(piece));
    raw.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      const request = { method: raw.method ?? '', url: raw.url ?? '', headers: raw.headers, body };
      seen.push(request);
      handler(response, request, raw);
    });
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    connections: () => connections,
    openConnections: () => open.size,
  };
}

/** A peer that answers each call with what `result` makes of it. */
export function startRuntime(result: (method: string, params: unknown) => unknown): Promise<Peer> {
  return startPeer((response, request) => {
    const { id, method, params } = JSON.parse(request.body) as { id: unknown; method: string; params: unknown };
    answerJson(response, 200, { id, result: result(method, params) });
  });
}

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

export function targetAt(url: string, more: Partial<ConnectionTarget> = {}): ConnectionTarget {
  return {
    baseUrl: url,
    clientId: 'editor-1',
    credential: { kind: 'secret', key: 'k' },
    permissions: ['observe', 'interact', 'approve'],
    ...more,
  };
}

export function clientAt(url: string, more: Partial<RuntimeClientOptions> = {}): RuntimeClient {
  return createRuntimeClient({ target: targetAt(url), readCredential: () => Promise.resolve(TOKEN), ...more });
}

export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It was expected to fail, and did not.');
}

export const LEASE = { controller: { client_id: 'editor-1', expires_at_ms: 1 }, observers: [], lease_ttl_ms: 30_000 };

export const DESCRIPTOR = {
  schema_version: 2,
  session_id: 's-1',
  source_harness: null,
  emulation_profile: null,
  active_modules: [],
  commands: [],
  operations: [],
  actions: { submit: true, interrupt: true, steer: true, respond: true, detach: true, close: false },
  display: { event_kinds: [], opaque_fallback: true },
  model: 'm',
  turn_state: 'idle',
  connection_state: 'connected',
};

export const SNAPSHOT = { descriptor: DESCRIPTOR, history: [], history_cursor: 0, replay: [] };

/** What a well-behaved runtime answers. */
export function goodResult(method: string): unknown {
  const results: Record<string, unknown> = {
    'frontend.v2.describe': DESCRIPTOR,
    'frontend.v2.attach': SNAPSHOT,
    'frontend.v2.send_input': { accepted: true },
    'frontend.v2.interrupt': { interrupted: true },
    'frontend.v2.steer': { queued: true },
    'frontend.v2.respond': { accepted: true },
  };
  return results[method] ?? LEASE;
}

/** Every call of a client, by the name of its method on the wire. */
export const CALLS: Readonly<Record<string, (client: RuntimeClient) => Promise<unknown>>> = {
  describe: (client) => client.describe(),
  attach: (client) => client.attach(),
  send_input: (client) => client.sendInput('hello'),
  interrupt: (client) => client.interrupt(),
  steer: (client) => client.steer('left'),
  respond: (client) => client.respond({ kind: 'approval', request_id: 1, decision: 'allow' }),
  lease: (client) => client.lease(),
  acquire_control: (client) => client.acquireControl(),
  take_control: (client) => client.takeControl(),
  heartbeat: (client) => client.heartbeat(),
  detach: (client) => client.detach(),
};

export async function readAll(stream: EventStream): Promise<EventChunk[]> {
  const chunks: EventChunk[] = [];
  for await (const chunk of stream.chunks) chunks.push(chunk);
  return chunks;
}

export function delta(sequence: number, text: string): string {
  return JSON.stringify({ sequence, kind: 'text_delta', payload: { type: 'text_delta', text } });
}

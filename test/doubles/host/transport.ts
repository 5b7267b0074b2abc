import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** UTF-16 units of a request's decoded text; one more is refused. */
const REQUEST_LIMIT = 4096;

/** A refusal of a door: 400 with this text. */
export class Refused extends Error {}

export type Door = 'state' | 'select' | 'open' | 'remember' | 'setup';
const DOORS: Readonly<Record<string, Door>> = {
  'GET /state': 'state',
  'POST /select': 'select',
  'POST /open': 'open',
  'POST /remember': 'remember',
  'POST /setup': 'setup',
};

export interface Doors {
  readonly secret: string;
  /** How a request that is too long ends: with an answer, or with a reset socket. */
  readonly tooLong: () => 'answer' | 'reset';
  /** Answers a door; a rejection is a 400 with its message. `reset` drops the socket in place of an answer. */
  answer(door: Door, body: unknown, reset: () => void): Promise<unknown>;
}

/** The HTTP side of a lifecycle host (host-controls §2): who may come in, and what a request must look like. */
export async function listen(doors: Doors): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    void receive(doors, request, response);
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function receive(doors: Doors, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined);
  const { socket } = request;
  const { origin = '', authorization = '' } = request.headers;
  if (origin !== '' || !isSame(authorization, `Bearer ${doors.secret}`)) {
    send(response, 403, { error: 'Forbidden' });
    return;
  }
  const door = DOORS[`${request.method ?? ''} ${request.url ?? ''}`];
  if (door === undefined) {
    send(response, 404, {});
    return;
  }
  const text = await bodyOf(request);
  if (text === undefined) {
    if (doors.tooLong() === 'reset') socket.resetAndDestroy();
    else send(response, 400, { error: 'The request is too large.' });
    return;
  }
  const reset = () => {
    socket.resetAndDestroy();
  };
  try {
    const body: unknown = door === 'state' ? undefined : JSON.parse(text);
    const answer = await doors.answer(door, body, reset);
    if (!socket.destroyed) send(response, 200, answer);
  } catch (error) {
    if (!socket.destroyed) send(response, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

/** Constant in time, after the lengths were compared. */
function isSame(given: string, right: string): boolean {
  return given.length === right.length && timingSafeEqual(Buffer.from(given), Buffer.from(right));
}

/** Undefined where it is longer than the limit: the rest is not read. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  request.setEncoding('utf8');
  let text = '';
  // Destroying the request would end the socket before it can be reset.
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    text += piece;
    if (text.length > REQUEST_LIMIT) return undefined;
  }
  return text;
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(value));
}

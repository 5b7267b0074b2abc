import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Credential, Credentials } from './credentials.js';
import { EventStream } from './eventStream.js';
import { isClientId } from '../protocol/handover.js';
import { isGrant, narrow } from './grants.js';
import type { Client } from './lease.js';
import { RuntimeRefusal, unauthenticated, unauthorized } from './refusals.js';
import { answer, type Runtime } from './rpc.js';
import { isObject } from './wire.js';

const BODY_LIMIT = 16 * 1024 * 1024;
const IDLE_MS = 300_000;
const HEADER_LINES = 200;
const HEADER_BYTES = 128 * 1024;
const DOOR = '/_supercode/frontend-credentials/';

/** The HTTP side of the runtime (§2): who may come in, and where each path leads. */
export class RuntimeServer {
  readonly #http: Server;
  readonly #streams = new Map<Socket, EventStream>();

  constructor(
    readonly runtime: Runtime,
    readonly credentials: Credentials,
    readonly keepAliveMs: number,
  ) {
    this.#http = createServer({ keepAliveTimeout: IDLE_MS, requestTimeout: 0, maxHeaderSize: HEADER_BYTES });
    this.#http.maxHeadersCount = HEADER_LINES;
    this.#http.on('request', (request, response) => void this.#receive(request, response));
    // Without the usual 100 Continue: the body is simply read when it comes (§2.2).
    this.#http.on('checkContinue', (request, response) => void this.#receive(request, response));
    this.#http.on('clientError', (_error, socket: Socket) => {
      this.#streams.get(socket)?.end();
      socket.destroy();
    });
  }

  async listen(port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(port, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Ends the streams and refuses new connections; resolves when the last connection is gone. */
  stop(): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#http.close(() => {
        resolve();
      });
    });
    for (const stream of [...this.#streams.values()]) stream.end();
    return stopped;
  }

  /** Drops every connection as a killed process would. */
  drop(): void {
    this.#http.closeAllConnections();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    // Any byte that follows the request of an event stream ends it (§6.1).
    const stream = this.#streams.get(socket);
    if (stream !== undefined) {
      stream.end();
      return;
    }
    response.sendDate = false;
    response.on('error', () => undefined);
    try {
      const body = await readBody(request);
      if (body === undefined) socket.destroy();
      else await this.#route(request, response, body);
    } catch {
      // The client has gone; there is nobody to tell.
      socket.destroy();
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const [path, query] = splitOnce(request.url ?? '', '?');
    const { credential, fromHeader } = this.#authenticate(request, query);
    if (credential === undefined) {
      refuse(response, 401, unauthenticated());
      return;
    }
    if (path === `${DOOR}mint` || path === `${DOOR}revoke`) {
      this.#openDoor(path, request, response, body, credential, fromHeader);
      return;
    }
    const client = clientOf(request, credential);
    if (client instanceof RuntimeRefusal) refuse(response, 403, client);
    else if (request.method === 'POST' && path === '/rpc') await this.#call(request, response, body, client);
    else if (request.method === 'GET' && path === '/frontend/events') this.#openStream(response, client, credential);
    else send(response, 404, { error: 'not found' });
  }

  #authenticate(request: IncomingMessage, query: string): { credential: Credential | undefined; fromHeader: boolean } {
    const header = request.headers.authorization;
    if (header?.startsWith('Bearer ') === true) {
      const credential = this.credentials.find(header.slice('Bearer '.length), false);
      if (credential !== undefined) return { credential, fromHeader: true };
    }
    const token = query
      .split('&')
      .map((pair) => splitOnce(pair, '='))
      .find(([name]) => name === 'token')?.[1];
    return { credential: token === undefined ? undefined : this.credentials.find(token, true), fromHeader: false };
  }

  async #call(request: IncomingMessage, response: ServerResponse, body: string, client: Client): Promise<void> {
    const result = await answer(this.runtime, client, body);
    const asked = request.headers.connection?.toLowerCase();
    const keep = asked !== 'close' && !this.runtime.isClosing();
    send(response, 200, result, keep ? 'keep-alive' : 'close');
  }

  #openStream(response: ServerResponse, client: Client, credential: Credential): void {
    try {
      this.runtime.lease.observe(client);
    } catch (error) {
      if (error instanceof RuntimeRefusal) refuse(response, 403, error);
      return;
    }
    const { socket } = response;
    if (socket === null) return;
    const stream = new EventStream(response, this.runtime.session, this.keepAliveMs, () => {
      this.#streams.delete(socket);
      credential.streams.delete(stream);
      // Closing any stream of a client detaches the client, also when it has another one open (§6.1).
      this.runtime.lease.detach(client.id);
    });
    this.#streams.set(socket, stream);
    credential.streams.add(stream);
  }

  #openDoor(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
    credential: Credential,
    fromHeader: boolean,
  ): void {
    if (!fromHeader) {
      refuse(response, 401, unauthenticated());
      return;
    }
    if (request.method !== 'POST' || !credential.isOwner || !isLoopback(request.socket)) {
      refuse(response, 403, unauthorized('bootstrap'));
      return;
    }
    const minting = path.endsWith('mint');
    const asked = parseObject(body);
    const clientId = asked?.['clientId'];
    if (asked === undefined) send(response, 400, { error: 'expected value at line 1 column 1' });
    else if (typeof clientId !== 'string') {
      send(response, 400, { error: `${minting ? 'mint' : 'revoke'} request omitted clientId` });
    } else if (!isClientId(clientId)) send(response, 400, { error: 'invalid runtime client id' });
    else if (!minting) {
      const revoked = this.credentials.revoke(clientId);
      if (revoked) this.runtime.lease.detach(clientId);
      send(response, 200, { revoked });
    } else if (!isGrant(asked['grant'])) send(response, 400, { error: 'grant must be observer or interactive' });
    else sendBytes(response, 200, 'application/octet-stream', this.credentials.mint(clientId, asked['grant']), 'close');
  }
}

/** Undefined for a body that is too large. One without a length is read as empty (§2.2). */
const readBody = async (request: IncomingMessage): Promise<string | undefined> => {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > BODY_LIMIT) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (length > 0) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

const clientOf = (request: IncomingMessage, credential: Credential): Client | RuntimeRefusal => {
  const supplied = headerOf(request, 'x-supercode-client-id');
  if (credential.clientId !== undefined && supplied !== credential.clientId) return unauthorized('client_id');
  const permissions = narrow(credential.permissions, headerOf(request, 'x-supercode-permissions'));
  if (permissions === undefined) return unauthorized('authorization');
  const id = supplied ?? 'legacy-owner';
  return isClientId(id) ? { id, permissions } : unauthorized('client_id');
};

const headerOf = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
};

const isLoopback = ({ remoteAddress }: Socket): boolean =>
  remoteAddress !== undefined && /^(::ffff:)?127\.|^::1$/.test(remoteAddress);

const splitOnce = (text: string, separator: string): [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};

const parseObject = (body: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : {};
  } catch {
    return undefined;
  }
};

type Connection = 'keep-alive' | 'close';

const refuse = (response: ServerResponse, status: number, refusal: RuntimeRefusal): void => {
  send(response, status, { id: null, error: refusal.toWire() });
};

const send = (response: ServerResponse, status: number, value: unknown, connection: Connection = 'close'): void => {
  sendBytes(response, status, 'application/json', JSON.stringify(value), connection);
};

const sendBytes = (
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  connection: Connection,
): void => {
  const body = Buffer.from(text);
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': body.length, Connection: connection });
  response.end(body);
};

/** A raw frontend.v2 client for tests: node:http, no product code, nothing retried, nothing interpreted. */
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

export interface WireEvent {
  readonly sequence: number;
  readonly kind: string;
  readonly payload: Record<string, unknown>;
}

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly name?: string;
  readonly operation?: string | null;
  readonly permission?: string;
  readonly holder?: string;
  readonly expiresAtMs?: number;
}

export interface Envelope {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: WireError;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
}

export interface Identity {
  readonly token?: string;
  readonly clientId?: string;
  /** Null sends no header, which means the credential's full grant. */
  readonly permissions?: string | null;
}

export interface Snapshot {
  readonly descriptor: Descriptor;
  readonly history: readonly HistoryMessage[];
  readonly history_cursor: number;
  readonly replay: readonly WireEvent[];
}

export interface HistoryMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
  readonly tool_call_id?: string;
}

export interface Descriptor {
  readonly schema_version: number;
  readonly session_id: string;
  readonly actions: Record<string, boolean>;
  readonly operations: readonly { readonly id: string }[];
  readonly model: string;
  readonly turn_state: string;
  readonly connection_state: string;
}

export interface LeaseSnapshot {
  readonly controller: { readonly client_id: string; readonly expires_at_ms: number } | null;
  readonly observers: readonly { readonly client_id: string; readonly last_seen_ms: number }[];
  readonly lease_ttl_ms: number;
}

export const TERMINAL = ['turn_succeeded', 'turn_failed', 'turn_interrupted'];
const WAIT_MS = 15_000;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Wire {
  #nextId = 1;

  constructor(
    readonly url: string,
    readonly identity: Identity,
    readonly agent: Agent | false = false,
  ) {}

  /** The same caller, all of its calls on one connection that is kept. */
  onOneConnection(): Wire {
    return new Wire(this.url, this.identity, new Agent({ keepAlive: true, maxSockets: 1 }));
  }

  /** Closes the connection that was kept. */
  disconnect(): void {
    if (this.agent !== false) this.agent.destroy();
  }

  /** The same caller with another header or token. */
  as(changes: Identity): Wire {
    return new Wire(this.url, { ...this.identity, ...changes });
  }

  /** Another caller of the same server. */
  being(identity: Identity): Wire {
    return new Wire(this.url, identity);
  }

  headers(): Record<string, string> {
    const { token, clientId, permissions } = this.identity;
    return {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(clientId !== undefined && { 'x-supercode-client-id': clientId }),
      ...(permissions !== undefined && permissions !== null && { 'x-supercode-permissions': permissions }),
    };
  }

  http(method: string, path: string, body?: string, extra: Record<string, string> = {}): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...this.headers(),
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...extra,
      };
      const { agent } = this;
      const request = httpRequest(new URL(path, this.url), { method, agent, headers }, (response) => {
        collect(response).then((text) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
        }, reject);
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** One RPC by its full name. A new connection per call: a reused one costs 44 ms (§2.3). */
  async rpc(method: string, params?: unknown): Promise<Envelope> {
    const id = this.#nextId;
    this.#nextId += 1;
    const body = JSON.stringify({ id, method, ...(params !== undefined && { params }) });
    return (await this.http('POST', '/rpc', body)).json as Envelope;
  }

  call(name: string, params: unknown = {}): Promise<Envelope> {
    return this.rpc(`frontend.v2.${name}`, params);
  }

  async ok(name: string, params: unknown = {}): Promise<unknown> {
    const { result, error } = await this.call(name, params);
    if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
    return result;
  }

  async refused(name: string, params: unknown = {}): Promise<WireError> {
    const { result, error } = await this.call(name, params);
    if (error === undefined) throw new Error(`${name} was not refused: ${JSON.stringify(result)}`);
    return error;
  }

  async attach(params: unknown = { limit: 1000 }): Promise<Snapshot> {
    return (await this.ok('attach', params)) as Snapshot;
  }

  async describe(): Promise<Descriptor> {
    return (await this.ok('describe')) as Descriptor;
  }

  async lease(call = 'lease'): Promise<LeaseSnapshot> {
    return (await this.ok(call)) as LeaseSnapshot;
  }

  async controller(): Promise<string | undefined> {
    return (await this.lease()).controller?.client_id;
  }

  respond(request: WireEvent, decision: string): Promise<Envelope> {
    return this.call('respond', { response: { kind: 'approval', request_id: requestId(request), decision } });
  }

  /** Opens the event stream; resolves as soon as the answer's head is there, whatever it says. */
  open(query = ''): Promise<Stream> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        new URL(`/frontend/events${query}`, this.url),
        { agent: false, headers: this.headers() },
        (response) => {
          resolve(new Stream(response));
        },
      );
      request.on('error', reject);
      request.end();
    });
  }

  /** The stream of a client that may read; fails when it is refused. */
  async listen(query = ''): Promise<Stream> {
    const stream = await this.open(query);
    if (stream.status !== 200) throw new Error(`event stream answered ${stream.status}`);
    return stream;
  }

  /** Submits, and tries once more when the runtime was busy for an instant after a turn's end (§6.5). */
  async send(prompt: string): Promise<void> {
    const { error } = await this.call('send_input', { prompt });
    if (error?.name !== 'busy') {
      if (error !== undefined) throw new Error(`send_input: ${JSON.stringify(error)}`);
      return;
    }
    await pause(50);
    await this.ok('send_input', { prompt });
  }
}

export class Stream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: WireEvent[] = [];
  readonly comments: string[] = [];
  /** Every line that is neither a comment, a `data:` field nor blank. */
  readonly strayLines: string[] = [];
  readonly ended: Promise<void>;
  hasEnded = false;
  readonly #response: IncomingMessage;
  #pending = '';
  #waiters: (() => void)[] = [];

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      this.#read(chunk);
    });
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.hasEnded = true;
        resolve();
        this.#wake();
      };
      response.on('close', end).on('end', end).on('error', end);
    });
  }

  /** Position for `since`: what comes after now. */
  get mark(): number {
    return this.events.length;
  }

  since(mark: number): WireEvent[] {
    return this.events.slice(mark);
  }

  kinds(mark = 0): string[] {
    return this.since(mark).map((event) => event.kind);
  }

  /** Stops reading without closing. */
  stall(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  async close(): Promise<void> {
    this.#response.destroy();
    await this.ended;
  }

  /** The first event, already here or still to come, of one of the kinds. */
  async until(
    kind: string | readonly string[],
    { since = 0, where = () => true, within = WAIT_MS }: Until = {},
  ): Promise<WireEvent> {
    const kinds = typeof kind === 'string' ? [kind] : kind;
    const deadline = Date.now() + within;
    let looked = since;
    for (;;) {
      for (; looked < this.events.length; looked += 1) {
        const event = this.events[looked];
        if (event !== undefined && kinds.includes(event.kind) && where(event)) return event;
      }
      const left = deadline - Date.now();
      if (left <= 0 || this.hasEnded) {
        const why = this.hasEnded ? 'the stream ended' : `${within} ms`;
        throw new Error(`no ${kinds.join('/')} (${why}); got ${this.kinds(since).slice(-30).join(' ')}`);
      }
      await this.#next(left);
    }
  }

  /** Resolves when so many comments have come. */
  async commented(count: number): Promise<void> {
    while (this.comments.length < count && !this.hasEnded) await this.#next(WAIT_MS);
  }

  /** The end of a turn. A hosted runtime sends one more event behind it (§6.5). */
  turnEnd(since: number, kind: 'native' | 'hosted' = 'native'): Promise<WireEvent> {
    return this.until(TERMINAL, { since }).then(async (end) => {
      if (kind === 'hosted') await this.until('turn_completed', { since });
      return end;
    });
  }

  /** The next request that is not among those already seen. */
  request(since: number, seen: readonly WireEvent[] = []): Promise<WireEvent> {
    const known = seen.map(requestId);
    return this.until('request', { since, where: (event) => !known.includes(requestId(event)) });
  }

  #read(chunk: string): void {
    // Only the new chunk is searched: the last event of a long turn repeats its whole text in one line.
    const [first = '', ...rest] = chunk.split('\n');
    this.#pending += first;
    if (rest.length === 0) return;
    const lines = [this.#pending, ...rest];
    this.#pending = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: ')) this.events.push(JSON.parse(line.slice('data: '.length)) as WireEvent);
      else if (line.startsWith(':')) this.comments.push(line.slice(1).trim());
      else if (line !== '') this.strayLines.push(line);
    }
    this.#wake();
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  #next(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#waiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

interface Until {
  readonly since?: number;
  readonly where?: (event: WireEvent) => boolean;
  readonly within?: number;
}

export interface Request {
  readonly id: number;
  readonly kind: string;
  readonly payload: Record<string, unknown>;
}

export const requestOf = (event: WireEvent): Request => event.payload['request'] as Request;
export const requestId = (event: WireEvent): number => requestOf(event).id;

export const script = (...steps: readonly Record<string, unknown>[]): string => `[[script]] ${JSON.stringify(steps)}`;

export const bash = (command: string, id = 'call_1'): Record<string, unknown> => ({
  name: 'bash',
  id,
  args: { command },
});

const collect = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * A proxy on loopback between a client and a runtime: it knows what an RPC and what an event frame is, so that a test can
 * say what becomes of each.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a call. `answer`: the proxy answers, and only with `forwarded` does the runtime hear of it. */
export type CallFault =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter?: number; readonly forwarded?: boolean }
  /** The runtime hears it, and the line breaks before its answer is through. */
  | { readonly kind: 'lose' }
  /** The line breaks before the runtime hears it. */
  | { readonly kind: 'break' }
  /** What the runtime answered gets through as this makes it. */
  | { readonly kind: 'edit'; readonly edit: (answer: ProxiedAnswer) => ProxiedAnswer }
  /** The answer comes so much later; `before`: the call does. */
  | { readonly kind: 'delay'; readonly ms: number; readonly before?: boolean }
  /** The answer comes when a test says so. */
  | { readonly kind: 'hold'; readonly until: Promise<unknown> };

/** What becomes of a frame of an event stream. `at`: so many of its bytes are still sent. */
export type FrameFault =
  | { readonly kind: 'cut'; readonly at: number }
  /** Nothing more comes and nothing ends. */
  | { readonly kind: 'stall'; readonly at: number }
  | { readonly kind: 'drop' }
  | { readonly kind: 'duplicate' }
  /** It comes behind the next one. */
  | { readonly kind: 'swap' }
  | { readonly kind: 'delay'; readonly ms: number };

export interface ProxiedAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly name?: string };
}

export interface ProxiedCall {
  /** The name of the RPC without its prefix. */
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** How many calls of this name came before. */
  readonly nth: number;
  forwarded: boolean;
  /** The address of the runtime that was there at the time. */
  readonly upstream: string | undefined;
  /** What the runtime answered, whether or not it got through. */
  answer: ProxiedAnswer | undefined;
}

export interface ProxiedFrame {
  /** Which stream, counted from 0. */
  readonly stream: number;
  /** Frames of this stream before it, comments not counted. */
  readonly nth: number;
  /** Bytes of this stream's body before it. */
  readonly offset: number;
  readonly bytes: Buffer;
}

export interface ProxiedStream {
  readonly headers: IncomingHttpHeaders;
  bytes: number;
  frames: number;
  open: boolean;
  /** Breaks it off now. */
  readonly cut: () => void;
}

export interface Faults {
  call?(call: ProxiedCall): CallFault | undefined;
  /** An HTTP status (with its headers) in place of an event stream. */
  open?(stream: number): { readonly status: number; readonly headers?: Record<string, string> } | undefined;
  frame?(frame: ProxiedFrame): FrameFault | undefined;
}

export interface Upstream {
  readonly url: string;
  readonly token: string;
}

/** How long a swapped frame waits for the one that it changes places with. */
const SWAP_WAIT_MS = 40;

export class FaultProxy {
  readonly calls: ProxiedCall[] = [];
  readonly streams: ProxiedStream[] = [];
  readonly token = 'f'.repeat(64);
  faults: Faults = {};
  url = '';
  /** Where everything goes; null: nobody is there, and connections break. */
  upstream: Upstream | null;
  readonly #server = createServer((request, response) => {
    response.on('error', () => undefined);
    void this.#receive(request, response).catch(() => request.socket.destroy());
  });

  constructor(upstream: Upstream) {
    this.upstream = upstream;
  }

  /** A client that knows the token of this proxy is known upstream, whichever runtime is there now. */
  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  close(): void {
    this.upstream = null;
    for (const stream of this.streams) stream.cut();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  count(name: string): number {
    return this.calls.filter((call) => call.name === name).length;
  }

  /** Breaks every stream that is open. */
  cut(): void {
    for (const stream of this.streams) stream.cut();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (request.url === '/frontend/events') this.#stream(request, response);
    else await this.#call(request, response, body);
  }

  async #call(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const { method, params } = JSON.parse(body.toString()) as { method: string; params?: Record<string, unknown> };
    const name = method.replace('frontend.v2.', '');
    const call: ProxiedCall = {
      name,
      params: params ?? {},
      nth: this.count(name),
      forwarded: false,
      upstream: this.upstream?.url,
      answer: undefined,
    };
    this.calls.push(call);
    const fault = this.faults.call?.(call);
    if (fault?.kind === 'break') {
      request.socket.destroy();
      return;
    }
    if (fault?.kind === 'answer' && fault.forwarded !== true) {
      refuse(response, fault);
      return;
    }
    if (fault?.kind === 'delay' && fault.before === true) await pause(fault.ms);
    call.forwarded = true;
    const answered = await this.#forward(request, body);
    const text = await bodyOf(answered);
    if (answered.statusCode === 200) call.answer = JSON.parse(text.toString()) as ProxiedAnswer;
    if (fault?.kind === 'delay' && fault.before !== true) await pause(fault.ms);
    if (fault?.kind === 'hold') await fault.until;
    if (fault?.kind === 'lose') request.socket.destroy();
    else if (fault?.kind === 'answer') refuse(response, fault);
    else {
      const edited = fault?.kind === 'edit' && call.answer ? JSON.stringify(fault.edit(call.answer)) : text;
      response.writeHead(answered.statusCode ?? 502, { 'content-type': 'application/json', connection: 'close' });
      response.end(edited);
    }
  }

  #stream(request: IncomingMessage, response: ServerResponse): void {
    const number = this.streams.length;
    let far: IncomingMessage | undefined;
    const stream: ProxiedStream = {
      headers: request.headers,
      bytes: 0,
      frames: 0,
      open: true,
      cut: () => {
        stream.open = false;
        far?.destroy();
        response.destroy();
      },
    };
    this.streams.push(stream);
    const refusal = this.faults.open?.(number);
    if (refusal) {
      stream.open = false;
      response.writeHead(refusal.status, { connection: 'close', ...refusal.headers });
      response.end(refusal.status === 401 ? UNAUTHENTICATED : '');
      return;
    }
    response.on('close', stream.cut);
    this.#forward(request).then((answered) => {
      far = answered;
      // Read to the end of the connection, as a runtime sends it: neither a length nor chunks.
      response.removeHeader('Transfer-Encoding');
      response.writeHead(answered.statusCode ?? 502, { ...answered.headers, connection: 'close' });
      response.flushHeaders();
      void new FrameFeed(number, stream, response, (frame) => this.faults.frame?.(frame)).pipe(answered);
    }, stream.cut);
  }

  #forward(request: IncomingMessage, body?: Buffer): Promise<IncomingMessage> {
    const { upstream } = this;
    return new Promise((resolve, reject) => {
      if (upstream === null) {
        reject(new Error('nobody is there'));
        return;
      }
      const known = request.headers.authorization === `Bearer ${this.token}`;
      const headers = { ...request.headers, ...(known && { authorization: `Bearer ${upstream.token}` }) };
      const far = httpRequest(new URL(request.url ?? '/', upstream.url), {
        method: request.method,
        agent: false,
        headers: { ...headers, host: new URL(upstream.url).host, connection: 'close' },
      });
      far.on('response', resolve).on('error', reject);
      far.end(body);
    });
  }
}

/** Hands frames on in order, one after the other, each as its fault says. */
class FrameFeed {
  #swapped: Buffer | undefined;
  #over = false;

  constructor(
    readonly number: number,
    readonly stream: ProxiedStream,
    readonly response: ServerResponse,
    readonly faultOf: (frame: ProxiedFrame) => FrameFault | undefined,
  ) {}

  async pipe(source: IncomingMessage): Promise<void> {
    let rest = Buffer.alloc(0);
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        rest = Buffer.concat([rest, chunk]);
        for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
          await this.#pass(rest.subarray(0, end + 2));
          rest = rest.subarray(end + 2);
        }
      }
    } catch {
      // The runtime broke it off, or the client left: both end it.
    }
    if (this.#over) return;
    this.#flush();
    this.#send(rest);
    this.stream.open = false;
    this.response.end();
  }

  async #pass(bytes: Buffer): Promise<void> {
    if (this.#over) return;
    const { number, stream } = this;
    const isEvent = bytes[0] !== COLON;
    const frame = { stream: number, nth: stream.frames, offset: stream.bytes, bytes };
    if (isEvent) stream.frames += 1;
    const fault = isEvent ? this.faultOf(frame) : undefined;
    switch (fault?.kind) {
      case 'cut':
      case 'stall':
        this.#over = true;
        this.#flush();
        this.#send(bytes.subarray(0, fault.at), fault.kind === 'cut' ? stream.cut : undefined);
        return;
      case 'drop':
        this.stream.bytes += bytes.length;
        return;
      case 'duplicate':
        this.#send(Buffer.concat([bytes, bytes]));
        break;
      case 'swap':
        this.#flush();
        this.#swapped = bytes;
        setTimeout(() => {
          this.#flush();
        }, SWAP_WAIT_MS);
        return;
      case 'delay':
        await pause(fault.ms);
        this.#send(bytes);
        break;
      case undefined:
        this.#send(bytes);
    }
    this.#flush();
  }

  #flush(): void {
    const bytes = this.#swapped;
    this.#swapped = undefined;
    if (bytes !== undefined) this.#send(bytes);
  }

  #send(bytes: Buffer, then?: () => void): void {
    this.stream.bytes += bytes.length;
    if (bytes.length > 0 && !this.response.destroyed) this.response.write(bytes, then);
    else then?.();
  }
}

const COLON = ':'.charCodeAt(0);

const UNAUTHENTICATED = JSON.stringify({
  id: null,
  error: { code: -32030, name: 'unauthenticated', message: 'missing or unknown bearer token', operation: null },
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function refuse(response: ServerResponse, { status, retryAfter }: CallFault & { readonly kind: 'answer' }): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    connection: 'close',
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  });
  response.end(status === 401 ? UNAUTHENTICATED : '{"error":"not now"}');
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

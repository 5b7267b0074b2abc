/** The line between a client of ours and its peer, as a `fetch` that writes down every call and can be told to misbehave. */
import type { Fetch } from '../../src/services/http.js';
import { pause, type WireError, type WireEvent } from './wire.js';

export interface Call {
  /** `events`, or the name of the call without its prefix. */
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** What became of it so far: the HTTP status, the name of the runtime's refusal, or `fault`. */
  outcome: number | string | undefined;
}

type Answer = { result?: unknown; error?: { readonly name?: string } };

/** Returns another frame, or undefined to leave the frame out. */
type FrameRewriter = (frame: WireEvent) => WireEvent | undefined;

export class Line {
  readonly calls: Call[] = [];
  readonly #held = new Map<string, Promise<void>>();
  readonly #delayed = new Map<string, Promise<void>>();
  readonly #refused = new Map<string, WireError>();
  readonly #rewritten = new Map<string, (result: unknown) => unknown>();
  readonly #broken = new Set<string>();
  readonly #streams = new Set<AbortController>();
  #frames: FrameRewriter | undefined;
  #reading: Promise<void> = Promise.resolve();

  /** Names of the calls, in the order in which they were made. */
  get names(): readonly string[] {
    return this.calls.map(({ name }) => name);
  }

  count(name: string): number {
    return this.calls.filter((call) => call.name === name).length;
  }

  /** The runtime answers this call, and the answer waits on the line until released. */
  hold(name: string): () => void {
    return held(this.#held, name);
  }

  /** This call waits on the line until released, and reaches the runtime only then. */
  delay(name: string): () => void {
    return held(this.#delayed, name);
  }

  /** The runtime is not asked: this is answered in its place. */
  refuse(name: string, error: WireError): () => void {
    this.#refused.set(name, error);
    return () => this.#refused.delete(name);
  }

  rewrite(name: string, change: (result: unknown) => unknown): void {
    this.#rewritten.set(name, change);
  }

  /** What streams opened from now on bring. */
  rewriteFrames(change: FrameRewriter): void {
    this.#frames = change;
  }

  /** This call no longer gets through: the line breaks before it is sent. */
  break(name: string): () => void {
    this.#broken.add(name);
    return () => this.#broken.delete(name);
  }

  /** Breaks every open stream, without a word to either side. */
  cut(): void {
    for (const stream of [...this.#streams]) stream.abort(new Error('cut'));
  }

  /** Nothing more is read of the streams that are open now and later, until the line is resumed. */
  stall(): () => void {
    let resume = (): void => undefined;
    this.#reading = new Promise((resolve) => {
      resume = resolve;
    });
    return resume;
  }

  readonly fetch: Fetch = async (url, init) => {
    const body = typeof init.body === 'object' && init.body instanceof Uint8Array ? init.body : undefined;
    const asked = body && (JSON.parse(new TextDecoder().decode(body)) as { method: string; params?: object });
    const name = asked?.method.replace('frontend.v2.', '') ?? url.pathname.split('/').at(-1) ?? '';
    const headers = init.headers as Record<string, string>;
    const call: Call = { name, params: { ...asked?.params }, headers, outcome: undefined };
    this.calls.push(call);
    try {
      if (this.#broken.has(name)) throw new TypeError('broken line');
      const response = name === 'events' ? await this.#open(url, init) : await this.#ask(name, call, url, init);
      call.outcome ??= response.status;
      return response;
    } catch (error) {
      call.outcome = 'fault';
      throw error;
    }
  };

  async #ask(name: string, call: Call, url: URL, init: RequestInit): Promise<Response> {
    await this.#delayed.get(name);
    const refusal = this.#refused.get(name);
    if (refusal !== undefined) {
      call.outcome = refusal.name;
      return Response.json({ id: null, error: refusal });
    }
    const response = await fetch(url, init);
    const text = await response.text();
    await this.#held.get(name);
    const { status } = response;
    if (status !== 200) return new Response(text, { status, headers: response.headers });
    const answer = JSON.parse(text) as Answer;
    if (answer.error !== undefined) call.outcome = answer.error.name ?? 'error';
    const change = this.#rewritten.get(name);
    const said = change && answer.result !== undefined ? { ...answer, result: change(answer.result) } : answer;
    return new Response(JSON.stringify(said), { status, headers: { 'content-type': 'application/json' } });
  }

  async #open(url: URL, init: RequestInit): Promise<Response> {
    const cutting = new AbortController();
    const signal = init.signal ? AbortSignal.any([init.signal, cutting.signal]) : cutting.signal;
    const response = await fetch(url, { ...init, signal });
    if (response.status !== 200 || response.body === null) return response;
    this.#streams.add(cutting);
    const { status, headers } = response;
    return new Response(this.#watched(response.body, signal, cutting), { status, headers });
  }

  #watched(body: ReadableStream<Uint8Array>, signal: AbortSignal, key: AbortController): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    const rewriter = this.#frames && new FrameRewriting(this.#frames);
    const end = (): void => {
      this.#streams.delete(key);
    };
    signal.addEventListener('abort', end, { once: true });
    return new ReadableStream(
      {
        pull: async (controller) => {
          await this.#reading;
          try {
            const { done, value } = await reader.read();
            if (!done) {
              controller.enqueue(rewriter ? rewriter.feed(value) : value);
              return;
            }
            end();
            controller.close();
          } catch (error) {
            end();
            controller.error(error);
          }
        },
        cancel: async () => {
          end();
          await reader.cancel();
        },
      },
      { highWaterMark: 0 },
    );
  }
}

function held(where: Map<string, Promise<void>>, name: string): () => void {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = () => {
      where.delete(name);
      resolve();
    };
  });
  where.set(name, released);
  return release;
}

class FrameRewriting {
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(readonly change: FrameRewriter) {}

  feed(bytes: Uint8Array): Uint8Array {
    const blocks = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return new TextEncoder().encode(blocks.map((block) => this.#rewrite(block)).join(''));
  }

  #rewrite(block: string): string {
    if (!block.startsWith('data: ')) return `${block}\n\n`;
    const frame = this.change(JSON.parse(block.slice('data: '.length)) as WireEvent);
    return frame === undefined ? '' : `data: ${JSON.stringify(frame)}\n\n`;
  }
}

/** Polls: what is waited for may come from outside the store. */
export async function soon(what: string, holds: () => boolean, withinMs = 15_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
    await pause(10);
  }
}

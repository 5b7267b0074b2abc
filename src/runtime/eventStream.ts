import type { ServerResponse } from 'node:http';
import type { Session } from './session.js';
import type { FrontendEvent } from './wire.js';

const MAX_EVENTS_BEHIND = 1024;

/** One client's event stream (§6.1). Subscribed before its header is written, so that nothing in between is lost. */
export class EventStream {
  /** Events that wait for the socket; empty as long as the consumer keeps up. */
  #waiting: FrontendEvent[] = [];
  #blocked = false;
  #ended = false;
  readonly #unsubscribe: () => void;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(
    readonly response: ServerResponse,
    session: Session,
    keepAliveMs: number,
    readonly onEnd: () => void,
  ) {
    this.#unsubscribe = session.subscribe((event) => {
      this.#send(event);
    });
    this.#keepAlive = setInterval(() => {
      if (!this.#blocked) this.#write(': keep-alive\n\n');
    }, keepAliveMs);
    response.on('drain', () => {
      this.#drain();
    });
    response.on('close', () => {
      this.#finish();
    });
    response.on('error', () => {
      this.#finish();
    });
    // Read to the end of the connection: neither a length nor chunks (§6.1).
    response.removeHeader('Transfer-Encoding');
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      Connection: 'close',
    });
    response.flushHeaders();
  }

  /** Ends the stream after everything that was published. */
  end(): void {
    const { response } = this;
    if (!this.#finish()) return;
    for (const event of this.#waiting) response.write(frame(event));
    this.#waiting = [];
    response.end();
  }

  #send(event: FrontendEvent): void {
    if (!this.#blocked) this.#write(frame(event));
    else if (this.#waiting.push(event) > MAX_EVENTS_BEHIND) this.#giveUp();
  }

  #drain(): void {
    if (this.#ended) return;
    const waited = this.#waiting;
    this.#waiting = [];
    this.#blocked = false;
    for (const event of waited) this.#send(event);
  }

  #write(text: string): void {
    this.#blocked = !this.response.write(text);
  }

  /** A consumer that is too far behind is let go without a word; what it got is contiguous (§6.4). */
  #giveUp(): void {
    this.#waiting = [];
    this.end();
  }

  #finish(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#unsubscribe();
    clearInterval(this.#keepAlive);
    this.onEnd();
    return true;
  }
}

const frame = (event: FrontendEvent): string => `data: ${JSON.stringify(event)}\n\n`;

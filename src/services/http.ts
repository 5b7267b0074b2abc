import { cutAtCodePoint } from '../protocol/bounded.js';
import { CredentialRefused, RuntimeRefusal, TransportFault } from '../protocol/refusal.js';

const MESSAGE_LIMIT = 2000;
const LONGEST_WAIT_MS = 3_600_000;

/** Node's `fetch` or one that behaves like it: redirects are not followed, a signal ends the body too. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/**
 * Runs one exchange and gives it `timeoutMs` for all of it, bodies included. Whatever goes wrong comes out as one of our
 * named errors (`named` makes them of others), and the socket is given up.
 */
export async function exchange<T>(
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
  named: (error: unknown) => Error = asNamedError,
  peer = 'runtime',
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new TransportFault('timeout', `The ${peer} did not answer within ${timeoutMs / 1000} s.`));
  }, timeoutMs);
  try {
    return await run(controller.signal);
  } catch (error) {
    const why: unknown = controller.signal.aborted ? controller.signal.reason : error;
    controller.abort();
    throw named(why);
  } finally {
    clearTimeout(timer);
  }
}

/** An answer that says beforehand that it is larger than what is read. */
export class AnswerTooLarge extends TransportFault {}

/** The body as text. Over `limit` bytes (counted as they come, decompressed) reading stops with a `TransportFault`. */
export async function boundedText(response: Response, limit: number): Promise<string> {
  if (response.body === null) return '';
  const body: ReadableStream<Uint8Array> = response.body;
  if (Number(response.headers.get('content-length') ?? 0) > limit) {
    body.cancel().catch(() => undefined);
    throw new AnswerTooLarge('protocol', `The answer is larger than ${limit} bytes; it was not read.`);
  }
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let room = limit;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    room -= read.value.byteLength;
    if (room < 0) {
      reader.cancel().catch(() => undefined);
      throw new TransportFault('protocol', `The answer is larger than ${limit} bytes; the rest was not read.`);
    }
    pieces.push(decoder.decode(read.value, { stream: true }));
  }
  pieces.push(decoder.decode());
  return pieces.join('');
}

/** What `Retry-After` asks, in ms: seconds or a date; undefined where it says nothing usable. */
export function retryAfterMs(response: Response, now: number): number | undefined {
  const header = response.headers.get('retry-after')?.trim() ?? '';
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), LONGEST_WAIT_MS);
}

/** A peer's own words, fit to be shown and logged: bounded, and without the secret should it repeat it. */
export function quotable(text: string, secret: string): string {
  return cutAtCodePoint(text.replaceAll(secret, '[credential]'), MESSAGE_LIMIT);
}

function asNamedError(error: unknown): Error {
  if (error instanceof RuntimeRefusal || error instanceof TransportFault || error instanceof CredentialRefused) {
    return error;
  }
  // Foreign messages may repeat headers; a system's error code cannot.
  const code = networkCode(error);
  if (code === 'ECONNREFUSED') {
    return new TransportFault(
      'network',
      'Nothing listens at the address of the runtime (ECONNREFUSED). Is it still running?',
    );
  }
  return new TransportFault('network', `The line to the runtime broke${code === undefined ? '' : ` (${code})`}.`);
}

/** The system's code of what broke a line; undefined where there is none. */
export function networkCode(error: unknown): string | undefined {
  return codeOf(error) ?? codeOf(error instanceof Error ? error.cause : undefined);
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' && /^[A-Z][A-Z0-9_]{1,39}$/.test(error.code) ? error.code : undefined;
}

import * as v from 'valibot';
import { isClientId } from '../protocol/handover.js';
import {
  acceptedSchema,
  descriptorSchema,
  interruptedSchema,
  leaseSchema,
  queuedSchema,
  SNAPSHOT_MESSAGES,
  snapshotSchema,
  type Snapshot,
  toRefusal,
} from '../protocol/frontend-v2.js';
import { CredentialRefused, RuntimeRefusal, TransportFault } from '../protocol/refusal.js';
import { readEvents } from './events.js';
import { AnswerTooLarge, boundedText, exchange, quotable, retryAfterMs, type Fetch } from './http.js';
import { checkedBaseUrl } from './loopback.js';
import type { ConnectionTarget, CredentialReference, EventStream, RuntimeClient } from './services.js';

const MIB = 1024 * 1024;
/** The runtime closes the connection without a word on a larger body (§2.3). */
const REQUEST_LIMIT = 16 * MIB;
const ANSWER_LIMIT = MIB;
const SNAPSHOT_LIMIT = 64 * MIB;

/** Each in ms, for the whole exchange; `open` until the stream's headers are there. */
export interface RuntimeTimeouts {
  readonly call: number;
  readonly prompt: number;
  readonly attach: number;
  readonly open: number;
}

const TIMEOUTS: RuntimeTimeouts = { call: 30_000, prompt: 60_000, attach: 60_000, open: 30_000 };

export interface RuntimeClientOptions {
  readonly target: ConnectionTarget;
  /** Rejects with `CredentialRefused`. Asked at the first call; the answer is kept for the life of the client. */
  readonly readCredential: (reference: CredentialReference) => Promise<string>;
  readonly fetch?: Fetch;
  /** Epoch ms, for a `Retry-After` that is a date. */
  readonly wall?: () => number;
  readonly timeouts?: Partial<RuntimeTimeouts>;
}

interface Door {
  readonly base: URL;
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Bounds {
  readonly timeoutMs: number;
  readonly limit: number;
}

/** The calls of the runtime at `target`, over HTTP on this machine. Nothing is sent before the first call. */
export function createRuntimeClient(options: RuntimeClientOptions): RuntimeClient {
  const { target, readCredential } = options;
  const send: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  const wall = options.wall ?? (() => Date.now());
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const usual: Bounds = { timeoutMs: timeouts.call, limit: ANSWER_LIMIT };
  let nextId = 1;
  let known: Promise<Door> | undefined;

  const door = (): Promise<Door> => {
    known ??= openDoor(target, readCredential).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };

  const call = async <T>(
    method: string,
    schema: v.GenericSchema<unknown, T>,
    params: object = {},
    { timeoutMs, limit }: Bounds = usual,
  ): Promise<T> => {
    const id = nextId++;
    const body = new TextEncoder().encode(JSON.stringify({ id, method: `frontend.v2.${method}`, params }));
    if (body.byteLength > REQUEST_LIMIT) throw tooLarge(method);
    const { base, token, headers } = await door();
    return exchange(timeoutMs, async (signal) => {
      const response = await send(new URL('/rpc', base), {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        redirect: 'manual',
        signal,
      });
      if (response.status !== 200) throw await statusError(response, token, wall());
      return resultOf(method, id, schema, await boundedText(response, limit), token);
    });
  };

  /** Pictures and tools make messages of megabytes: a conversation whose last ones fit can be opened all the same. */
  const attach = async (): Promise<Snapshot> => {
    let tooLarge: unknown;
    for (const limit of SNAPSHOT_MESSAGES) {
      try {
        return await call('attach', snapshotSchema, { limit }, { timeoutMs: timeouts.attach, limit: SNAPSHOT_LIMIT });
      } catch (error) {
        if (!(error instanceof AnswerTooLarge)) throw error;
        tooLarge = error;
      }
    }
    throw tooLarge;
  };

  const openEvents = async (): Promise<EventStream> => {
    const { base, token, headers } = await door();
    return exchange(timeouts.open, async (signal) => {
      const response = await send(new URL('/frontend/events', base), {
        headers: { ...headers, accept: 'text/event-stream' },
        redirect: 'manual',
        signal,
      });
      if (response.status !== 200) throw await statusError(response, token, wall());
      const type = response.headers.get('content-type') ?? '';
      if (!/^text\/event-stream *(;|$)/i.test(type) || response.body === null) {
        throw new TransportFault('protocol', 'What answers at this address sent no event stream: it is no runtime.');
      }
      return readEvents(response.body);
    });
  };

  return {
    clientId: target.clientId,
    openEvents,
    describe: () => call('describe', descriptorSchema),
    attach,
    sendInput: async (prompt, imageUrls = []) => {
      const params = imageUrls.length === 0 ? { prompt } : { prompt, image_urls: imageUrls };
      await call('send_input', acceptedSchema, params, { ...usual, timeoutMs: timeouts.prompt });
    },
    interrupt: async () => (await call('interrupt', interruptedSchema)).interrupted,
    steer: async (prompt) => {
      await call('steer', queuedSchema, { prompt }, { ...usual, timeoutMs: timeouts.prompt });
    },
    respond: async (answer) => {
      await call('respond', acceptedSchema, { response: answer });
    },
    lease: () => call('lease', leaseSchema),
    acquireControl: () => call('acquire_control', leaseSchema),
    takeControl: () => call('take_control', leaseSchema),
    heartbeat: () => call('heartbeat', leaseSchema),
    detach: () => call('detach', leaseSchema),
  };
}

async function openDoor(
  target: ConnectionTarget,
  readCredential: RuntimeClientOptions['readCredential'],
): Promise<Door> {
  const base = checkedBaseUrl(target.baseUrl);
  if (!isClientId(target.clientId)) {
    throw new CredentialRefused('A client id is 1 to 128 characters of A–Z, a–z, 0–9, ".", "_" and "-".');
  }
  const token = await credentialOf(target.credential, readCredential);
  return {
    base,
    token,
    headers: {
      authorization: `Bearer ${token}`,
      'x-supercode-client-id': target.clientId,
      // A reused connection costs 44 ms a call on Linux: the runtime writes without TCP_NODELAY (§2.3).
      connection: 'close',
      ...(target.permissions === null ? {} : { 'x-supercode-permissions': target.permissions.join(',') }),
    },
  };
}

async function credentialOf(
  reference: CredentialReference,
  readCredential: RuntimeClientOptions['readCredential'],
): Promise<string> {
  let token: string;
  try {
    token = await readCredential(reference);
  } catch (error) {
    // A foreign error may say what it read.
    throw error instanceof CredentialRefused ? error : new CredentialRefused('The credential could not be read.');
  }
  // `fetch` would refuse such a header too, and would quote it.
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) {
    throw new CredentialRefused('The credential is not one word of printable ASCII: ask for a new handover.');
  }
  return token;
}

function resultOf<T>(method: string, id: number, schema: v.GenericSchema<unknown, T>, text: string, token: string): T {
  const answer = objectIn(text);
  if (answer === undefined) {
    throw new TransportFault(
      'protocol',
      `What answers at this address is no runtime: its answer to ${method} is no JSON.`,
    );
  }
  const { id: echoed, result, error } = answer;
  if (error !== undefined && result === undefined && (echoed === id || echoed === null)) {
    throw refusalOf(error, token);
  }
  if (echoed !== id) throw new TransportFault('protocol', `The answer to ${method} belongs to another call.`);
  if ((error === undefined) === (result === undefined)) {
    throw new TransportFault('protocol', `The answer to ${method} says neither yes nor no.`);
  }
  const parsed = v.safeParse(schema, result);
  if (parsed.success) return parsed.output;
  const where = v.getDotPath(parsed.issues[0]) ?? 'its top';
  throw new TransportFault('protocol', `The answer to ${method} does not fit frontend.v2 (at ${where}).`);
}

/** An answer without a result: what the HTTP status says, in words that say what to do. */
async function statusError(response: Response, token: string, now: number): Promise<Error> {
  const { status } = response;
  if (status === 429 || status === 503) {
    return new TransportFault('http', `The runtime has no time now (HTTP ${status}).`, retryAfterMs(response, now));
  }
  if (status === 401) {
    return new RuntimeRefusal({
      reason: 'unauthenticated',
      message:
        'The runtime does not know this credential: it was revoked, or the runtime has restarted. Connect again to get a new one.',
    });
  }
  if (status === 400 || status === 403) {
    const said = objectIn(await boundedText(response, ANSWER_LIMIT))?.['error'];
    const refused = refusedHeader(status, said);
    if (refused !== undefined) return new RuntimeRefusal(cleaned(refused, token));
  }
  return new TransportFault('protocol', `What answers at this address is no runtime: it said HTTP ${status}.`);
}

/** A refused header or door. A hosted runtime says it in a 400 with one of two fixed sentences (§1). */
function refusedHeader(status: number, said: unknown): Refused | undefined {
  if (status === 400) {
    if (said === 'invalid runtime client id') return headerRefusal('client_id');
    if (said === 'invalid runtime authorization grant') return headerRefusal('authorization');
    return undefined;
  }
  return headerRefusal(toRefusal(said).permission);
}

type Refused = RuntimeRefusal['refusal'];

function headerRefusal(permission: string | undefined): Refused {
  return {
    reason: 'unauthorized',
    message: adviceFor(permission),
    ...(permission === undefined ? {} : { permission }),
  };
}

function adviceFor(permission: string | undefined): string {
  switch (permission) {
    case 'client_id':
      return 'The runtime refused the client id. A minted credential works only with the client id that it was made for: connect with both from the same handover.';
    case 'authorization':
      return 'The runtime refused the list of permissions. It may name only observe, interact, approve and terminate: connect with the list from the handover.';
    case undefined:
      return 'The runtime refused this client. Connect again with a new handover.';
    default:
      return `The credential does not grant "${permission}". Connect with a handover that does.`;
  }
}

function refusalOf(error: unknown, token: string): RuntimeRefusal {
  return new RuntimeRefusal(cleaned(toRefusal(error), token));
}

function cleaned(refusal: Refused, token: string): Refused {
  const { permission, holder } = refusal;
  return {
    reason: refusal.reason,
    message: quotable(refusal.message, token),
    ...(permission === undefined ? {} : { permission: quotable(permission, token) }),
    ...(holder === undefined ? {} : { holder: quotable(holder, token) }),
  };
}

function tooLarge(method: string): RuntimeRefusal {
  return new RuntimeRefusal({
    reason: 'invalid_argument',
    message: `The call ${method} is larger than the 16 MiB that the runtime takes, so it was not sent. Send less text or fewer images.`,
  });
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

import * as v from 'valibot';
import {
  hostSnapshotSchema,
  openedSchema,
  setupStepSchema,
  type HostSnapshot,
  type OpenedConversation,
  type Selection,
  type SetupKind,
  type SetupStep,
} from '../protocol/host.js';
import { HostGone, HostRefused } from '../protocol/hostRefusal.js';
import { CredentialRefused, TransportFault } from '../protocol/refusal.js';
import { boundedText, exchange, networkCode, quotable, type Fetch } from './http.js';
import { checkedBaseUrl } from './loopback.js';

/**
 * The doors of a lifecycle host. Each rejects with a `HostRefused` (it said no, in words for people), a `HostGone` (it is
 * no more), a `TransportFault` (no news; of a mutation, its fate is unknown) or, before anything is sent, a
 * `CredentialRefused`. Source: host-controls §2, §4–§8.
 */
export interface HostClient {
  /** May take as long as the start of a harness, which it may be what makes it start. */
  state(): Promise<HostSnapshot>;
  /** Starts a new conversation. */
  select(selection: Selection): Promise<HostSnapshot>;
  /** Resumes exactly this conversation. */
  open(id: string): Promise<OpenedConversation>;
  /** Binds a conversation to the harness's own session. */
  remember(id: string, nativeId: string): Promise<HostSnapshot>;
  /** The exact command of one step of the setup. */
  setup(kind: SetupKind, harness: string): Promise<SetupStep>;
}

/** Each in ms, for the whole exchange: `start` where a harness may have to start first. */
export interface HostTimeouts {
  readonly start: number;
  readonly call: number;
}

export interface HostClientOptions {
  /** `http://127.0.0.1:<port>`, as handed over. */
  readonly baseUrl: string;
  /** Rejects with `CredentialRefused`. Asked at the first call; the answer is kept for the life of the client. */
  readonly readCredential: () => Promise<string>;
  readonly fetch?: Fetch;
  readonly timeouts?: Partial<HostTimeouts>;
}

interface Door {
  readonly base: URL;
  readonly token: string;
}

type Path = '/state' | '/select' | '/open' | '/remember' | '/setup';

const TIMEOUTS: HostTimeouts = { start: 200_000, call: 60_000 };
/** UTF-16 units of a request. The host counts so, and stops reading there without an answer. */
const REQUEST_LIMIT = 4096;
/** Bytes. A catalogue of years has some thousand rows; `/open` adds 120 messages of 16 000 characters. */
const ANSWER_LIMIT = 16 * 1024 * 1024;

/** The calls of the host at `baseUrl`, over HTTP on this machine. Nothing is sent before the first call. */
export function createHostClient(options: HostClientOptions): HostClient {
  const send: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  const { start, call } = { ...TIMEOUTS, ...options.timeouts };
  let known: Promise<Door> | undefined;

  const door = (): Promise<Door> => {
    known ??= openDoor(options).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };

  const ask = async (path: Path, timeoutMs: number, request?: object): Promise<unknown> => {
    const body = request === undefined ? undefined : JSON.stringify(request);
    if (body !== undefined && body.length > REQUEST_LIMIT) {
      throw new HostRefused('That is longer than the host takes, so it was not sent.');
    }
    const { base, token } = await door();
    const exchanged = async (signal: AbortSignal) => {
      const response = await send(new URL(path, base), {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          // A host that stops reading resets the next request on the connection as well.
          connection: 'close',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
        redirect: 'manual',
        signal,
      });
      return answerIn(response.status, await boundedText(response, ANSWER_LIMIT), path, token);
    };
    return exchange(timeoutMs, exchanged, (error) => named(error, path !== '/state'), 'host');
  };

  const snapshotOf = async (path: Path, timeoutMs: number, request?: object) =>
    read(path, hostSnapshotSchema, await ask(path, timeoutMs, request));

  return {
    state: () => snapshotOf('/state', start),
    select: ({ harness, model, effort }) => snapshotOf('/select', start, { harness, model, effort }),
    open: async (id) => {
      const answer = await ask('/open', start, { id });
      return { snapshot: read('/open', hostSnapshotSchema, answer), ...read('/open', openedSchema, answer) };
    },
    remember: (id, nativeId) => snapshotOf('/remember', call, { id, nativeId }),
    setup: async (kind, harness) => read('/setup', setupStepSchema, await ask('/setup', call, { kind, harness })),
  };
}

async function openDoor({ baseUrl, readCredential }: HostClientOptions): Promise<Door> {
  const base = checkedBaseUrl(baseUrl, 'host');
  let token: string;
  try {
    token = await readCredential();
  } catch (error) {
    // A foreign error may say what it read.
    throw error instanceof CredentialRefused ? error : new CredentialRefused('The credential could not be read.');
  }
  if (!/^[0-9a-f]{64}$/.test(token)) {
    throw new CredentialRefused('The credential of the host is not 64 lower-case hexadecimal digits.');
  }
  return { base, token };
}

function answerIn(status: number, text: string, path: Path, token: string): unknown {
  if (status === 401 || status === 403) {
    throw new HostGone('The host does not know this window’s credential: it has ended, or it was started anew.');
  }
  const answer = jsonIn(text);
  if (status === 400) {
    const said = typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : undefined;
    throw new HostRefused(
      typeof said === 'string' && said.trim() !== ''
        ? quotable(said, token)
        : 'The host refused this without saying why.',
    );
  }
  if (status !== 200) throw new TransportFault('protocol', `What answers as the host is none: it said HTTP ${status}.`);
  if (answer === undefined) throw new TransportFault('protocol', `The answer of the host to ${path} is no JSON.`);
  return answer;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function read<T>(path: Path, schema: v.GenericSchema<unknown, T>, answer: unknown): T {
  const parsed = v.safeParse(schema, answer);
  if (parsed.success) return parsed.output;
  const where = v.getDotPath(parsed.issues[0]) ?? 'its top';
  throw new TransportFault('protocol', `The answer of the host to ${path} can’t be read (at ${where}).`);
}

function named(error: unknown, isMutation: boolean): Error {
  const known = [HostRefused, HostGone, TransportFault, CredentialRefused];
  if (error instanceof Error && known.some((kind) => error instanceof kind)) return error;
  // Foreign messages may repeat headers; a system's error code cannot.
  const code = networkCode(error);
  if (code === 'ECONNREFUSED') return new HostGone('The host has ended: nothing listens at its address any more.');
  const why = `The line to the host broke${code === undefined ? '' : ` (${code})`}.`;
  // A host that refuses for length resets the socket, so this is no sign that it has ended.
  return isMutation
    ? new HostRefused(`${why} Nothing is known to have come of this.`)
    : new TransportFault('network', why);
}

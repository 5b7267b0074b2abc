/** A whole client of ours (store, sagas, selectors, HTTP) attached to a peer, with what a person does and sees. */
import { createHash } from 'node:crypto';
import type { UnknownAction } from '@reduxjs/toolkit';
import { expect } from 'vitest';
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { createApp, type App } from '../../src/sagas/app.js';
import type { Timings } from '../../src/sagas/timings.js';
import { selectHistoryTurns } from '../../src/selectors/historyTurns.js';
import { selectNewParts, startCursor, type PartCursor } from '../../src/selectors/newParts.js';
import type { ChatPart, RequestPart } from '../../src/selectors/parts.js';
import { selectEndedTurn, selectTurn } from '../../src/selectors/turn.js';
import { nodeServices } from '../../src/services/node/services.js';
import { createRuntimeClient, type RuntimeTimeouts } from '../../src/services/runtime.js';
import type { Permission, Services } from '../../src/services/services.js';
import { canonicalJson } from '../../src/store/canonical.js';
import { closeRequested, opened, type Connection } from '../../src/store/connections.js';
import { isEventReceived } from '../../src/store/events.js';
import { policyChosen, type Policy } from '../../src/store/permissions.js';
import { createRecorder, type LogRecord } from '../../src/store/recorder.js';
import { replay } from '../../src/store/replay.js';
import { answerRequested } from '../../src/store/requests.js';
import type { RootState } from '../../src/store/state.js';
import { EMPTY_TRANSCRIPT, endOf, entryAt, type Transcript } from '../../src/store/transcript.js';
import { interruptRequested, submitRequested, type EndedTurn, type Turn, type TurnId } from '../../src/store/turn.js';
import { Line } from './clientLine.js';

export interface ClientOptions {
  readonly url: string;
  readonly token: string;
  readonly clientId: string;
  readonly permissions?: readonly Permission[] | null;
  readonly timings?: Partial<Timings>;
  readonly timeouts?: Partial<RuntimeTimeouts>;
  /** The checks of every action and state cost too much for a turn of thousands of events. */
  readonly checks?: boolean;
}

const CONNECTION = 'c';
const WAIT_MS = 15_000;
const MINE: readonly Permission[] = ['observe', 'interact', 'approve'];

export class Client {
  readonly app: App;
  readonly line = new Line();
  readonly logged: string[] = [];
  /** Every action so far, in the order in which the reducer saw them, as the log has them. */
  readonly actions: UnknownAction[] = [];
  /** Everything that was read piece by piece, as an editor would read it. */
  readonly pieces: ChatPart[] = [];
  readonly #log: string[] = [];
  readonly #options: ClientOptions;
  readonly #stopRecording: () => void;
  readonly #secrets = new Map<string, string>();
  #cursor: PartCursor;
  #turns = 0;
  #handovers = 0;

  /** Not attached yet: see `open`. */
  constructor(options: ClientOptions) {
    this.#options = options;
    const recorder = createRecorder({
      product: 'test',
      version: '0',
      wall: () => Date.now(),
      hash: (text) => createHash('sha256').update(text).digest('hex'),
      onFailure: (error) => {
        throw error;
      },
    });
    const services = this.#services();
    const { timings = {}, checks = true } = options;
    this.app = createApp({ services, recorder: recorder.enhancer, checks, timings });
    recorder.start({
      write: (line) => {
        this.#log.push(line);
        const { action } = JSON.parse(line) as Partial<LogRecord>;
        if (action !== undefined) this.actions.push(action);
      },
    });
    this.#stopRecording = () => {
      recorder.stop();
    };
    this.#cursor = startCursor(this.state, CONNECTION);
    this.app.subscribe(() => {
      this.#read();
    });
  }

  get state(): RootState {
    return this.app.getState();
  }

  get connection(): Connection | undefined {
    return this.state.connections[CONNECTION];
  }

  get phase(): string | undefined {
    return this.connection?.phase.name;
  }

  get turn(): Turn {
    return selectTurn(this.state, CONNECTION);
  }

  get ends(): readonly EndedTurn[] {
    return this.state.turn[CONNECTION]?.ended ?? [];
  }

  get lease() {
    return this.state.lease[CONNECTION];
  }

  get cursor(): number {
    return this.state.transcript[CONNECTION]?.cursor ?? 0;
  }

  /** What the stream brought, repeats included. */
  get events(): readonly RuntimeEvent[] {
    return this.actions.filter(isEventReceived).map(({ payload }) => payload);
  }

  /** Hands the runtime over (again), at the same place or at another. */
  open(place: { readonly url?: string; readonly token?: string } = {}): void {
    const { clientId, permissions = MINE } = this.#options;
    const key = `handover-${++this.#handovers}`;
    this.#secrets.set(key, place.token ?? this.#options.token);
    const credential = { kind: 'secret', key } as const;
    const target = { baseUrl: place.url ?? this.#options.url, clientId, credential, permissions };
    this.app.dispatch(opened({ connection: CONNECTION, origin: 'api', target }));
  }

  async attach(place: { readonly url?: string; readonly token?: string } = {}): Promise<this> {
    this.open(place);
    return this.attached();
  }

  async attached(): Promise<this> {
    await this.until('attached', () => this.phase === 'attached');
    return this;
  }

  async inControl(): Promise<this> {
    await this.until('control', () => this.lease?.phase === 'controlling');
    return this;
  }

  leave(): void {
    this.app.dispatch(closeRequested({ connection: CONNECTION }));
  }

  submit(prompt: string): TurnId {
    const turnId = `turn-${++this.#turns}`;
    this.app.dispatch(submitRequested({ connection: CONNECTION, turnId, prompt, at: Date.now() }));
    return turnId;
  }

  stop(turnId: TurnId = this.turn.phase === 'idle' ? '' : this.turn.turnId): void {
    this.app.dispatch(interruptRequested({ connection: CONNECTION, turnId, at: Date.now() }));
  }

  policy(policy: Policy): void {
    this.app.dispatch(policyChosen({ connection: CONNECTION, policy }));
  }

  /** Answers with the choice of that label, as a press of its button would. */
  answer(request: RequestPart, label: string, content?: RequestAnswerContent): void {
    const choice = request.answers.find((answer) => answer.label === label);
    if (!choice) throw new Error(`no answer "${label}" among ${request.answers.map((each) => each.label).join(', ')}`);
    const { response } = choice;
    const answer = response.kind === 'approval' || content === undefined ? response : { ...response, content };
    this.app.dispatch(answerRequested({ connection: CONNECTION, answer, label, by: 'person' }));
  }

  async run(prompt: string, withinMs = WAIT_MS): Promise<EndedTurn> {
    return this.ended(this.submit(prompt), withinMs);
  }

  async ended(turnId: TurnId, withinMs = WAIT_MS): Promise<EndedTurn> {
    await this.until(`end of ${turnId}`, () => selectEndedTurn(this.state, CONNECTION, turnId) !== undefined, withinMs);
    const ends = this.ends.filter((end) => end.turnId === turnId);
    expect(ends).toHaveLength(1);
    return ends[0] as EndedTurn;
  }

  /** The first request that can be answered now. */
  async request(): Promise<RequestPart> {
    await this.until('a request', () => this.waiting().length > 0);
    return this.waiting()[0] as RequestPart;
  }

  /** Those that can be answered now. */
  waiting(): readonly RequestPart[] {
    return this.requests().filter(({ answers }) => answers.length > 0);
  }

  requests(): readonly RequestPart[] {
    return this.parts().filter((part) => part.kind === 'request');
  }

  /** Everything since the attachment began, as it looks now. */
  parts(): readonly ChatPart[] {
    return selectNewParts(this.state, CONNECTION, startCursor(this.state, CONNECTION)).parts;
  }

  kinds(): readonly ChatPart['kind'][] {
    return this.parts().map(({ kind }) => kind);
  }

  /** The conversation as a restored chat shows it: prompts, each with its answer's text. */
  conversation(): readonly { readonly prompt: string | null; readonly text: string }[] {
    return selectHistoryTurns(this.state, CONNECTION).map(({ prompt, parts }) => ({ prompt, text: textIn(parts) }));
  }

  /** The assistant's text in the newest turn with that prompt. */
  text(prompt: string): string | undefined {
    return this.conversation().findLast((turn) => turn.prompt === prompt)?.text;
  }

  async until(what: string, holds: () => boolean, withinMs = WAIT_MS): Promise<void> {
    if (holds()) return;
    let leave = (): void => undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        leave = this.app.subscribe(() => {
          // The recorder writes an action down after subscribers have heard of it.
          queueMicrotask(() => {
            if (holds()) resolve();
          });
        });
        timer = setTimeout(() => {
          reject(new Error(`${what}: not within ${withinMs} ms\n${this.account()}`));
        }, withinMs);
      });
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  /** What happened here, for the message of a test that failed. */
  account(): string {
    const actions = this.actions.map((action) => (isEventReceived(action) ? briefEvent(action) : action.type));
    return [
      `connection ${JSON.stringify(this.connection?.phase)} turn ${JSON.stringify(this.turn)}`,
      `calls: ${this.line.calls.map(({ name, outcome }) => `${name}:${outcome ?? '…'}`).join(' ')}`,
      `actions: ${actions.slice(-80).join(' ')}`,
      ...this.logged,
    ].join('\n');
  }

  /**
   * Ends the client and checks what must hold of every one: no saga crashed, each request was drawn once, what was read
   * piece by piece is what is read at once, and the log replays to the same state.
   */
  async close(): Promise<void> {
    await this.app.stop();
    this.#read();
    this.#stopRecording();
    expect(this.actions.filter(({ type }) => type === 'saga/crashed')).toEqual([]);
    const whole = this.parts();
    const asked = requestsIn(this.state.transcript[CONNECTION] ?? EMPTY_TRANSCRIPT);
    expect(asked).toEqual([...new Set(asked)]);
    expect(digest(this.pieces)).toEqual(digest(whole));
    const replayed = replay(this.#log);
    expect(replayed.damage).toEqual([]);
    expect(canonicalJson(replayed.state)).toBe(canonicalJson(this.state));
    expect(replayed.recordedHash).toBe(createHash('sha256').update(canonicalJson(replayed.state)).digest('hex'));
  }

  #read(): void {
    const generation = this.state.transcript[CONNECTION]?.generation ?? 0;
    if (generation !== this.#cursor.generation) {
      this.#cursor = startCursor(this.state, CONNECTION);
      this.pieces.length = 0;
    }
    const { parts, cursor } = selectNewParts(this.state, CONNECTION, this.#cursor);
    this.#cursor = cursor;
    this.pieces.push(...parts);
  }

  #services(): Services {
    const { timeouts } = this.#options;
    const secrets = (key: string) => Promise.resolve(this.#secrets.get(key));
    const { fetch } = this.line;
    const node = nodeServices({ log: (line) => this.logged.push(line), secrets, fetch });
    if (!timeouts) return node;
    const readCredential = async (reference: { readonly kind: string; readonly key?: string }) =>
      (await secrets(reference.key ?? '')) ?? '';
    return { ...node, runtime: (target) => createRuntimeClient({ target, readCredential, fetch, timeouts }) };
  }
}

type RequestAnswerContent = { readonly [name: string]: string | readonly string[] };

function textIn(parts: readonly ChatPart[]): string {
  return parts.map((part) => (part.kind === 'markdown' ? part.text : '')).join('');
}

function briefEvent({ payload }: { readonly payload: { readonly sequence: number; readonly kind: string } }): string {
  return `${payload.sequence}:${payload.kind}`;
}

/** The requests that are drawn: an id means something within one process of the runtime only. */
function requestsIn(transcript: Transcript): readonly string[] {
  return Array.from({ length: endOf(transcript) }, (_, at) => entryAt(transcript, at)).flatMap((entry) =>
    entry?.kind === 'event' && entry.event.kind === 'request' ? [`${entry.epoch}/${entry.event.request.id}`] : [],
  );
}

/** Each part by its id: text as far as it was read, a call as it was read last. */
function digest(parts: readonly ChatPart[]): Readonly<Record<string, unknown>> {
  const digests: Record<string, unknown> = {};
  for (const part of parts) {
    const { id, kind } = part;
    if (kind === 'markdown' || kind === 'thinking') {
      const before = digests[id];
      digests[id] = `${typeof before === 'string' ? before : ''}${part.text}`;
    } else digests[id] = part.kind === 'tool' ? part : kind;
  }
  return digests;
}

import type { Descriptor, LeaseSnapshot, Snapshot } from '../../src/protocol/frontend-v2.js';
import { toRuntimeEvent, type RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { RuntimeRefusal, TransportFault, type RefusalReason } from '../../src/protocol/refusal.js';
import type { RequestAnswer } from '../../src/protocol/requests.js';
import type { EventChunk, EventStream, RuntimeClient } from '../../src/services/services.js';

export const DESCRIPTOR: Descriptor = {
  sessionId: 'session-1',
  sourceHarness: null,
  model: 'scripted/model',
  turnState: 'idle',
  connectionState: 'connected',
  actions: { submit: true, interrupt: true, steer: true, respond: true, close: false },
  operations: [],
};

type Call =
  'openEvents' | 'describe' | 'attach' | 'sendInput' | 'interrupt' | 'steer' | 'respond' | 'takeControl' | 'heartbeat';

/**
 * A runtime that a test steps by hand, at the boundary of the services: it answers what `answers` says, counts every
 * call, and sends what it is told to send. What real runtimes do is in the conformance suites.
 */
export class RuntimeDouble implements RuntimeClient {
  readonly clientId = 'this window';
  readonly calls: string[] = [];
  readonly streams: StreamDouble[] = [];
  descriptor = DESCRIPTOR;
  snapshot: Omit<Snapshot, 'descriptor' | 'malformed'> = { history: [], historyCursor: 0, replay: [] };
  holder: string | null = null;
  ttlMs = 30_000;
  /** Whether an interrupt finds a turn. */
  running = true;
  /** What the next calls of a name meet, first come first; a call that finds none succeeds. */
  readonly meets = new Map<Call, Promise<never>[] | (() => Promise<unknown>)[]>();

  /** The stream that was opened last. */
  get stream(): StreamDouble {
    const stream = this.streams.at(-1);
    if (!stream) throw new Error('no stream was opened');
    return stream;
  }

  /** The next call of this name is refused. */
  refuse(call: Call, reason: RefusalReason, message: string = reason): void {
    this.next(call, () => Promise.reject(new RuntimeRefusal({ reason, message })));
  }

  /** The line breaks during the next call of this name. */
  fault(call: Call): void {
    this.next(call, () => Promise.reject(new TransportFault('network', 'The line broke.')));
  }

  /** The next call of this name is answered when the returned function is called. */
  hold(call: Call): () => void {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.next(call, () => released);
    return release;
  }

  async openEvents(): Promise<EventStream> {
    await this.meet('openEvents');
    const stream = new StreamDouble();
    this.streams.push(stream);
    return stream;
  }

  async describe(): Promise<Descriptor> {
    await this.meet('describe');
    return this.descriptor;
  }

  async attach(): Promise<Snapshot> {
    await this.meet('attach');
    return { descriptor: this.descriptor, malformed: 0, ...this.snapshot };
  }

  async sendInput(prompt: string): Promise<void> {
    await this.meet('sendInput', prompt);
  }

  async interrupt(): Promise<boolean> {
    await this.meet('interrupt');
    return this.running;
  }

  async steer(prompt: string): Promise<void> {
    await this.meet('steer', prompt);
  }

  async respond(answer: RequestAnswer): Promise<void> {
    await this.meet('respond', `${answer.request_id} ${answer.kind === 'approval' ? answer.decision : answer.action}`);
  }

  lease(): Promise<LeaseSnapshot> {
    return Promise.resolve(this.report());
  }

  acquireControl(): Promise<LeaseSnapshot> {
    return this.takeControl();
  }

  async takeControl(): Promise<LeaseSnapshot> {
    await this.meet('takeControl');
    this.holder = this.clientId;
    return this.report();
  }

  async heartbeat(): Promise<LeaseSnapshot> {
    await this.meet('heartbeat');
    return this.report();
  }

  detach(): Promise<LeaseSnapshot> {
    return Promise.resolve(this.report());
  }

  /** How often a call of this name was made. */
  count(call: Call): number {
    return this.calls.filter((made) => made.split(' ')[0] === call).length;
  }

  private report(): LeaseSnapshot {
    return { controller: this.holder === null ? null : { clientId: this.holder }, ttlMs: this.ttlMs };
  }

  private next(call: Call, met: () => Promise<unknown>): void {
    this.meets.set(call, [...((this.meets.get(call) ?? []) as (() => Promise<unknown>)[]), met]);
  }

  private async meet(call: Call, detail = ''): Promise<void> {
    this.calls.push(`${call} ${detail}`.trim());
    const waiting = (this.meets.get(call) ?? []) as (() => Promise<unknown>)[];
    await (waiting.shift() ?? (() => Promise.resolve()))();
  }
}

export class StreamDouble implements EventStream {
  closed = false;
  private readonly ready: EventChunk[] = [];
  private wake: () => void = () => undefined;
  private over = false;

  readonly chunks: AsyncIterable<EventChunk> = this.read();

  /** Sends frames as the wire has them: kind, payload, and the next sequence unless one is given. */
  send(...events: readonly RuntimeEvent[]): void {
    this.ready.push({ events, malformed: 0 });
    this.wake();
  }

  keepAlive(): void {
    this.ready.push({ events: [], malformed: 0 });
    this.wake();
  }

  malformed(count: number): void {
    this.ready.push({ events: [], malformed: count });
    this.wake();
  }

  end(): void {
    this.over = true;
    this.wake();
  }

  close(): void {
    this.closed = true;
    this.end();
  }

  private async *read(): AsyncGenerator<EventChunk> {
    while (true) {
      for (let chunk = this.ready.shift(); chunk; chunk = this.ready.shift()) yield chunk;
      if (this.over) return;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

/** An event as the wire has it. */
export function event(sequence: number, kind: string, payload: object = {}): RuntimeEvent {
  const read = toRuntimeEvent({ sequence, kind, payload: { type: kind, ...payload } });
  if (!read) throw new Error(`not an event: ${kind}`);
  return read;
}

export const delta = (sequence: number, text: string) => event(sequence, 'text_delta', { text });

/** An approval request of the tool `bash`. */
export function approval(sequence: number, id: number, decisions?: readonly string[]): RuntimeEvent {
  const payload = { tool: 'bash', subject: 'ls', raw_args: { command: 'ls' }, ...(decisions ? { decisions } : {}) };
  return event(sequence, 'request', { request: { id, kind: 'approval', payload } });
}

export function resolved(sequence: number, id: number, decision = 'allow'): RuntimeEvent {
  const response = { kind: 'approval', request_id: id, decision };
  return event(sequence, 'request_resolved', { request_id: id, response });
}

/** The first two events of a turn, as numbered from `sequence`. */
export function turnStart(sequence: number, prompt = 'hello'): readonly RuntimeEvent[] {
  return [event(sequence, 'user_message', { text: prompt }), event(sequence + 1, 'turn_started')];
}

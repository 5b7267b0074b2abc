import type { Peer } from '../peer.js';
import { pause, requestId, requestOf, Wire, type Stream, type WireEvent } from '../wire.js';

interface Answers {
  readonly decision?: string;
  readonly action?: string;
  readonly content?: unknown;
}

/** Plays scripts on one peer and writes down everything that is seen, with what differs from run to run taken out. */
export class Player {
  readonly #story: unknown[] = [];
  readonly #answered = new Set<number>();

  constructor(
    readonly peer: Peer,
    readonly client: Wire,
    readonly stream: Stream,
  ) {}

  static async on(peer: Peer): Promise<Player> {
    const client = new Wire(peer.url, { token: await peer.mint('editor-1'), clientId: 'editor-1' });
    return new Player(peer, client, await client.listen());
  }

  /** One turn; every request in it gets the same answer. */
  async turn(prompt: string, answers: Answers = {}): Promise<void> {
    const since = this.stream.mark;
    await this.client.send(prompt);
    for (;;) {
      const event = await this.stream.until(['request', 'turn_succeeded', 'turn_failed', 'turn_interrupted'], {
        since,
        where: (each) => each.kind !== 'request' || !this.#answered.has(requestId(each)),
      });
      if (event.kind !== 'request') break;
      await this.#answer(event, answers);
    }
    this.#tell(this.stream.since(since));
  }

  async interruptAt(
    kind: string,
    prompt: string,
    { answer, deltas = true }: { readonly answer?: string; readonly deltas?: boolean } = {},
  ): Promise<void> {
    const since = this.stream.mark;
    await this.client.send(prompt);
    const event = await this.stream.until(kind, { since });
    await this.call('interrupt');
    if (answer !== undefined) await this.#answer(event, { decision: answer });
    await this.stream.turnEnd(since);
    const events = this.stream.since(since);
    // How many deltas came before the interrupt is a matter of luck.
    if (deltas) this.#tell(events);
    else this.#story.push(...events.filter((each) => each.kind !== 'text_delta').map(({ payload }) => payload));
  }

  async interruptElicitation(prompt: string): Promise<void> {
    const since = this.stream.mark;
    await this.client.send(prompt);
    const approval = await this.stream.until('request', { since });
    await this.#answer(approval, {});
    const question = await this.stream.request(since, [approval]);
    await this.call('interrupt');
    await pause(500);
    this.#story.push({ afterInterrupt: this.stream.kinds(since).slice(-2) });
    await this.#answer(question, { action: 'decline' });
    await this.stream.turnEnd(since);
    await pause(300);
    this.#story.push(...this.stream.since(since).map(({ payload }) => payload));
  }

  async images(prompt: string, image_urls: readonly string[]): Promise<void> {
    const since = this.stream.mark;
    await this.client.ok('send_input', { prompt, image_urls });
    await this.stream.turnEnd(since);
    this.#tell(this.stream.since(since));
  }

  async call(name: string, params: unknown = {}): Promise<void> {
    const { result, error } = await this.client.call(name, params);
    this.#story.push({ name, result, error });
  }

  /** What a client that attaches now would see. */
  async snapshot(): Promise<void> {
    const { history, history_cursor, replay } = await this.client.attach();
    this.#story.push({ history: history.slice(1), history_cursor, replay });
  }

  pause(ms: number): Promise<void> {
    return pause(ms);
  }

  newestJob(): string {
    const outputs = this.stream.events.map(({ payload }) => String(payload['output']));
    return /"job_id":"([^"]+)"/.exec(outputs.findLast((output) => output.includes('"job_id"')) ?? '')?.[1] ?? '';
  }

  story(): unknown[] {
    return this.#story.map((entry) => normalised(entry, this.peer.workspace));
  }

  async #answer(event: WireEvent, { decision = 'allow', action = 'accept', content = null }: Answers): Promise<void> {
    const request_id = requestId(event);
    this.#answered.add(request_id);
    const response =
      requestOf(event).kind === 'approval'
        ? { kind: 'approval', request_id, decision }
        : { kind: 'elicitation', request_id, action, content };
    await this.call('respond', { response });
  }

  #tell(events: readonly WireEvent[]): void {
    this.#story.push(...events);
  }
}

/** Of `context:usage`: they count the schemas of tools that the embedded runtime does not have. */
const ESTIMATES = new Set([
  'message_tokens',
  'tool_count',
  'tool_schema_tokens',
  'request_tokens',
  'projected_tokens',
  'remaining_tokens',
  'used_pct',
]);

const normalised = (value: unknown, workspace: string): unknown => {
  const text = JSON.stringify(value, (key, member: unknown) => {
    if (key === 'prompt_tokens' || key === 'total_tokens') return member === 5 || member === 11 ? member : '<n>';
    return ESTIMATES.has(key) ? '<n>' : member;
  });
  return JSON.parse(
    text
      .replaceAll(workspace, '/workspace')
      .replace(/bg-[0-9a-f]+-\d+/g, '<job>')
      .replace(/call_[0-9a-z]{6,}_\d+/g, '<call>')
      .replace(/\\"(pid|started_at_ms)\\":\d+/g, '\\"$1\\":0'),
  ) as unknown;
};

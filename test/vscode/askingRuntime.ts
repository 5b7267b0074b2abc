import { startAskingRuntime } from '../support/startAskingRuntime.js';
import type { RequestBroker, Response } from '../../src/runtime/requests.js';
import type { JsonObject } from '../../src/runtime/wire.js';
import { AttachedEditor, until, type AttachedOptions } from './attachedEditor.js';

/** An embedded runtime that asks when a test says so, also while nothing runs, as a hosted one does. */
export class AskingRuntime {
  readonly answers: Response[] = [];
  private asked = 0;

  private constructor(
    readonly attached: AttachedEditor,
    readonly broker: RequestBroker,
  ) {}

  static async open(options: Omit<AttachedOptions, 'start'> = {}): Promise<AskingRuntime> {
    const place: { broker?: RequestBroker } = {};
    const attached = await AttachedEditor.open({
      ...options,
      start: async (asked) => {
        const { runtime, broker } = await startAskingRuntime(asked);
        place.broker = broker;
        return runtime;
      },
    });
    if (!place.broker) throw new Error('nothing was started');
    return new AskingRuntime(attached, place.broker);
  }

  /** Asks, and waits until the editor knows that something more waits. */
  async ask(kind: 'approval' | 'elicitation', payload: JsonObject): Promise<number> {
    const waiting = this.waiting;
    void this.broker.ask(kind, payload).then((answer) => {
      if (answer) this.answers.push(answer);
    });
    this.asked += 1;
    await until(() => this.waiting === waiting + 1, 'the request');
    return this.asked;
  }

  approve(subject: string, more: JsonObject = {}): Promise<number> {
    return this.ask('approval', { tool: 'bash', subject, raw_args: { command: subject }, ...more });
  }

  /** A form with these questions, all to be answered. */
  form(properties: JsonObject, message = 'Which one?'): Promise<number> {
    const required = Object.keys(properties);
    return this.ask('elicitation', { message, requested_schema: { type: 'object', properties, required } });
  }

  get waiting(): number {
    return this.attached.api.connections[0]?.waiting ?? 0;
  }

  /** What people said to the agent. */
  get prompts(): readonly unknown[] {
    return this.attached.runtime
      .history()
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content);
  }
}

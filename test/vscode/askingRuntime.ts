import { Agent } from '../../src/runtime/agent.js';
import { Approvals } from '../../src/runtime/approvals.js';
import { Credentials } from '../../src/runtime/credentials.js';
import type { EmbeddedRuntime, EmbeddedRuntimeOptions } from '../../src/runtime/embedded.js';
import { Lease } from '../../src/runtime/lease.js';
import { RequestBroker, type Response } from '../../src/runtime/requests.js';
import { RuntimeServer } from '../../src/runtime/server.js';
import { Session } from '../../src/runtime/session.js';
import type { JsonObject } from '../../src/runtime/wire.js';
import { Workspace } from '../../src/runtime/workspace.js';
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
      start: async ({ workspace = '' }: EmbeddedRuntimeOptions): Promise<EmbeddedRuntime> => {
        const session = new Session('asking-session', []);
        const broker = new RequestBroker(session);
        place.broker = broker;
        const policy = { toolApproval: 'on-request', permissionsEngine: true } as const;
        const agent = new Agent(session, new Workspace(workspace), new Approvals(policy, broker));
        const credentials = new Credentials();
        const model = { configured: 'scripted/model', current: 'scripted/model' };
        const lease = new Lease(30_000);
        const close = () => agent.close();
        const server = new RuntimeServer(
          { session, agent, broker, lease, model, close, isClosing: () => false },
          credentials,
          15_000,
        );
        const url = await server.listen(0);
        const kill = async () => {
          agent.kill();
          broker.withdrawAll();
          const stopped = server.stop();
          server.drop();
          await stopped;
        };
        return {
          url,
          workspace,
          ownerToken: credentials.ownerToken,
          sessionId: session.id,
          ended: new Promise(() => undefined),
          mint: (clientId, grant = 'interactive') => credentials.mint(clientId, grant),
          history: () => session.history,
          close: kill,
          kill,
        };
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

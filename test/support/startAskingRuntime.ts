import { Agent } from '../../src/runtime/agent.js';
import { Approvals } from '../../src/runtime/approvals.js';
import { Credentials } from '../../src/runtime/credentials.js';
import type { EmbeddedRuntime, EmbeddedRuntimeOptions } from '../../src/runtime/embedded.js';
import { Lease } from '../../src/runtime/lease.js';
import { RequestBroker } from '../../src/runtime/requests.js';
import { RuntimeServer } from '../../src/runtime/server.js';
import { Session } from '../../src/runtime/session.js';
import { Workspace } from '../../src/runtime/workspace.js';

/** A runtime like the embedded one, with the broker that asks a person: a test asks when it likes, and as often. */
export async function startAskingRuntime({
  workspace = '',
  sessionId = 'asking-session',
  history = [],
}: EmbeddedRuntimeOptions): Promise<{ readonly runtime: EmbeddedRuntime; readonly broker: RequestBroker }> {
  const session = new Session(sessionId, history);
  const broker = new RequestBroker(session);
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
  const runtime: EmbeddedRuntime = {
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
  return { runtime, broker };
}

import { HOSTED_PROMPTS, type Peer } from '../peer.js';
import { runtimeBinary } from './real.js';

interface HostedRuntime {
  readonly url: string;
  readonly owner: string;
  readonly state: string;
  readonly opened: { readonly result: { readonly connection: unknown } };
  up(): Promise<unknown>;
  down(): Promise<void>;
  harnessCall(method: string, params: unknown): Promise<unknown>;
}

interface HostedModule {
  readonly HostedRuntime: new (options: { readonly binary: string }) => HostedRuntime;
}

/** A Claude Code stand-in, hosted by `supercode harness serve`. */
export const openHostedPeer = async (): Promise<Peer> => {
  const module = (await import(new URL('../../peers/hosted-runtime.mjs', import.meta.url).href)) as HostedModule;
  const runtime = new module.HostedRuntime({ binary: runtimeBinary() });
  try {
    await runtime.up();
  } catch (error) {
    await runtime.down();
    throw error;
  }
  const { connection } = runtime.opened.result;
  return {
    kind: 'hosted',
    url: runtime.url,
    ownerToken: runtime.owner,
    leaseTtlMs: 30_000,
    keepAliveMs: 15_000,
    workspace: `${runtime.state}/workspace`,
    prompts: HOSTED_PROMPTS,
    mint: (clientId, grant = 'interactive') => mint(runtime, clientId, grant),
    owner: {
      respond: (request_id, response) =>
        runtime.harnessCall('harness.v1.runtimes.respond', { connection, request_id, response }),
      close: () => runtime.harnessCall('harness.v1.runtimes.close', { connection }),
    },
    close: () => runtime.down(),
  };
};

const mint = async (runtime: HostedRuntime, clientId: string, grant: string): Promise<string> => {
  const answer = await fetch(`${runtime.url}/_supercode/frontend-credentials/mint`, {
    method: 'POST',
    headers: { authorization: `Bearer ${runtime.owner}`, 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, grant }),
  });
  if (!answer.ok) throw new Error(`mint answered ${answer.status}`);
  return answer.text();
};

import { randomUUID } from 'node:crypto';
import { CredentialRefused } from '../../protocol/refusal.js';
import type { Fetch } from '../http.js';
import { createRuntimeClient } from '../runtime.js';
import type { CredentialReference, Services } from '../services.js';
import { readCredentialFile } from './credentialFile.js';
import { withinTime } from './withinTime.js';

export interface NodeServicesOptions {
  /** Receives one line at a time, never a secret. */
  readonly log: (line: string) => void;
  /** The value of a secret; undefined where there is none. It may throw or hang. */
  readonly secrets?: (key: string) => Promise<string | undefined>;
  readonly fetch?: Fetch;
}

/** The services of a Node process: this machine's clocks, chance, files and network. */
export function nodeServices(options: NodeServicesOptions): Services {
  const { log, fetch } = options;
  const clock = { monotonic: () => performance.now(), wall: () => Date.now() };
  return {
    clock,
    newId: () => randomUUID(),
    random: () => Math.random(),
    log,
    runtime: (target) =>
      createRuntimeClient({
        target,
        readCredential: (reference) => withinTime(readCredential(reference, options)),
        wall: () => clock.wall(),
        ...(fetch === undefined ? {} : { fetch }),
      }),
  };
}

async function readCredential(reference: CredentialReference, { log, secrets }: NodeServicesOptions): Promise<string> {
  if (reference.kind === 'file') {
    const { token, unchecked } = await readCredentialFile(reference.path);
    if (unchecked.length > 0) log(`Of the credential file this system cannot tell: ${unchecked.join(', ')}.`);
    return token;
  }
  const secret = await keptSecret(secrets, reference.key);
  if (secret === undefined) {
    throw new CredentialRefused('The credential is no longer in the secret store. Connect again with a new handover.');
  }
  return secret;
}

async function keptSecret(secrets: NodeServicesOptions['secrets'], key: string): Promise<string | undefined> {
  try {
    return await secrets?.(key);
  } catch {
    // What a keeper throws may say what it keeps.
    throw new CredentialRefused('The secret store refused to give the credential. Unlock it and connect again.');
  }
}

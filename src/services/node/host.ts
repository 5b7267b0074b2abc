import { createHostClient, type HostClient, type HostTimeouts } from '../host.js';
import type { Fetch } from '../http.js';
import { readCredentialFile } from './credentialFile.js';
import { withinTime } from './withinTime.js';

const URL_NAME = 'SUPERCODE_FRONTEND_HOST_URL';
const FILE_NAME = 'SUPERCODE_FRONTEND_HOST_CREDENTIAL_FILE';

export interface HostHandover {
  readonly baseUrl: string;
  /** An absolute path. */
  readonly credentialFile: string;
}

/**
 * The doors of the product that started this process; undefined where it has none. A variable that is empty counts as
 * absent. Throws an `Error`, fit to be shown, on half a handover. Source: host-controls §1.
 */
export function hostFromEnvironment(env: Readonly<Record<string, string | undefined>>): HostHandover | undefined {
  const baseUrl = env[URL_NAME] ?? '';
  const credentialFile = env[FILE_NAME] ?? '';
  if (baseUrl === '' && credentialFile === '') return undefined;
  if (baseUrl !== '' && credentialFile !== '') return { baseUrl, credentialFile };
  throw new Error(`The host that was handed over is incomplete. Missing: ${baseUrl === '' ? URL_NAME : FILE_NAME}.`);
}

export interface NodeHostOptions {
  /** Receives one line at a time, never a secret. */
  readonly log: (line: string) => void;
  readonly fetch?: Fetch;
  readonly timeouts?: Partial<HostTimeouts>;
}

/** The doors of a host, with its credential from the file that it left. */
export function nodeHostClient({ baseUrl, credentialFile }: HostHandover, options: NodeHostOptions): HostClient {
  const { log, ...rest } = options;
  return createHostClient({
    baseUrl,
    readCredential: async () => {
      const { token, unchecked } = await withinTime(readCredentialFile(credentialFile));
      if (unchecked.length > 0) log(`Of the host’s credential file this system cannot tell: ${unchecked.join(', ')}.`);
      return token;
    },
    ...rest,
  });
}

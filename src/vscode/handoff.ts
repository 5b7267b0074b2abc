import { isAbsolute } from 'node:path';
import { narrowedTo } from '../services/node/environment.js';
import { checkedBaseUrl } from '../services/loopback.js';
import type { ConnectionTarget } from '../services/services.js';

/** A runtime that something outside hands over, by a name of its own. Source: the handover of external runtimes. */
export interface Handoff {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly connectionId: string;
  /** An absolute path; the token itself is in no argument. */
  readonly credentialFile: string;
  readonly permissions?: readonly string[];
  readonly label?: string;
}

/** The names that connections of our own have. */
const OWN = /^(?:environment|settings|runtime-.*)$/;
const ID = /^[a-z0-9][a-z0-9._-]{0,127}$/;

/** The handoff, if it is one. Throws an `Error` that says what is wrong with it. */
export function checkedHandoff(value: unknown): Handoff {
  const handoff = value as Partial<Handoff> | null | undefined;
  for (const name of ['baseUrl', 'clientId', 'connectionId', 'credentialFile'] as const) {
    if (typeof handoff?.[name] !== 'string' || handoff[name] === '') {
      throw new Error(`The handoff of a runtime lacks ${name}. Nothing was connected.`);
    }
  }
  const { baseUrl, clientId, connectionId, credentialFile, permissions, label } = handoff as Handoff;
  if (!ID.test(connectionId)) {
    throw new Error('The connectionId must be 1 to 128 lower-case letters, digits, dots, underscores or hyphens.');
  }
  if (OWN.test(connectionId))
    throw new Error(`The connectionId ${connectionId} belongs to a connection of this window.`);
  if (!isAbsolute(credentialFile)) throw new Error('The credentialFile must be an absolute path.');
  if (permissions !== undefined && !Array.isArray(permissions)) throw new Error('The permissions must be a list.');
  checkedBaseUrl(baseUrl);
  narrowedTo(permissions);
  return {
    baseUrl,
    clientId,
    connectionId,
    credentialFile,
    ...(permissions ? { permissions } : {}),
    ...(typeof label === 'string' && label.trim() !== '' ? { label } : {}),
  };
}

/** As `checkedHandoff`; undefined where it is none. */
export function handoffIn(kept: unknown): Handoff | undefined {
  try {
    return checkedHandoff(kept);
  } catch {
    return undefined;
  }
}

export function targetOf({ baseUrl, clientId, credentialFile, permissions }: Handoff): ConnectionTarget {
  return {
    baseUrl: checkedBaseUrl(baseUrl).origin,
    clientId,
    credential: { kind: 'file', path: credentialFile },
    permissions: narrowedTo(permissions),
  };
}

import { cutAtCodePoint } from '../../protocol/bounded.js';
import { PERMISSIONS, type ConnectionTarget, type Permission } from '../../protocol/handover.js';

const NAMES = {
  baseUrl: 'SUPERCODE_FRONTEND_URL',
  clientId: 'SUPERCODE_FRONTEND_CLIENT_ID',
  credentialFile: 'SUPERCODE_FRONTEND_CREDENTIAL_FILE',
  permissions: 'SUPERCODE_FRONTEND_PERMISSIONS',
} as const;
const UNAVAILABLE = 'SUPERCODE_FRONTEND_UNAVAILABLE';
const SENTENCE_LIMIT = 1000;

export type Handover = { readonly target: ConnectionTarget } | { readonly unavailable: string };

/**
 * What a product put in our environment: a runtime to attach to, the reason why there is none, or (undefined) nothing.
 * A variable that is empty counts as absent. Throws an `Error`, fit to be shown, on half a handover or an unknown
 * permission. Source: host-controls §1; the values of a host's `connection` have the same shape.
 */
export function handoverFromEnvironment(env: Readonly<Record<string, string | undefined>>): Handover | undefined {
  const reason = env[UNAVAILABLE]?.trim() ?? '';
  // Never sent beside the four (§1); should it be, a product that says "none" knows better than inherited variables.
  if (reason !== '') return { unavailable: cutAtCodePoint(reason, SENTENCE_LIMIT) };

  const missing = Object.values(NAMES).filter((name) => valueOf(env, name) === '');
  if (missing.length === Object.keys(NAMES).length) return undefined;
  if (missing.length > 0) {
    throw new Error(`The connection that was handed over is incomplete. Missing: ${missing.join(', ')}.`);
  }
  return {
    target: {
      baseUrl: valueOf(env, NAMES.baseUrl),
      clientId: valueOf(env, NAMES.clientId),
      credential: { kind: 'file', path: valueOf(env, NAMES.credentialFile) },
      permissions: permissionsIn(valueOf(env, NAMES.permissions), NAMES.permissions),
    },
  };
}

function valueOf(env: Readonly<Record<string, string | undefined>>, name: string): string {
  return env[name] ?? '';
}

/**
 * A list of permissions in the wire's order, each once. Without `observe` nothing can be shown, so it is always asked
 * for. Throws an `Error` that names `source` where the list names something else.
 */
export function permissionsIn(list: string, source: string): readonly Permission[] {
  const named = list.split(',').map((name) => name.trim());
  const unknown = named.find((name) => !PERMISSIONS.some((permission) => permission === name));
  if (unknown !== undefined) {
    const shown = JSON.stringify(cutAtCodePoint(unknown, 60));
    throw new Error(`${source} names ${shown}, which is none of: ${PERMISSIONS.join(', ')}.`);
  }
  return PERMISSIONS.filter((permission) => permission === 'observe' || named.includes(permission));
}

/** Null asks for all that the credential grants. Throws an `Error` that names what is no permission. */
export function narrowedTo(permissions: readonly string[] | undefined): readonly Permission[] | null {
  return permissions ? permissionsIn(permissions.join(','), 'permissions') : null;
}

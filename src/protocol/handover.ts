/**
 * Where a runtime is and as whom we go there. The credential is named, never held: it is read at the moment of use, so
 * that a target may stand in an action, a log or a saved setting. Source: frontend.v2 §10.
 */
export interface ConnectionTarget {
  /** `http://` and a loopback host, as given; services check it before anything is sent. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly credential: CredentialReference;
  /** Narrows the credential's grant; null asks for all of it. */
  readonly permissions: readonly Permission[] | null;
}

/** 1 to 128 characters of a small alphabet. Source: frontend.v2 §2.2. */
export function isClientId(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(text);
}

/** In the order of the wire. */
export const PERMISSIONS = ['observe', 'interact', 'approve', 'terminate'] as const;

export type Permission = (typeof PERMISSIONS)[number];

/** `file`: an absolute path of a private file with 64 hex digits. `secret`: a key of this process's secret keeper. */
export type CredentialReference =
  { readonly kind: 'file'; readonly path: string } | { readonly kind: 'secret'; readonly key: string };

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { GRANTS, OWNER_PERMISSIONS, type Grant, type Permissions } from './grants.js';

export interface Credential {
  readonly permissions: Permissions;
  /** A minted credential is bound to one client id; the owner's is bound to none (§2.2). */
  readonly clientId: string | undefined;
  readonly isOwner: boolean;
  /** Ends every event stream that this credential opened. */
  readonly streams: Set<{ end(): void }>;
}

interface Entry {
  readonly digest: Buffer;
  readonly credential: Credential;
}

const newToken = (): string => randomBytes(32).toString('hex');
const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The credentials of one runtime process. Tokens are kept only as digests; a restart forgets them all (§10.1). */
export class Credentials {
  readonly ownerToken = newToken();
  #entries: Entry[];

  constructor() {
    this.#entries = [{ digest: digestOf(this.ownerToken), credential: owner() }];
  }

  /** `fromQuery` is true for a `?token=`, which only the owner may still use (§2.2). */
  find(token: string, fromQuery: boolean): Credential | undefined {
    const digest = digestOf(token);
    let found: Credential | undefined;
    for (const entry of this.#entries) {
      const equal = timingSafeEqual(digest, entry.digest);
      if (equal && !(fromQuery && entry.credential.clientId !== undefined)) found ??= entry.credential;
    }
    return found;
  }

  /** Minting again for the same client leaves its older tokens valid (§10.1). */
  mint(clientId: string, grant: Grant): string {
    const token = newToken();
    const credential: Credential = { permissions: GRANTS[grant], clientId, isOwner: false, streams: new Set() };
    this.#entries.push({ digest: digestOf(token), credential });
    return token;
  }

  /** Forgets every credential of the client and ends its streams; false when there was none. */
  revoke(clientId: string): boolean {
    const revoked = this.#entries.filter((entry) => entry.credential.clientId === clientId);
    this.#entries = this.#entries.filter((entry) => entry.credential.clientId !== clientId);
    for (const { credential } of revoked) for (const stream of [...credential.streams]) stream.end();
    return revoked.length > 0;
  }
}

const owner = (): Credential => ({
  permissions: OWNER_PERMISSIONS,
  clientId: undefined,
  isOwner: true,
  streams: new Set(),
});

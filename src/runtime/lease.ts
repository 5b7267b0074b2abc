import { controllerRequired, leaseExpired, unauthorized } from './refusals.js';
import type { Permission, Permissions } from './grants.js';

/** Who is calling, and what it may do. */
export interface Client {
  readonly id: string;
  readonly permissions: Permissions;
}

export interface LeaseSnapshot {
  readonly controller: { readonly client_id: string; readonly expires_at_ms: number } | null;
  readonly observers: readonly { readonly client_id: string; readonly last_seen_ms: number }[];
  readonly lease_ttl_ms: number;
}

export const requirePermission = (client: Client, permission: Permission): void => {
  if (!client.permissions.has(permission)) throw unauthorized(permission);
};

/** At most one controller, any number of observers (§7.2). */
export class Lease {
  #controller: { clientId: string; expiresAtMs: number } | undefined;
  /** The client that let its lease run out; it must take control again, an implicit claim is not enough. */
  #lapsed: string | undefined;
  readonly #observers = new Map<string, number>();

  constructor(
    readonly ttlMs: number,
    readonly now: () => number = Date.now,
  ) {}

  read(client: Client): LeaseSnapshot {
    requirePermission(client, 'observe');
    return this.#snapshot();
  }

  observe(client: Client): LeaseSnapshot {
    requirePermission(client, 'observe');
    this.#expire();
    this.#observers.set(client.id, this.now());
    return this.#snapshot();
  }

  /** Renews only a lease that this client holds; its expiry is not reported as an error (§7.2). */
  heartbeat(client: Client): LeaseSnapshot {
    this.observe(client);
    if (this.#controller?.clientId === client.id) {
      requirePermission(client, 'interact');
      this.#hold(client);
    }
    return this.#snapshot();
  }

  /** What every mutation does first, and all that `acquire_control` does. */
  claim(client: Client): LeaseSnapshot {
    requirePermission(client, 'interact');
    this.observe(client);
    if (this.#controller === undefined && this.#lapsed === client.id) throw leaseExpired();
    if (this.#controller !== undefined && this.#controller.clientId !== client.id) {
      throw controllerRequired(this.#controller.clientId, this.#controller.expiresAtMs);
    }
    this.#hold(client);
    return this.#snapshot();
  }

  take(client: Client): LeaseSnapshot {
    requirePermission(client, 'interact');
    this.observe(client);
    this.#hold(client);
    return this.#snapshot();
  }

  detach(clientId: string): LeaseSnapshot {
    this.#expire();
    this.#observers.delete(clientId);
    if (this.#controller?.clientId === clientId) this.#controller = undefined;
    if (this.#lapsed === clientId) this.#lapsed = undefined;
    return this.#snapshot();
  }

  #hold(client: Client): void {
    this.#controller = { clientId: client.id, expiresAtMs: this.now() + this.ttlMs };
    this.#lapsed = undefined;
  }

  #expire(): void {
    if (this.#controller === undefined || this.#controller.expiresAtMs > this.now()) return;
    this.#lapsed = this.#controller.clientId;
    this.#controller = undefined;
  }

  #snapshot(): LeaseSnapshot {
    this.#expire();
    const held = this.#controller;
    return {
      controller: held === undefined ? null : { client_id: held.clientId, expires_at_ms: held.expiresAtMs },
      observers: [...this.#observers]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([client_id, last_seen_ms]) => ({ client_id, last_seen_ms })),
      lease_ttl_ms: this.ttlMs,
    };
  }
}

import * as v from 'valibot';
import type { HistoryMessage } from '../../src/protocol/frontend-v2.js';
import { HostGone, HostRefused } from '../../src/protocol/hostRefusal.js';
import {
  hostSnapshotSchema,
  type HostSnapshot,
  type OpenedConversation,
  type SetupStep,
} from '../../src/protocol/host.js';
import { TransportFault } from '../../src/protocol/refusal.js';
import type { HostClient } from '../../src/services/host.js';
import { NOTHING_READY, READY } from '../support/hostAnswers.js';

type Door = keyof HostClient;
type Wire = Record<string, unknown>;

/** What the runtime of a conversation is handed over as; another `number`, another credential. */
export function connectionTo(baseUrl: string, number = 1): Readonly<Record<string, string>> {
  return {
    ...READY.connection,
    SUPERCODE_FRONTEND_URL: baseUrl,
    SUPERCODE_FRONTEND_CREDENTIAL_FILE: `/private/credential-${number}`,
  };
}

export function rowNamed(id: string, more: object = {}) {
  return {
    id,
    selection: { harness: 'codex', model: '', effort: '' },
    identity: null as string | null,
    title: id,
    created: 1_791_500_000_000,
    ...more,
  };
}

/**
 * A host that a test steps by hand, at the boundary of the services: it answers with `state` as it is when a call is
 * answered, counts every call, and does what it is told to do.
 */
export class HostClientDouble implements HostClient {
  readonly calls: string[] = [];
  wire: Wire = { ...NOTHING_READY };
  history: readonly HistoryMessage[] = [];
  /** Whether the harness has saved its session, so that it can be bound. */
  isSaved = false;
  private readonly old = new Set<unknown>();
  private readonly meets = new Map<Door, (() => Promise<void>)[]>();

  /** The active conversation `id`, its runtime at `baseUrl`. */
  serving(id: string, baseUrl: string, more: Wire = {}): this {
    this.wire = { ...READY, activeSession: id, sessions: [rowNamed(id)], connection: connectionTo(baseUrl), ...more };
    return this;
  }

  edit(more: Wire): void {
    this.wire = { ...this.wire, ...more };
  }

  editRow(id: string, more: object): void {
    const rows = this.wire['sessions'] as readonly { readonly id: string }[];
    this.edit({ sessions: rows.map((row) => (row.id === id ? { ...row, ...more } : row)) });
  }

  refuse(door: Door, message = 'No.', times = 1): void {
    for (let left = times; left > 0; left--) this.next(door, () => Promise.reject(new HostRefused(message)));
  }

  /** Takes back what the next calls of this door were to meet. */
  relent(door: Door): void {
    this.meets.delete(door);
  }

  fault(door: Door): void {
    this.next(door, () => Promise.reject(new TransportFault('network', 'The line to the host broke.')));
  }

  vanish(door: Door): void {
    this.next(door, () => Promise.reject(new HostGone('The host has ended.')));
  }

  /** The next call of this door is answered, from what is then, or refused, when the returned function is called. */
  hold(door: Door, refusal?: string): () => void {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.next(door, async () => {
      await released;
      if (refusal !== undefined) throw new HostRefused(refusal);
    });
    return () => {
      release();
    };
  }

  /** The next `/state` is answered with how things are when it is asked, once the returned function is called. */
  holdWithOldNews(): () => void {
    const release = this.hold('state');
    this.old.add(this.meets.get('state')?.at(-1));
    return release;
  }

  count(door: Door): number {
    return this.calls.filter((made) => made.split(' ')[0] === door).length;
  }

  async state(): Promise<HostSnapshot> {
    const isOld = this.old.has(this.meets.get('state')?.at(0));
    const asked = this.wire;
    await this.meet('state');
    return this.snapshot(isOld ? asked : this.wire);
  }

  async select({ harness, model, effort }: { harness: string; model: string; effort: string }): Promise<HostSnapshot> {
    await this.meet('select', `${harness}/${model}/${effort}`);
    return this.snapshot();
  }

  async open(id: string): Promise<OpenedConversation> {
    await this.meet('open', id);
    return { snapshot: this.snapshot(), history: this.history, historyTruncated: false };
  }

  async remember(id: string, nativeId: string): Promise<HostSnapshot> {
    await this.meet('remember', `${id} ${nativeId}`);
    if (!this.isSaved) throw new HostRefused('The agent has not saved this conversation yet.');
    this.editRow(id, { identity: `v1:${nativeId}` });
    return this.snapshot();
  }

  async setup(kind: 'login' | 'install', harness: string): Promise<SetupStep> {
    await this.meet('setup', `${kind} ${harness}`);
    return {
      kind,
      harness,
      name: harness,
      command: '',
      cwd: '/',
      program: '/p',
      arguments: [kind],
      env: { PATH: kind },
    };
  }

  private snapshot(wire: Wire = this.wire): HostSnapshot {
    return v.parse(hostSnapshotSchema, JSON.parse(JSON.stringify(wire)));
  }

  private next(door: Door, met: () => Promise<void>): void {
    this.meets.set(door, [...(this.meets.get(door) ?? []), met]);
  }

  private async meet(door: Door, detail = ''): Promise<void> {
    this.calls.push(`${door} ${detail}`.trim());
    await (this.meets.get(door)?.shift() ?? (() => Promise.resolve()))();
  }
}

/** The registry of the client rows of docs/contracts/frontend-v2.md §12. */
import { expect, it, onTestFinished } from 'vitest';
import { Client, type ClientOptions } from './clientApp.js';
import type { OpenPeer, Peer, PeerKind, PeerOptions } from './peer.js';
import { Wire } from './wire.js';

const CLIENT_ROW_IDS = Array.from({ length: 16 }, (_, index) => `C${String(index + 1).padStart(2, '0')}`);

/** Rows that a kind of peer has no part in, each with its reason. Asserted: a row is tested or it is here. */
const NOT_FOR: Readonly<Record<PeerKind, Readonly<Record<string, string>>>> = {
  native: {},
  hosted: {
    C02: 'hosted sequences are contiguous: a skip there is a loss',
    C15: 'a hosted harness sends whole blocks, not deltas',
  },
};

/** What one test works with; everything it opens is closed behind it, clients first and with their own checks. */
export interface ClientBench {
  readonly kind: PeerKind;
  open(options?: PeerOptions): Promise<Peer>;
  /** A client of ours that has not been handed over yet. */
  client(peer: Peer, more?: Partial<ClientOptions> & { readonly grant?: 'interactive' | 'observer' }): Promise<Client>;
  /** A raw client. */
  wire(peer: Peer, clientId: string, grant?: 'interactive' | 'observer'): Promise<Wire>;
  owner(peer: Peer): Wire;
}

type Body = (bench: ClientBench) => Promise<void>;

interface RowOptions {
  /** Only for this kind of peer; both when absent. */
  readonly only?: PeerKind;
  readonly timeoutMs?: number;
}

export class ClientRows {
  readonly tested = new Set<string>();

  constructor(
    readonly kind: PeerKind,
    readonly openPeer: OpenPeer,
    readonly timeoutMs: number,
  ) {}

  /** The title starts with the id of its row. */
  row(title: string, body: Body, options: RowOptions = {}): void {
    if (options.only !== undefined && options.only !== this.kind) return;
    this.tested.add(title.slice(0, 3));
    this.test(title, body, options);
  }

  /** A test of no row. */
  test(title: string, body: Body, { only, timeoutMs = this.timeoutMs }: RowOptions = {}): void {
    if (only !== undefined && only !== this.kind) return;
    it(title, { timeout: timeoutMs }, () => body(this.#bench()));
  }

  /** Fails when a client row of §12 is neither tested nor listed, or both. */
  checkCompleteness(): void {
    it(`every client row of §12 is tested on a ${this.kind} runtime or listed with a reason`, () => {
      expect([...this.tested, ...Object.keys(NOT_FOR[this.kind])].sort()).toEqual(CLIENT_ROW_IDS);
    });
  }

  #bench(): ClientBench {
    return {
      kind: this.kind,
      open: async (options) => {
        const peer = await this.openPeer(options);
        onTestFinished(() => peer.close());
        return peer;
      },
      client: async (peer, { grant = 'interactive', clientId = 'editor-1', ...more } = {}) => {
        const token = await peer.mint(clientId, grant);
        const client = new Client({ url: peer.url, token, clientId, ...more });
        onTestFinished(() => client.close());
        return client;
      },
      wire: async (peer, clientId, grant = 'interactive') =>
        new Wire(peer.url, { token: await peer.mint(clientId, grant), clientId }),
      owner: (peer) => new Wire(peer.url, { token: peer.ownerToken, clientId: 'host-1' }),
    };
  }
}

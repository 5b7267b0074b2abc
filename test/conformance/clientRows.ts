/** The registry of the client rows of docs/contracts/frontend-v2.md §12. */
import { expect, it, onTestFinished } from 'vitest';
import { Client, type ClientOptions } from './clientApp.js';
import type { OpenPeer, Peer, PeerKind, PeerOptions } from './peer.js';
import { script, Wire } from './wire.js';

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
  /** Takes so long that it is run against real peers only, beside a lighter test of the same row. */
  readonly heavy?: boolean;
}

export class ClientRows {
  readonly tested = new Set<string>();

  constructor(
    readonly kind: PeerKind,
    readonly openPeer: OpenPeer,
    readonly timeoutMs: number,
    readonly heavy: boolean,
  ) {}

  /** The title starts with the id of its row. */
  row(title: string, body: Body, options: RowOptions = {}): void {
    if (this.test(title, body, options)) this.tested.add(title.slice(0, 3));
  }

  /** A test of no row. Whether it is one here. */
  test(title: string, body: Body, options: RowOptions = {}): boolean {
    const { only = this.kind, timeoutMs = this.timeoutMs, heavy = false } = options;
    if (only !== this.kind || (heavy && !this.heavy)) return false;
    it(title, { timeout: timeoutMs }, () => body(this.#bench()));
    return true;
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

/** Streams text for a second or two: enough to act in the middle of it. */
export const slowPrompt = (peer: Peer, word = 'w'): string =>
  peer.kind === 'hosted' ? `${peer.prompts.slow} ${word}` : script({ repeat: { n: 40, text: word }, delay: 25 });

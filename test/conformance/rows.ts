/** The registry of the server rows of docs/contracts/frontend-v2.md §12. */
import { expect, it, onTestFinished } from 'vitest';
import type { OpenPeer, Peer, PeerKind, PeerOptions } from './peer.js';
import { Wire } from './wire.js';

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `S${String(from + index).padStart(2, '0')}`);

export const ROW_IDS: readonly string[] = [
  ...range(1, 12),
  ...range(20, 27),
  ...range(30, 35),
  ...range(40, 53),
  ...range(60, 69),
  ...range(70, 76),
  ...range(80, 85),
];

/** Rows that a kind of peer has no part in, each with its reason. Asserted: a row is tested or it is here. */
export const NOT_FOR: Readonly<Record<PeerKind, Readonly<Record<string, string>>>> = {
  native: {
    S27: 'states what a hosted runtime does instead of S21, S23 and S24',
    S67: 'decisions are restricted by the harness behind a hosted runtime only',
    S68: 'a native request is withdrawn with the last stream: S66',
    S69: 'a native runtime has no owner door beside frontend.v2',
  },
  hosted: {
    S21: 'a hosted runtime ignores the limit: S27',
    S23: 'the cursor of a hosted runtime never moves: S27',
    S24: 'the cursor of a hosted runtime never moves: S27',
    S34: 'the stand-in harness sends whole blocks, never enough events to fall behind',
    S42: 'a hosted runtime sends one turn_completed per turn, behind its end: S40',
    S47: 'the model behind a hosted harness is not seen by the runtime',
    S51: 'the tools of a hosted harness are its own',
    S53: 'the tools of a hosted harness are its own',
    S63: 'allow_for_session is refused: S67',
    S64: 'elicitations are refused: S67',
    S65: 'a hosted request needs no stream: S68',
    S66: 'a hosted request needs no stream: S68',
    S84: 'a hosted runtime refuses close, and its host ends it: S69 tells what is seen then',
    S85: 'a hosted session is resumed by its harness; sequences and history are that of a new runtime',
  },
};

/** What one test works with; everything it opens is closed behind it. */
export interface Bench {
  readonly kind: PeerKind;
  open(options?: PeerOptions): Promise<Peer>;
  /** A client with a fresh credential. */
  client(peer: Peer, clientId?: string, grant?: 'interactive' | 'observer'): Promise<Wire>;
  owner(peer: Peer): Wire;
}

type Body = (bench: Bench) => Promise<void>;

interface RowOptions {
  /** Only for this kind of peer; both when absent. */
  readonly only?: PeerKind;
  readonly timeoutMs?: number;
}

export class Rows {
  readonly tested = new Set<string>();

  constructor(
    readonly kind: PeerKind,
    readonly openPeer: OpenPeer,
    readonly timeoutMs: number,
  ) {}

  /** The title starts with the id of its row. */
  row(title: string, body: Body, { only, timeoutMs = this.timeoutMs }: RowOptions = {}): void {
    if (only !== undefined && only !== this.kind) return;
    this.tested.add(title.slice(0, 3));
    it(title, { timeout: timeoutMs }, () => body(this.#bench()));
  }

  /** Fails when a row of §12 is neither tested nor listed, or both. */
  checkCompleteness(): void {
    const listed = Object.keys(NOT_FOR[this.kind]);
    it(`every server row of §12 is tested on a ${this.kind} runtime or listed with a reason`, () => {
      expect([...this.tested, ...listed].sort()).toEqual([...ROW_IDS].sort());
    });
  }

  #bench(): Bench {
    return {
      kind: this.kind,
      open: async (options) => {
        const peer = await this.openPeer(options);
        onTestFinished(() => peer.close());
        return peer;
      },
      client: async (peer, clientId = 'editor-1', grant = 'interactive') =>
        new Wire(peer.url, { token: await peer.mint(clientId, grant), clientId }),
      owner: (peer) => new Wire(peer.url, { token: peer.ownerToken, clientId: 'host-1' }),
    };
  }
}

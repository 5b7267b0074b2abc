/** A running frontend.v2 server, of whatever make, as the conformance suite sees it. */
export type PeerKind = 'native' | 'hosted';

export interface PeerOptions {
  /** `never` lets every tool run unasked. */
  readonly approval?: 'on-request' | 'never';
  /** The coarse gate instead of the permissions engine. */
  readonly legacyGate?: boolean;
  /** Wished for; a real process keeps its own times, see the peer's fields. */
  readonly leaseTtlMs?: number;
  readonly keepAliveMs?: number;
}

export interface Prompts {
  /** Answered with some text and nothing else. */
  readonly plain: string;
  /** Streams text for well over a second. */
  readonly slow: string;
  /** Asks for one approval, then answers with text. */
  readonly tool: string;
  /** Fails. */
  readonly fail: string;
}

export interface Peer {
  readonly kind: PeerKind;
  readonly url: string;
  readonly ownerToken: string;
  readonly leaseTtlMs: number;
  readonly keepAliveMs: number;
  readonly workspace: string;
  readonly prompts: Prompts;
  mint(clientId: string, grant?: 'interactive' | 'observer'): Promise<string>;
  /** Ends the process and starts one that continues the session; every credential is void then. */
  restart?(): Promise<Peer>;
  /** Ends the process without a word. */
  kill?(): Promise<void>;
  /** Hosted only: a call at the owner's own door (`harness.v1.*`) for the hosted runtime. */
  owner?: {
    respond(nativeRequestId: string, response: unknown): Promise<unknown>;
    close(): Promise<unknown>;
  };
  close(): Promise<void>;
}

export type OpenPeer = (options?: PeerOptions) => Promise<Peer>;

/** What the scripted model and the embedded agent understand. */
export const NATIVE_PROMPTS: Prompts = {
  plain: '[[script]] [{"text":"The quick brown fox."}]',
  slow: '[[script]] [{"repeat":{"n":400,"text":"w"},"delay":25}]',
  tool: '[[script]] [{"text":"I will run a command.","calls":[{"name":"bash","id":"call_1","args":{"command":"printf approved"}}]},{"text":"All done."}]',
  fail: '[[script]] [{"status":400,"body":{"error":{"message":"scripted: invalid request"}}}]',
};

/** What the stand-in of a hosted Claude Code understands. */
export const HOSTED_PROMPTS: Prompts = {
  plain: 'hello there',
  slow: 'slow',
  tool: 'tool',
  fail: 'fail please',
};

/** How long what the runtime owes us may take, in ms. Tests over a real line shorten them; a product has no reason to. */
export interface Timings {
  /** The runtime sends a sign of life every 15 s; three missed ones mean that the stream is dead. */
  readonly silence: number;
  /** A turn of which nothing was heard for so long is asked about. */
  readonly silentTurn: number;
  /** The descriptor can be ahead of the stream: a turn's own terminal event gets this long to arrive. */
  readonly grace: number;
  /** A fresh snapshot that somebody waits for. */
  readonly snapshot: number;
  /** The first and the longest pause between attempts to attach. */
  readonly firstPause: number;
  readonly longestPause: number;
}

export const TIMINGS: Timings = {
  silence: 45_000,
  silentTurn: 20_000,
  grace: 1_500,
  snapshot: 20_000,
  firstPause: 250,
  longestPause: 5_000,
};

import type { ChatPart } from './parts.js';

/** A turn of the past that nothing was drawn of yet: it costs nothing to leave it, or a piece of it, out. */
export interface PastTurn {
  readonly prompt: PastPrompt | null;
  /** In the order in which they happened. */
  readonly pieces: readonly Piece[];
  /** How many turns there are before this one. */
  readonly earlier: () => number;
}

export interface PastPrompt {
  /** UTF-16 units, about. */
  readonly size: number;
  readonly draw: () => string;
}

export type Piece = Said | Detail;

/** What is shown whole or not at all. */
export interface Said {
  readonly kind: 'said';
  /** UTF-16 units, about; 0 where that is little. */
  readonly size: number;
  draw(): readonly ChatPart[];
}

/** What folds into one line, with others, where there is no room for it. */
export interface Detail {
  readonly kind: 'detail';
  draw(): ChatPart | undefined;
  readonly folded: Folded;
}

export type Folded =
  /** Named as it came: a name is made fit to be shown once for all its calls. */
  | { readonly as: 'call'; readonly name: string | null }
  | { readonly as: 'change' | 'output' | 'event' }
  | { readonly as: 'request'; readonly requestId: number }
  /** A line of the moment, which nobody misses. */
  | { readonly as: 'nothing' };

import { TIMINGS, type Timings } from './timings.js';

/**
 * Pauses between attempts to attach: exponential with jitter, bounded, and with an end (some 15 s in all). A runtime
 * lives on this machine: one that has not come back by then needs a person.
 */
export const ATTEMPTS = 8;

/** Milliseconds before the attempt after `attempt` (which counts from 1). `random`: at least 0, below 1. */
export function pauseAfter(
  attempt: number,
  random: number,
  askedMs = 0,
  { firstPause, longestPause }: Timings = TIMINGS,
): number {
  const ceiling = Math.min(longestPause, firstPause * 2 ** (attempt - 1));
  return Math.max(ceiling / 2 + (random * ceiling) / 2, Math.min(askedMs, 60_000));
}

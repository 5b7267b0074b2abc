import { TIMINGS, type Timings } from './timings.js';

/**
 * Pauses between attempts to attach: exponential with jitter, bounded, and with an end. A runtime lives on this machine:
 * one that was there and has not come back after some 15 s needs a person.
 */
export const ATTEMPTS = 8;
/** Attempts at a runtime that never answered: most likely the address is wrong, and a person waits (some 3 s). */
export const FIRST_ATTEMPTS = 5;

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

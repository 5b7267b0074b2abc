/**
 * Pauses between attempts to attach: exponential with jitter, bounded, and with an end (some 15 s in all). A runtime
 * lives on this machine: one that has not come back by then needs a person.
 */
export const ATTEMPTS = 8;
const FIRST_MS = 250;
const LONGEST_MS = 5_000;

/** Milliseconds before the attempt after `attempt` (which counts from 1). `random`: at least 0, below 1. */
export function pauseAfter(attempt: number, random: number, askedMs = 0): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.max(ceiling / 2 + (random * ceiling) / 2, Math.min(askedMs, 60_000));
}

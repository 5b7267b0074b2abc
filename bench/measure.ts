import type { Side } from './sides.js';
import { conversation, type Conversation, type ReadSize } from './wire.js';

const SHORT = 5_000;

/** What one streamed delta cost, in µs. */
export interface Cost {
  /** Processor time of all threads, so what the garbage collector does beside the main thread counts. */
  readonly cpu: number;
  readonly wall: number;
}

/** A side whose text came out wrong has no cost. */
export class WrongText extends Error {
  override readonly name = 'WrongText';
}

/** Runs once, with nothing young on the heap: neither what the last run left nor what made this one ready. */
export async function costOf(name: string, run: () => Promise<string | undefined>, deltas: number): Promise<Cost> {
  clearYoung();
  const wall = performance.now();
  const cpu = process.cpuUsage();
  const wrong = await run();
  const spent = process.cpuUsage(cpu);
  const passed = performance.now() - wall;
  if (wrong !== undefined) throw new WrongText(`${name}: ${wrong}`);
  return { cpu: (spent.user + spent.system) / deltas, wall: (passed * 1000) / deltas };
}

/** One more, in each round that it takes part in. */
export interface Entrant {
  readonly name: string;
  readonly once: () => Promise<Cost>;
  /** Takes part in the first so many rounds only. */
  readonly rounds?: number;
}

export type Costs = ReadonlyMap<string, readonly Cost[]>;

/** All entrants in turns, forwards and backwards, so that what else the machine does hits all alike. */
export async function inRounds(entrants: readonly Entrant[], rounds: number, warmups: number): Promise<Costs> {
  const costs = new Map(entrants.map(({ name }) => [name, [] as Cost[]]));
  for (let round = -warmups; round < rounds; round++) {
    const order = round % 2 === 0 ? entrants : entrants.toReversed();
    for (const { name, once, rounds: own = rounds } of order) {
      if (round >= own) continue;
      const cost = await once();
      if (round >= 0) costs.get(name)?.push(cost);
    }
  }
  return costs;
}

/** A run of this side behind a short one: what ran in between may have cost the side its optimised code. */
export function entrant(side: Side, text: Conversation, size: ReadSize, rounds?: number): Entrant {
  const short = conversation(Math.min(SHORT, text.deltas.length));
  const once = async () => {
    await costOf(side.name, side.prepare(short, size), short.deltas.length);
    return costOf(side.name, side.prepare(text, size), text.deltas.length);
  };
  return { name: side.name, once, ...(rounds === undefined ? {} : { rounds }) };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** How many times the one costs what the other does: the median of the rounds' own ratios. */
export function ratio(costs: Costs, of: string, to: string, measure: keyof Cost = 'cpu'): number {
  const others = costs.get(to) ?? [];
  return median(
    (costs.get(of) ?? []).flatMap((cost, round) => {
      const other = others[round];
      return other ? cost[measure] / other[measure] : [];
    }),
  );
}

export function medianCost(costs: Costs, name: string): Cost {
  const all = costs.get(name) ?? [];
  return { cpu: median(all.map(({ cpu }) => cpu)), wall: median(all.map(({ wall }) => wall)) };
}

/**
 * Twice, because the first time only moves what is young. A whole collection would throw optimised code away as well,
 * which no running program does between two turns.
 */
function clearYoung(): void {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc, or through scripts/bench.mjs.');
  globalThis.gc({ type: 'minor', execution: 'sync' });
  globalThis.gc({ type: 'minor', execution: 'sync' });
}

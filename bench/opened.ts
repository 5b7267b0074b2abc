import type { HistoryMessage } from '../src/protocol/frontend-v2.js';
import {
  HISTORY_BLOCKS_LIMIT,
  HISTORY_DETAILS_LIMIT,
  HISTORY_PREVIEW_LIMIT,
  HISTORY_SAID_LIMIT,
  HISTORY_TURNS_LIMIT,
} from '../src/selectors/bounds.js';
import { selectHistoryTurns, type HistoryTurn } from '../src/selectors/historyTurns.js';
import { emptyState } from '../src/store/replay.js';
import type { RootState } from '../src/store/state.js';
import { EMPTY_TRANSCRIPT } from '../src/store/transcript.js';
import { CONNECTION, HistoryServer } from './attached.js';
import { atLeast, atMost, type Bar } from './bars.js';
import { CALLS, asWire, longHistory } from './longHistory.js';
import { mapAll } from './mapAll.js';
import { costOf, inRounds, median, medianCost, ratio, WrongText, type Costs, type Entrant } from './measure.js';

const KIB = 1024;
const MIB = 1024 * KIB;

export interface OpenedPlan {
  /** So many turns each, few first. */
  readonly attached: readonly number[];
  readonly stored: readonly number[];
  readonly rounds: number;
}

/** Of one history: what it took over HTTP, and what it left on the heap. */
export interface AttachedFigures {
  readonly turns: number;
  readonly megabytes: number;
  /** Processor time in ms, both ends; of each round. */
  readonly attach: readonly number[];
  readonly open: readonly number[];
  readonly mapAll: readonly number[];
  /** MiB on the heap: of the state, of what is opened, and of everything mapped. */
  readonly heap: { readonly state: number; readonly opened: number; readonly mapped: number };
}

export interface StoredFigures {
  readonly turns: readonly number[];
  readonly costs: Costs;
  /** MiB of text that is given to an editor; by name. */
  readonly given: ReadonlyMap<string, number>;
}

export interface OpenedFigures {
  readonly attached: readonly AttachedFigures[];
  readonly stored: StoredFigures;
}

export async function measureOpened(plan: OpenedPlan): Promise<OpenedFigures> {
  const attached: AttachedFigures[] = [];
  for (const turns of plan.attached) attached.push(await measureAttached(turns, plan.rounds));
  return { attached, stored: await measureStored(plan) };
}

/** attach → state → opened history, over HTTP on this machine: CALLS results of 4 KiB a turn. */
async function measureAttached(turns: number, rounds: number): Promise<AttachedFigures> {
  const server = await HistoryServer.open(asWire(longHistory(turns, 4 * KIB)));
  const all: Round[] = [];
  for (let round = -1; round < rounds; round++) {
    const figures = await attachOnce(server, turns);
    if (round >= 0) all.push(figures);
  }
  server.close();
  const of = (figure: (round: Round) => number) => all.map(figure);
  return {
    turns,
    megabytes: server.bytes / MIB,
    attach: of((round) => round.attach),
    open: of((round) => round.open),
    mapAll: of((round) => round.mapAll),
    heap: {
      state: median(of((round) => round.heap.state)),
      opened: median(of((round) => round.heap.opened)),
      mapped: median(of((round) => round.heap.mapped)),
    },
  };
}

interface Round {
  readonly attach: number;
  readonly open: number;
  readonly mapAll: number;
  readonly heap: AttachedFigures['heap'];
}

async function attachOnce(server: HistoryServer, turns: number): Promise<Round> {
  // What the round before left is let go at the event loop's next turns.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const empty = heapUsed();
  const began = process.cpuUsage();
  const link = await server.attach();
  const attach = spent(began);
  const filled = heapUsed();
  const shown = once(() => selectHistoryTurns(link.state, CONNECTION));
  const withShown = heapUsed();
  const mapped = once(() => mapAll(historyOf(link.state)));
  const withMapped = heapUsed();
  // All of it is in use to here, so the heap held it.
  check(shown.turns, turns, 4 * KIB);
  if (mapped.turns.length < shown.turns.length) throw new WrongText('Mapping all of it gave fewer turns');
  await link.stop();
  const heap = {
    state: (filled - empty) / MIB,
    opened: (withShown - filled) / MIB,
    mapped: (withMapped - withShown) / MIB,
  };
  return { attach, open: shown.cost, mapAll: mapped.cost, heap };
}

const OURS = 'this product';
const ALL = 'mapping all of it';

/** The state as it is after an attachment, made directly: CALLS results of 64 KiB a turn. */
async function measureStored({ stored, rounds }: OpenedPlan): Promise<StoredFigures> {
  const given = new Map<string, number>();
  const entrants = stored.flatMap((turns): readonly Entrant[] => {
    const history = longHistory(turns, 64 * KIB);
    const side = (name: string, draw: (state: RootState) => readonly HistoryTurn[]): Entrant => {
      const named = nameOf(name, turns);
      // Mapping ten thousands of messages takes seconds.
      const slow = name === ALL && turns > HISTORY_TURNS_LIMIT;
      return {
        name: named,
        ...(slow ? { rounds: Math.min(2, rounds) } : {}),
        once: async () => {
          const state = stateOf(history);
          let last: readonly HistoryTurn[] = [];
          const cost = await costOf(
            named,
            () => {
              last = draw(state);
              return Promise.resolve(undefined);
            },
            1,
          );
          given.set(named, sizeOf(last));
          if (name === OURS) check(last, turns, 64 * KIB);
          return cost;
        },
      };
    };
    return [
      side(OURS, (state) => selectHistoryTurns(state, CONNECTION)),
      side(ALL, (state) => mapAll(historyOf(state))),
    ];
  });
  return { turns: stored, costs: await inRounds(entrants, rounds, rounds > 1 ? 1 : 0), given };
}

function nameOf(name: string, turns: number): string {
  return `${name}, ${turns.toLocaleString('en-US')} turns`;
}

/** A new transcript at each call: what was drawn of one is remembered. */
function stateOf(history: readonly HistoryMessage[]): RootState {
  return { ...emptyState(), transcript: { [CONNECTION]: { ...EMPTY_TRANSCRIPT, history } } };
}

function historyOf(state: RootState): readonly HistoryMessage[] {
  return state.transcript[CONNECTION]?.history ?? [];
}

function once(draw: () => readonly HistoryTurn[]): { readonly turns: readonly HistoryTurn[]; readonly cost: number } {
  const began = process.cpuUsage();
  const turns = draw();
  return { turns, cost: spent(began) };
}

function spent(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** MiB, with a byte to the UTF-16 unit: what is drawn here is ASCII but for a few marks. */
function sizeOf(turns: readonly HistoryTurn[]): number {
  let size = 0;
  for (const { prompt, parts } of turns) {
    size += prompt?.length ?? 0;
    for (const part of parts) {
      if (part.kind === 'tool') size += (part.input?.length ?? 0) + (part.output?.length ?? 0);
      else if ('text' in part) size += part.text.length;
    }
  }
  return size / MIB;
}

/** The newest turns whole, those before in short, the rest as a notice; and never more than the budget. */
function check(drawn: readonly HistoryTurn[], turns: number, bytes: number): void {
  const wrong = (what: string) => new WrongText(`The history of ${turns} turns: ${what}`);
  const parts = drawn.flatMap((turn) => turn.parts);
  const tools = parts.flatMap((part) => (part.kind === 'tool' ? [part] : []));
  const detailed = Math.min(turns, HISTORY_BLOCKS_LIMIT / 2 / CALLS);
  const shown = Math.min(turns, HISTORY_TURNS_LIMIT);
  const omitted = turns > HISTORY_TURNS_LIMIT ? turns - HISTORY_TURNS_LIMIT + 1 : 0;
  if (drawn.length !== shown) throw wrong(`${drawn.length} turns`);
  if (tools.length !== detailed * CALLS) throw wrong(`${tools.length} calls in detail`);
  if (sizeOf(drawn) > (HISTORY_SAID_LIMIT + HISTORY_DETAILS_LIMIT) / MIB) throw wrong(`${sizeOf(drawn)} MiB`);
  const cut = bytes > HISTORY_PREVIEW_LIMIT;
  if (!tools.every(({ output = '' }) => /… \([\d,]+ more characters\)$/.test(output) === cut))
    throw wrong('the results');
  const said = drawn.map(({ prompt }) => prompt?.split(':')[0] ?? '');
  const expected = Array.from({ length: shown }, (_, at) => `Prompt ${turns - shown + at}`);
  if (said.some((prompt, at) => prompt !== (omitted > 0 && at === 0 ? '' : expected[at]))) throw wrong('the prompts');
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  const folded = texts.filter((text) => text === '20 tool calls: bash ×12, edit_file ×8 (details not shown)');
  if (folded.length !== shown - detailed - (omitted > 0 ? 1 : 0)) throw wrong(`${folded.length} lines of calls`);
  const notice = `${omitted.toLocaleString('en-US')} earlier turns are not shown. The runtime's own history is complete.`;
  if (omitted > 0 && texts[0] !== notice) throw wrong(`the notice "${texts[0] ?? ''}"`);
}

const FASTER_THAN_ALL = 20;
const NO_MORE_WHEN_STORED = 3;

export function openedBars({ stored: { turns, costs } }: OpenedFigures): readonly Bar[] {
  const [, some = 0, many = 0] = turns;
  return [
    atLeast(
      `at least ${FASTER_THAN_ALL}× faster than ${nameOf(ALL, some)} of 64 KiB results`,
      ratio(costs, nameOf(ALL, some), nameOf(OURS, some)),
      FASTER_THAN_ALL,
    ),
    atMost(
      `at most ${NO_MORE_WHEN_STORED}× to open ${many.toLocaleString('en-US')} turns what ${some} take`,
      ratio(costs, nameOf(OURS, many), nameOf(OURS, some)),
      NO_MORE_WHEN_STORED,
    ),
  ];
}

const column = (text: string) => text.padStart(12);

export function openedTable({ attached, stored }: OpenedFigures): readonly string[] {
  const first = stored.costs.keys().next().value ?? '';
  return [
    '',
    `A history of ${CALLS} results of 4 KiB a turn over HTTP, medians of ${attached[0]?.attach.length ?? 0} rounds, processor time`,
    `  ${'turns'.padEnd(10)}${['MiB sent', 'attach', 'open', 'map all', 'state heap', 'open heap', 'all heap'].map(column).join('')}`,
    ...attached.map(({ turns, megabytes, attach, open, mapAll: all, heap }) => {
      const times = [attach, open, all].map((values) => `${median(values).toFixed(1)} ms`);
      const heaps = [heap.state, heap.opened, heap.mapped].map((value) => `${value.toFixed(1)} MiB`);
      return `  ${turns.toLocaleString('en-US').padEnd(10)}${[megabytes.toFixed(1), ...times, ...heaps].map(column).join('')}`;
    }),
    '',
    `Opening a history of ${CALLS} results of 64 KiB a turn, from the state`,
    ...[...stored.costs.keys()].map((name) => {
      const cost = `${(medianCost(stored.costs, name).cpu / 1000).toFixed(2)} ms`.padStart(13);
      const times = `${ratio(stored.costs, name, first).toFixed(2)}×`.padStart(11);
      return `  ${name.padEnd(38)}${cost}${times}   ${(stored.given.get(name) ?? 0).toFixed(1)} MiB of text given`;
    }),
  ];
}

export function openedJson({ attached, stored }: OpenedFigures): object {
  return {
    attached,
    stored: [...stored.costs.keys()].map((name) => ({
      name,
      ...medianCost(stored.costs, name),
      given: stored.given.get(name),
    })),
  };
}

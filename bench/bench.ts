// What a streamed delta costs, beside what it costs others, what the extension costs an editor at its start, and what
// opening a long conversation does. Run by scripts/bench.mjs; see docs/benchmarks.md.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { entrant, inRounds, WrongText } from './measure.js';
import { measureOpened, openedBars, type OpenedPlan } from './opened.js';
import { agUi, aiSdk, aiSdkParsed, aiSdkUnread } from './peers.js';
import { asJson, asText, verdicts, type Report, type Section } from './report.js';
import { openRetained } from './retained.js';
import { openOurs, parseAlone } from './sides.js';
import { byteBar, startUps, timeBars } from './startUp.js';
import { conversation, type ReadSize } from './wire.js';

interface Plan {
  readonly deltas: number;
  readonly rounds: number;
  readonly warmups: number;
  /** Beside the peers, with fewer rounds the more there is to do: one of them is quadratic. */
  readonly beside: readonly { readonly deltas: number; readonly rounds: number; readonly slow: number }[];
  readonly retained: { readonly few: number; readonly many: number; readonly rounds: number };
  readonly startUps: number;
  readonly opened: OpenedPlan;
}

const FULL: Plan = {
  deltas: 20_000,
  rounds: 21,
  warmups: 6,
  beside: [
    { deltas: 2_000, rounds: 9, slow: 5 },
    { deltas: 5_000, rounds: 7, slow: 3 },
    { deltas: 20_000, rounds: 11, slow: 2 },
  ],
  retained: { few: 1_000, many: 100_000, rounds: 31 },
  startUps: 21,
  opened: { attached: [50, 500], stored: [50, 500, 5_000], rounds: 7 },
};

const QUICK: Plan = {
  deltas: 300,
  rounds: 1,
  warmups: 0,
  beside: [{ deltas: 300, rounds: 1, slow: 1 }],
  retained: { few: 50, many: 500, rounds: 1 },
  startUps: 1,
  opened: { attached: [5, 50], stored: [5, 50, 600], rounds: 1 },
};

const SIZES: readonly ReadSize[] = [4096, 65536, 'frame'];
const OPEN_CALLS = 64;

async function measured({
  deltas,
  rounds,
  warmups,
  beside,
  retained,
}: Plan): Promise<Pick<Report, 'sides' | 'sections'>> {
  const sections: Section[] = [];
  const ours = await openOurs();
  const others = [aiSdk, aiSdkUnread, aiSdkParsed, agUi];
  for (const size of SIZES) {
    const text = conversation(deltas);
    const entrants = [entrant(parseAlone, text, size), entrant(ours, text, size)];
    sections.push({ about: 'floor', deltas, size, costs: await inRounds(entrants, rounds, warmups) });
  }
  for (const { deltas: fewer, rounds: some, slow } of beside) {
    const text = conversation(fewer);
    const entrants = [ours, ...others].map((side) => entrant(side, text, 4096, side === agUi ? slow : some));
    // The smaller texts warm up the larger ones.
    const costs = await inRounds(entrants, some, sections.some(({ about }) => about === 'peers') ? 0 : warmups);
    sections.push({ about: 'peers', deltas: fewer, size: 4096, costs });
  }
  await ours.stop?.();
  for (const openCalls of [0, OPEN_CALLS]) {
    const sessions = [
      await openRetained(retained.few, openCalls, deltas / 2),
      await openRetained(retained.many, openCalls, deltas / 2),
    ];
    const entrants = sessions.map((session) => session.entrant);
    const costs = await inRounds(entrants, retained.rounds, warmups);
    sections.push({ about: 'retained', deltas: deltas / 2, size: 4096, costs });
    for (const session of sessions) await session.stop();
  }
  return { sides: [ours, parseAlone, ...others].map(({ name, includes }) => ({ name, includes })), sections };
}

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, check: { type: 'boolean' } },
});
const quick = options.quick ?? false;

try {
  const load = loadavg();
  const plan = quick ? QUICK : FULL;
  const extension = startUps(plan.startUps);
  const { sides, sections } = await measured(plan);
  const opened = await measureOpened(plan.opened);
  // Bytes are the same however short it was.
  const bars = [
    ...(quick ? [] : [...verdicts(sections), ...timeBars(extension), ...openedBars(opened)]),
    byteBar(extension),
  ];
  const report: Report = { load, isQuick: quick, extension, sides, sections, opened, bars };
  console.log(options.json === true ? asJson(report) : asText(report));
  if (options.check === true && report.bars.some(({ met }) => !met)) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof WrongText)) throw error;
  console.error(`A text came out wrong. ${error.message}.`);
  // What runs is not worth the wait: open sessions have timers.
  process.exit(1);
}

import { cpus } from 'node:os';
import { atLeast, atMost, barText, type Bar } from './bars.js';
import { medianCost, ratio, type Costs } from './measure.js';
import { openedJson, openedTable, type OpenedFigures } from './opened.js';
import { agUi, aiSdk } from './peers.js';
import { OURS, parseAlone } from './sides.js';
import { extensionTable, type ExtensionFigures } from './startUp.js';
import type { ReadSize } from './wire.js';

/** What ran in turns. */
export interface Section {
  readonly about: 'floor' | 'peers' | 'retained';
  readonly deltas: number;
  readonly size: ReadSize;
  readonly costs: Costs;
}

export interface Report {
  /** The machine's load average when it began. */
  readonly load: readonly number[];
  /** Too short to say what anything costs. */
  readonly isQuick: boolean;
  readonly extension: ExtensionFigures;
  readonly sides: readonly { readonly name: string; readonly includes: string }[];
  readonly sections: readonly Section[];
  readonly opened: OpenedFigures;
  readonly bars: readonly Bar[];
}

const NO_MORE_THAN_PARSING = 2.5;
const AIM = 1.5;
const FASTER_THAN_AI_SDK = 10;
const FASTER_THAN_AG_UI = 50;
const NO_MORE_WHEN_RETAINED = 1.25;

export function verdicts(sections: readonly Section[]): readonly Bar[] {
  return sections.flatMap((section): readonly Bar[] => {
    const { costs, deltas } = section;
    switch (section.about) {
      case 'floor': {
        const bar = `at most ${NO_MORE_THAN_PARSING}× SSE and JSON.parse alone, ${sizeText(section.size)}`;
        return [{ ...atMost(bar, ratio(costs, OURS, parseAlone.name), NO_MORE_THAN_PARSING), aim: AIM }];
      }
      case 'peers':
        // The bars are for a long answer.
        if (sections.some(({ about, deltas: more }) => about === 'peers' && more > deltas)) return [];
        return [
          atLeast(
            `at least ${FASTER_THAN_AI_SDK}× faster than ${aiSdk.name}`,
            ratio(costs, aiSdk.name, OURS),
            FASTER_THAN_AI_SDK,
          ),
          atLeast(
            `at least ${FASTER_THAN_AG_UI}× faster than ${agUi.name}`,
            ratio(costs, agUi.name, OURS),
            FASTER_THAN_AG_UI,
          ),
        ];
      case 'retained': {
        const [few = '', many = ''] = costs.keys();
        const bar = `at most ${NO_MORE_WHEN_RETAINED}× with ${many} what it is with ${few}`;
        return [atMost(bar, ratio(costs, many, few), NO_MORE_WHEN_RETAINED)];
      }
    }
  });
}

export function asJson({ load, extension, sides, sections, opened, bars }: Report): string {
  const figures = { sections: sections.map(withMedians), opened: openedJson(opened), bars };
  return JSON.stringify({ ...machine(), load, extension, sides, ...figures }, null, 2);
}

export function asText({ load, isQuick, extension, sides, sections, opened, bars }: Report): string {
  const { node, processors } = machine();
  return [
    `Node ${node}, ${processors} processors, load average ${load.map((value) => value.toFixed(1)).join(' ')}.`,
    ...(isQuick
      ? [
          'Every text came out right, histories too, and the extension starts. This was too short to say what anything costs.',
          ...bars.map(barText),
        ]
      : [
          'Processor time per text_delta: medians of rounds in turns. Ratios: medians of the ratio in each round.',
          '',
          'What the time of each includes',
          ...sides.map(({ name, includes }) => `  ${name.padEnd(38)}${includes}`),
          ...sections.flatMap(table),
          ...openedTable(opened),
          ...extensionTable(extension),
          '',
          'Bars',
          ...bars.map(barText),
        ]),
  ].join('\n');
}

function machine() {
  return { node: process.version, processors: cpus().length };
}

const HEADINGS = {
  floor: 'Beside parsing alone',
  peers: 'Beside others',
  retained: 'By what the session holds',
} as const;

function table(section: Section): readonly string[] {
  const { about, deltas, size } = section;
  return [
    '',
    `${HEADINGS[about]}: ${deltas.toLocaleString('en-US')} deltas, ${sizeText(size)}`,
    ...withMedians(section).costs.map(
      ({ name, cpu, times, rounds }) =>
        `  ${name.padEnd(38)}${cpu.toFixed(2).padStart(10)} µs${`${times.toFixed(2)}×`.padStart(10)}   (${rounds} rounds)`,
    ),
  ];
}

/** A section in numbers: of its first entrant, each other is so many times as dear. */
function withMedians({ about, deltas, size, costs }: Section) {
  const [first = ''] = costs.keys();
  return {
    about,
    deltas,
    size,
    costs: [...costs].map(([name, all]) => ({
      name,
      ...medianCost(costs, name),
      times: ratio(costs, name, first),
      timesByWall: ratio(costs, name, first, 'wall'),
      rounds: all.length,
    })),
  };
}

function sizeText(size: ReadSize): string {
  return size === 'frame' ? 'one frame a read' : `reads of ${size / 1024} KiB`;
}

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedBytes } from '../scripts/build.mjs';
import { atMost, type Bar } from './bars.js';
import { median } from './measure.js';

/** How long one start took, in ms. */
export interface StartUp {
  /** The import of the extension's file up to its exports. */
  readonly load: number;
  /** `activate` up to its return. */
  readonly activate: number;
  /** From there until what the first use needs is loaded. */
  readonly first: number;
}

/** What scripts/bench.mjs says of the extension that it built. */
interface Built {
  readonly entry: string;
  readonly first: string;
  readonly bytes: LoadedBytes;
}

export interface ExtensionFigures {
  readonly bytes: LoadedBytes;
  /** One of each in a round. */
  readonly ours: readonly StartUp[];
  readonly empty: readonly StartUp[];
}

const KB = 1024;
const BYTES_TO_ATTACH = 150 * KB;
const LOAD_MS = 30;
const ACTIVATE_MS = 10;

/** Starts both in turns, forwards and backwards, each time in a new process; the first round only warms the disk up. */
export function startUps(rounds: number): ExtensionFigures {
  const { entry, first, bytes } = JSON.parse(readFileSync(join(import.meta.dirname, 'built.json'), 'utf8')) as Built;
  const [ours, empty]: [StartUp[], StartUp[]] = [[], []];
  const sides = [
    { all: ours, args: [entry, first] },
    { all: empty, args: [join(import.meta.dirname, 'emptyExtension.mjs')] },
  ];
  for (let round = -1; round < rounds; round++) {
    for (const { all, args } of round % 2 === 0 ? sides : sides.toReversed()) {
      const startUp = startOnce(args);
      if (round >= 0) all.push(startUp);
    }
  }
  return { bytes, ours, empty };
}

/** With a handover, so that `activate` does all that it ever does; it says that there is no runtime, so nobody is called. */
function startOnce(args: readonly string[]): StartUp {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'startOnce.mjs'), ...args],
    { encoding: 'utf8', env: { ...process.env, SUPERCODE_FRONTEND_UNAVAILABLE: 'This is a bench.' } },
  );
  if (status !== 0) throw new Error(`An extension did not start:\n${stderr}`);
  return JSON.parse(stdout) as StartUp;
}

export function byteBar({ bytes }: ExtensionFigures): Bar {
  return atMost(
    `at most ${BYTES_TO_ATTACH / KB} KB minified to load for a runtime to attach to`,
    bytes.attached / KB,
    BYTES_TO_ATTACH / KB,
    ' KB',
  );
}

export function timeBars({ ours, empty }: ExtensionFigures): readonly Bar[] {
  const beyond = ours.map(({ activate }, round) => activate - (empty[round]?.activate ?? NaN));
  return [
    atMost(`at most ${LOAD_MS} ms to load the extension's file`, median(ours.map(({ load }) => load)), LOAD_MS, ' ms'),
    atMost(`at most ${ACTIVATE_MS} ms in activate() beyond an empty extension`, median(beyond), ACTIVATE_MS, ' ms'),
  ];
}

export function extensionTable({ bytes, ours, empty }: ExtensionFigures): readonly string[] {
  const figures = (name: string, all: readonly StartUp[], shown: readonly (keyof StartUp)[]) => {
    const medians = shown.map((key) => `${median(all.map((each) => each[key])).toFixed(2)} ms`.padStart(12));
    return `  ${name.padEnd(26)}${medians.join('')}`;
  };
  const sizes = Object.entries(bytes) as [keyof LoadedBytes, number][];
  return [
    '',
    `The extension in a fake editor: medians of ${ours.length} new processes each`,
    `  ${''.padEnd(26)}${['its file', 'activate()', 'first use'].map((head) => head.padStart(12)).join('')}`,
    figures('this extension', ours, ['load', 'activate', 'first']),
    figures('an empty one', empty, ['load', 'activate']),
    '',
    'What it makes an editor load, minified',
    ...sizes.map(([step, size]) => `  ${step.padEnd(26)}${(size / KB).toFixed(1).padStart(9)} KB`),
  ];
}

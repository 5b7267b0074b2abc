import { parseArguments } from './arguments.js';
import { UsageError } from './exitCodes.js';

export const REPLAY_HELP = `supercode-replay: what a recorded chat looked like, at any point of it

Usage: supercode-replay FILE [options]

  FILE          a log that supercode-chat --record wrote
  --at N        up to and with action N, as numbered in the log; all where absent
  --show WHAT   parts (default), state or actions
  --json        one JSON object a line
  --help, --version

At the end stands the SHA-256 of the state, and whether it is the one that was recorded.

Exit code: 0 replayed, 1 the recorded state was another, 2 bad usage, 4 the log is damaged (its readable
rest is shown all the same).
`;

export type Shown = 'parts' | 'state' | 'actions';

export interface ReplayOptions {
  readonly file: string;
  /** The last action to apply. */
  readonly at?: number;
  readonly show: Shown;
  readonly json: boolean;
}

export type ReplayCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'replay'; readonly options: ReplayOptions };

const SHOWN: readonly Shown[] = ['parts', 'state', 'actions'];

/** Throws `UsageError`. */
export function replayCommand(argv: readonly string[]): ReplayCommand {
  const { values, positionals } = parseArguments('supercode-replay', {
    args: [...argv],
    allowPositionals: true,
    options: {
      at: { type: 'string' },
      show: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
    },
  });
  if (values.help === true) return { kind: 'help' };
  if (values.version === true) return { kind: 'version' };
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new UsageError(`Name one log to replay${more.length > 0 ? ', not several' : ''}: supercode-replay FILE.`);
  }
  const show = SHOWN.find((each) => each === (values.show ?? 'parts'));
  if (show === undefined) {
    throw new UsageError(`--show can't be ${JSON.stringify(values.show)}; it is one of ${SHOWN.join(', ')}.`);
  }
  const at = values.at === undefined ? {} : { at: numberIn(values.at) };
  return { kind: 'replay', options: { file, ...at, show, json: values.json === true } };
}

function numberIn(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new UsageError(`--at can't be ${JSON.stringify(text)}; give the number of an action, such as --at 12.`);
}

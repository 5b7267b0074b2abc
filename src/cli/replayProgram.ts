import { sha256Hex } from '../services/node/hash.js';
import { readLines } from '../services/node/lines.js';
import { canonicalJson } from '../store/canonical.js';
import { replay, type Replayed } from '../store/replay.js';
import { EXIT, UsageError, type ExitCode } from './exitCodes.js';
import { canvasOn, type Io } from './io.js';
import { Output } from './output.js';
import { jsonReplayOutput, textReplayOutput, type ReplayOutput } from './replayOutput.js';
import { ReplayedParts } from './replayedParts.js';
import type { ReplayOptions } from './replayOptions.js';

/** Folds a log and shows what it holds. */
export async function showReplay(options: ReplayOptions, io: Io): Promise<ExitCode> {
  const output = new Output(io.stdout);
  const write = (text: string) => {
    output.write(text);
  };
  const shown = options.json
    ? jsonReplayOutput(write)
    : textReplayOutput({ ...canvasOn(io.stdout, output, io), isLive: false }, (line) => io.stderr.write(line));
  const code = show(options, shown);
  await output.flush();
  return code;
}

function show({ file, at, show: what }: ReplayOptions, output: ReplayOutput): ExitCode {
  const parts = new ReplayedParts();
  const replayed = reading(file, (lines) =>
    replay(lines, {
      ...(at === undefined ? {} : { at }),
      onAction: (record, root) => {
        if (what === 'parts') parts.readOn(root);
        else if (what === 'actions') output.action(record);
      },
    }),
  );
  if (what === 'parts') {
    parts.readOn(replayed.state);
    output.parts(parts.seen);
  } else if (what === 'state') {
    output.state(replayed.state);
  }
  const { damage } = replayed;
  for (const each of damage) output.damage(each);
  const hash = sha256Hex(canonicalJson(replayed.state));
  const matches = replayed.recordedHash === undefined ? null : replayed.recordedHash === hash;
  output.end({ n: replayed.n, hash, matches });
  if (damage.length > 0) return EXIT.damaged;
  return matches === false ? EXIT.failed : EXIT.succeeded;
}

function reading(file: string, work: (lines: Iterable<string>) => Replayed): Replayed {
  try {
    return work(readLines(file));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    const why = code === 'ENOENT' ? 'does not exist' : code === 'EISDIR' ? 'is a folder' : `can't be read (${code})`;
    throw new UsageError(`${JSON.stringify(file)} ${why}. Name a log that supercode-chat --record wrote.`);
  }
}

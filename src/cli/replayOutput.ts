import { title } from '../selectors/bounds.js';
import { boundedJson } from '../protocol/bounded.js';
import { canonicalJson } from '../store/canonical.js';
import type { LogRecord } from '../store/recorder.js';
import type { Damage } from '../store/replay.js';
import type { RootState } from '../store/state.js';
import { jsonLine, jsonPart, onOneLine } from './jsonOutput.js';
import { PartDrawing } from './partDrawing.js';
import type { Seen } from './replayedParts.js';
import { Screen, type Canvas } from './screen.js';

/** How a replay ended. */
export interface ReplayEnd {
  /** The last action applied. */
  readonly n: number;
  readonly hash: string;
  /** Null where the log has no hash to compare with: it is cut short, or of another version of the state. */
  readonly matches: boolean | null;
}

/** How what a replay found is told. */
export interface ReplayOutput {
  parts(seen: readonly Seen[]): void;
  state(root: RootState): void;
  action(record: LogRecord): void;
  damage(damage: Damage): void;
  end(end: ReplayEnd): void;
}

/** One JSON object a line. */
export function jsonReplayOutput(write: (line: string) => void): ReplayOutput {
  return {
    parts: (seen) => {
      const labelled = isLabelled(seen);
      for (const { connection, part } of seen) {
        if (part) write(jsonLine({ type: 'part', ...(labelled ? { connection } : {}), part: jsonPart(part) }));
      }
    },
    state: (root) => {
      // The text that the hash is of stands in the line as it is.
      write(onOneLine(`{"type":"state","state":${canonicalJson(root)}}`));
    },
    action: ({ n, at, action }) => {
      write(jsonLine({ type: 'action', n, at, action }));
    },
    damage: ({ line, reason }) => {
      write(jsonLine({ type: 'damage', line, reason }));
    },
    end: ({ n, hash, matches }) => {
      write(jsonLine({ type: 'end', n, hash, matches }));
    },
  };
}

const PAYLOAD_LIMIT = 160;

/** For a person to read. What is damaged goes to `complain`. */
export function textReplayOutput(canvas: Canvas, complain: (line: string) => void): ReplayOutput {
  const { paint } = canvas;
  const screen = new Screen(canvas);
  return {
    parts: (seen) => {
      const drawing = new PartDrawing(screen);
      const labelled = isLabelled(seen);
      let shown: string | undefined;
      for (const { connection, part, prompt } of seen) {
        if (labelled && connection !== shown) {
          drawing.end();
          screen.gap();
          screen.line(paint('dim', `── ${title(connection)}`));
          shown = connection;
        }
        if (part) drawing.draw(part);
        else drawing.prompt(prompt);
      }
      drawing.end();
      screen.gap();
      screen.render();
    },
    state: (root) => {
      screen.line(visible(canonicalJson(root)));
      screen.render();
    },
    action: ({ n, at, action }) => {
      const { type, ...rest } = action;
      const time = new Date(at);
      const when = Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(11, 23);
      const payload = Object.keys(rest).length === 0 ? '' : visible(boundedJson(rest, PAYLOAD_LIMIT));
      screen.line(
        `${String(n).padStart(5)} ${paint('dim', when)} ${paint('bold', title(type))} ${paint('dim', payload)}`,
      );
      screen.render();
    },
    damage: ({ line, reason }) => {
      complain(`line ${line}: ${title(reason)}\n`);
    },
    end: ({ n, hash, matches }) => {
      const verdicts = {
        true: paint('green', 'as recorded'),
        false: paint('red', 'NOT as recorded'),
        null: 'not compared',
      };
      screen.line(`after action ${n}: state ${hash}, ${verdicts[`${matches}`]}`);
      screen.render();
    },
  };
}

/** JSON that can do nothing to a terminal, and means the same. */
function visible(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (hidden) => `\\u${hidden.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isLabelled(seen: readonly Seen[]): boolean {
  return seen.some(({ connection }) => connection !== seen[0]?.connection);
}

import { isHosted, SNAPSHOT_MESSAGES, type HistoryMessage } from '../protocol/frontend-v2.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT, endOf, type Transcript } from '../store/transcript.js';
import { HISTORY_TURNS_LIMIT } from './bounds.js';
import { textPart } from './chatParts.js';
import { HistoryBudget, RUNTIME_HAS_ALL } from './historyBudget.js';
import { requestView, type PartCursor } from './newParts.js';
import type { ChatPart } from './parts.js';
import type { PastTurn } from './pastTurn.js';
import type { RequestView } from './requestParts.js';
import { countSavedTurns, savedTurnsBackwards } from './savedTurns.js';
import { selectSavedHistory } from './savedHistory.js';
import { seenTurnsBackwards } from './seenTurns.js';

/** A request and its response. The marker turn stands in for a request where a response has none. */
export interface HistoryTurn {
  /** Null for the marker turn: nothing is presented as a person's words that no person wrote. */
  readonly prompt: string | null;
  readonly marker: boolean;
  readonly parts: readonly ChatPart[];
}

/** What an editor that needs a request in front of each response shows as the marker turn's. */
export const HISTORY_MARKER = '⟨supercode runtime history⟩';

interface Memo {
  readonly view: RequestView;
  readonly saved: readonly HistoryMessage[];
  /** By the position in front of which they stand. */
  readonly turns: Map<number, readonly HistoryTurn[]>;
}

const memos = new WeakMap<Transcript, Memo>();

/**
 * A conversation as turns, oldest first: what the runtime had saved, then what happened since. The system prompt is the
 * model's affair and is left out. It costs what is shown, which is bounded (ADR 9): of older turns the details of tools
 * fold into a line each, and whole turns are left out; both is said.
 *
 * @param before leaves out what was seen from this position on: another reader draws it
 */
export function selectHistoryTurns(
  root: RootState,
  connection: ConnectionId,
  before?: PartCursor,
): readonly HistoryTurn[] {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const view = requestView(root, connection, transcript);
  const end = Math.min(before?.at ?? Infinity, endOf(transcript));
  const saved = selectSavedHistory(root, connection);
  const { turns } = memoOf(transcript, view, saved);
  const known = turns.get(end);
  if (known) return known;
  const drawn = turnsShown(transcript, view, saved, end);
  turns.set(end, drawn);
  return drawn;
}

function memoOf(transcript: Transcript, view: RequestView, saved: readonly HistoryMessage[]): Memo {
  const known = memos.get(transcript);
  const isOf = known?.view.requests === view.requests && known.view.descriptor === view.descriptor;
  if (known && isOf && known.saved === saved) return known;
  const memo: Memo = { view, saved, turns: new Map() };
  memos.set(transcript, memo);
  return memo;
}

interface Shown extends HistoryTurn {
  readonly earlier: () => number;
}

function turnsShown(
  transcript: Transcript,
  view: RequestView,
  saved: readonly HistoryMessage[],
  end: number,
): readonly HistoryTurn[] {
  const budget = new HistoryBudget(view);
  const cutOff = isCutOff(saved, view);
  /** Newest first. */
  const shown: Shown[] = [];
  let omitted: PastTurn['earlier'] | undefined;
  for (const { turn, id } of turnsBackwards(transcript, view, saved, end)) {
    const drawn = budget.draw(turn, id);
    if (drawn?.prompt === null && drawn.parts.length === 0) continue;
    if (!drawn || shown.length === HISTORY_TURNS_LIMIT) {
      omitted = turn.earlier;
      break;
    }
    shown.push({ ...drawn, marker: drawn.prompt === null, earlier: turn.earlier });
  }
  // A notice takes the place of one turn more, so that the bound holds with it.
  if ((omitted || cutOff) && shown.length === HISTORY_TURNS_LIMIT) omitted = shown.pop()?.earlier;
  const turns = shown.reverse().map(({ prompt, marker, parts }): HistoryTurn => ({ prompt, marker, parts }));
  const notice = noticeOf(omitted ? omitted() + 1 : 0, cutOff);
  return notice === undefined ? turns : withNotice(turns, notice);
}

function* turnsBackwards(
  transcript: Transcript,
  view: RequestView,
  saved: readonly HistoryMessage[],
  end: number,
): Generator<{ readonly turn: PastTurn; readonly id: string }> {
  const { generation } = transcript;
  let number = 0;
  for (const turn of seenTurnsBackwards(transcript, view, end, () => countSavedTurns(saved))) {
    yield { turn, id: `seen.${generation}.${number++}` };
  }
  for (const turn of savedTurnsBackwards(saved)) yield { turn, id: `turn.${number++}` };
}

/** A native runtime gives no more than its newest messages; a history that is whole begins with the system prompt. */
function isCutOff(history: readonly HistoryMessage[], { descriptor }: RequestView): boolean {
  const isAsMuchAsAsked = SNAPSHOT_MESSAGES.some((limit) => limit === history.length);
  return isAsMuchAsAsked && !isHosted(descriptor) && history[0]?.role !== 'system';
}

function noticeOf(omitted: number, cutOff: boolean): string | undefined {
  if (omitted === 0) return cutOff ? `What may have come before is not shown. ${RUNTIME_HAS_ALL}` : undefined;
  const turns = `${omitted.toLocaleString('en-US')} earlier ${omitted === 1 ? 'turn is' : 'turns are'}`;
  return `${cutOff ? 'At least ' : ''}${turns} not shown. ${RUNTIME_HAS_ALL}`;
}

function withNotice(turns: readonly HistoryTurn[], notice: string): readonly HistoryTurn[] {
  const part = textPart('omitted', 'notice', notice);
  const [first] = turns;
  return first?.marker === true
    ? [{ ...first, parts: [part, ...first.parts] }, ...turns.slice(1)]
    : [{ prompt: null, marker: true, parts: [part] }, ...turns];
}

import type { WaitingRequest } from '../selectors/waitingRequests.js';
import type { ToolPart } from '../selectors/parts.js';
import { selectTurn, selectTurnLabel } from '../selectors/turn.js';
import type { RootState } from '../store/state.js';
import type { PartDrawing } from './partDrawing.js';
import { plainLine } from './plainText.js';
import type { Canvas } from './screen.js';
import { CHAT, phaseOf } from './session.js';
import { fitted, widthOf } from './width.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
const CALLS_SHOWN = 5;

export interface Status {
  readonly canvas: Canvas;
  readonly drawing: PartDrawing;
  /** Calls that run. */
  readonly calls: readonly ToolPart[];
  readonly question: WaitingRequest | undefined;
  /** Digits of an answer that is being typed. */
  readonly typed: string;
  /** Since the turn began; ms. */
  readonly elapsed: number;
  /** Monotonic; ms. */
  readonly now: number;
  /** What Ctrl-C does. */
  readonly hint: string;
}

/** The changing lines at the bottom: what runs, what is asked, what goes on. Empty where nothing does. */
export function statusLines(root: RootState, status: Status): readonly string[] {
  const { canvas, now, elapsed, hint, question, calls } = status;
  const { paint } = canvas;
  const frame = paint('cyan', FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length] ?? '·');
  const label = connectionLabel(root) ?? turnLabel(root, question);
  if (label === undefined) return [];
  const time = elapsed < 1000 ? '' : ` · ${Math.floor(elapsed / 1000)} s`;
  const stops = selectTurn(root, CHAT).phase === 'idle' ? 'Ctrl-C leaves' : hint;
  const shownCalls = calls.slice(0, CALLS_SHOWN).map((call) => status.drawing.toolLine(call, frame));
  const more = calls.length > CALLS_SHOWN ? [paint('dim', `  and ${calls.length - CALLS_SHOWN} more calls`)] : [];
  return [
    ...(question === undefined ? [] : framedQuestion(question, status)),
    ...shownCalls,
    ...more,
    `${frame} ${fitted(`${label}${time}`, Math.max(10, canvas.columns() - stops.length - 5))} ${paint('dim', `· ${stops}`)}`,
  ];
}

/** The answers, as the end of the request's frame; where that is not right above, with its title. */
function framedQuestion(question: WaitingRequest, status: Status): readonly string[] {
  const { canvas, drawing } = status;
  const { paint } = canvas;
  const { requestId, title } = question.part;
  const isAbove = drawing.openRequest === requestId;
  const lines = questionLines(question, status).map((line, at, { length }) => {
    return `${paint('yellow', at === length - 1 ? '╰' : '│')} ${line}`;
  });
  return isAbove ? lines : [`${paint('yellow', '╭')} ${paint('bold', fitted(title, canvas.columns() - 2))}`, ...lines];
}

/** What may be answered, and with which key. */
export function questionLines({ part, problem }: WaitingRequest, { canvas, typed }: Pick<Status, 'canvas' | 'typed'>) {
  const { paint } = canvas;
  const choices = part.answers.map(({ label }, at) => `${paint(['bold', 'yellow'], String(at + 1))} ${label}`);
  const width = part.answers.reduce((sum, { label }) => sum + widthOf(label) + 5, 0);
  const failed = problem === null ? [] : [paint('red', `The answer did not get through: ${plainLine(problem)}`)];
  const number = typed === '' ? [] : [`${paint('dim', 'Number, then Enter:')} ${typed}`];
  return [...failed, ...(width <= canvas.columns() ? [choices.join('   ')] : choices), ...number];
}

function turnLabel(root: RootState, question: WaitingRequest | undefined): string | undefined {
  const label = selectTurnLabel(root, CHAT);
  return label === 'Working' && question !== undefined ? 'Waiting for your answer' : label && plainLine(label);
}

/** A line that breaks for a moment is routine and goes unsaid. */
function connectionLabel(root: RootState): string | undefined {
  const phase = phaseOf(root);
  if (phase?.name === 'connecting') return phase.attempt > 1 ? `Connecting (attempt ${phase.attempt})` : 'Connecting';
  if (phase?.name === 'reconnecting' && phase.attempt > 1) return `Connection lost; attempt ${phase.attempt} to attach`;
  return undefined;
}

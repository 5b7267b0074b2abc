import type { HistoryTurn } from '../selectors/historyTurns.js';
import type { RootState } from '../store/state.js';
import type { TurnId } from '../store/turn.js';
import { newsLine, settledLine, turnLine } from './jsonOutput.js';
import { joined, type News, type NewsReader } from './news.js';
import type { Output } from './output.js';
import type { Session } from './session.js';
import type { Terminal } from './terminal.js';
import type { Settled } from './turnRunner.js';

/** How one turn is shown from beginning to end. */
export interface View {
  /** What came before. */
  history(turns: readonly HistoryTurn[]): void;
  /** Shows what a reader brings, from now until `settled`. */
  begin(turnId: TurnId, prompt: string, newReader: () => NewsReader): void;
  /** Shows the rest, then how it ended. */
  settled(settled: Settled): Promise<void>;
}

/** One JSON object a line; of a text that streams, one for each time that the process is back at its event loop. */
export class JsonView implements View {
  private reader: NewsReader | undefined;
  private unobserve: (() => void) | undefined;
  private waiting: News[] = [];
  private flushing: NodeJS.Immediate | undefined;

  constructor(
    private readonly session: Session,
    private readonly output: Output,
    /** Keeps what else is on the terminal out of the way of a line. */
    private readonly aside: (write: () => void) => void = (write) => {
      write();
    },
  ) {}

  history(turns: readonly HistoryTurn[]): void {
    this.write(turns.map(turnLine).join(''));
  }

  begin(_turnId: TurnId, _prompt: string, newReader: () => NewsReader): void {
    this.reader = newReader();
    this.unobserve = this.session.observe((root) => {
      this.readOn(root);
    });
  }

  settled({ outcome, message }: Settled): Promise<void> {
    this.readOn(this.session.app.getState());
    this.unobserve?.();
    this.flush();
    this.write(settledLine(outcome, message));
    return Promise.resolve();
  }

  private readOn(root: RootState): void {
    for (const news of this.reader?.read(root) ?? []) {
      const last = this.waiting.at(-1);
      const whole = news.type === 'part' && last?.type === 'part' ? joined(last.part, news.part) : undefined;
      if (whole) this.waiting[this.waiting.length - 1] = { type: 'part', part: whole };
      else this.waiting.push(news);
    }
    if (this.waiting.length > 0) this.flushing ??= setImmediate(this.flush);
  }

  private readonly flush = (): void => {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    const lines = this.waiting.map(newsLine).join('');
    this.waiting = [];
    this.write(lines);
  };

  private write(lines: string): void {
    if (lines === '') return;
    this.aside(() => {
      this.output.write(lines);
    });
  }
}

/** The same for a person to read. */
export class TextView implements View {
  private since = 0;

  constructor(
    private readonly terminal: Terminal,
    /** Monotonic; ms. */
    private readonly now: () => number,
  ) {}

  history(turns: readonly HistoryTurn[]): void {
    for (const turn of turns) this.terminal.drawTurn(turn);
  }

  begin(turnId: TurnId, prompt: string, newReader: () => NewsReader): void {
    this.since = this.now();
    this.terminal.knowTurn(turnId);
    this.terminal.drawing.prompt(prompt);
    this.terminal.readFrom(newReader());
    this.terminal.resume();
  }

  async settled({ outcome }: Settled): Promise<void> {
    await this.terminal.rest();
    const { screen } = this.terminal;
    const { paint } = screen.canvas;
    const time = `${((this.now() - this.since) / 1000).toFixed(1)} s`;
    // Why a turn failed is told by its last part.
    const ends = {
      succeeded: [paint('green', '✓'), `done in ${time}`],
      interrupted: [paint('yellow', '■'), `stopped after ${time}`],
      failed: [paint('red', '✗'), `failed after ${time}`],
    } as const;
    const [sign, words] = ends[outcome];
    screen.gap();
    screen.line(`${sign} ${paint('dim', words)}`);
    screen.render();
  }
}

/** Shows a turn twice, and what came before only in the first way. */
export function both(one: View, other: View): View {
  return {
    history: (turns) => {
      one.history(turns);
    },
    begin: (turnId, prompt, newReader) => {
      one.begin(turnId, prompt, newReader);
      other.begin(turnId, prompt, newReader);
    },
    settled: async (settled) => {
      await one.settled(settled);
      await other.settled(settled);
    },
  };
}

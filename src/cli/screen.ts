import type { Paint } from './paint.js';

/** What a screen writes to: a terminal, or a file or pipe that only takes lines. */
export interface Canvas {
  readonly paint: Paint;
  /** Width for text to be wrapped at. */
  columns(): number;
  write(text: string): void;
  /** Whether the lines at the bottom can be drawn anew. */
  readonly isLive: boolean;
}

const SAVE = '\x1b7';
const RESTORE = '\x1b8';
const ERASE_REST = '\x1b[K';
const ERASE_NEXT_ROW = '\x1b[B\x1b[2K';
const DOWN = '\x1bD';
const NO_WRAP = '\x1b[?7l';
const WRAP = '\x1b[?7h';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';

/**
 * Text that stays, and below it some lines that change (what goes on, what is asked). The changing lines are erased and
 * drawn anew with each change; the cursor's place is kept by the terminal itself, which alone knows how it wrapped.
 */
export class Screen {
  private pending = '';
  private live: readonly string[] = [];
  private drawn = false;
  private rowsBelow = 0;
  /** How many newlines the lasting text ends with, up to two; two also at its start. */
  private newlines = 2;
  private drawnLive = '';

  constructor(readonly canvas: Canvas) {}

  /** Adds lasting text; seen with the next `render`. */
  print(text: string): void {
    if (text === '') return;
    this.pending += text;
    const ending = /\n*$/.exec(text)?.[0].length ?? 0;
    this.newlines = Math.min(2, ending === text.length ? this.newlines + ending : ending);
  }

  line(text = ''): void {
    this.startLine();
    this.print(`${text}\n`);
  }

  startLine(): void {
    if (this.newlines === 0) this.print('\n');
  }

  /** Leaves one empty line, except at the very top. */
  gap(): void {
    while (this.newlines < 2) this.print('\n');
  }

  /** Somebody else wrote to the terminal, up to the end of a line. */
  continueBelow(): void {
    this.newlines = 1;
  }

  /** The lines to show below the text. Each must fit into one row; what does not is cut by the terminal. */
  setLive(lines: readonly string[]): void {
    this.live = this.canvas.isLive ? lines : [];
  }

  render(): void {
    const live = this.live.join('\n');
    if (this.pending === '' && this.drawn === this.live.length > 0 && live === this.drawnLive) return;
    this.canvas.write(this.erased() + this.pending + this.liveText());
    this.pending = '';
    this.drawnLive = live;
    this.drawn = this.live.length > 0;
  }

  /** Takes the changing lines away while somebody else writes to the terminal. */
  aside(write: () => void): void {
    if (this.drawn || this.pending !== '') this.canvas.write(this.erased() + this.pending);
    this.pending = '';
    this.drawn = false;
    write();
    this.render();
  }

  /** The terminal as it was, the cursor in front of an empty line. */
  close(): void {
    this.setLive([]);
    this.startLine();
    this.render();
  }

  private erased(): string {
    if (!this.drawn) return '';
    // Row by row: a terminal that is asked to erase all of its screen may keep a copy above.
    return RESTORE + ERASE_REST + ERASE_NEXT_ROW.repeat(this.rowsBelow) + RESTORE + SHOW_CURSOR;
  }

  private liveText(): string {
    if (this.live.length === 0) return '';
    const below = this.newlines === 0 ? 1 : 0;
    const rows = this.live.length - 1 + below;
    this.rowsBelow = rows;
    const room = rows === 0 ? '' : `${DOWN.repeat(rows)}\x1b[${rows}A`;
    return `${HIDE_CURSOR}${room}${SAVE}${NO_WRAP}${'\r\n'.repeat(below)}${this.live.join('\r\n')}${WRAP}`;
  }
}

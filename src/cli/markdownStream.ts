import type { Style } from './paint.js';
import type { Screen } from './screen.js';
import { widthOf } from './width.js';

interface Piece {
  readonly text: string;
  readonly style: Style | undefined;
}

/** The beginning of a line that may yet become a heading, a list item, a quotation or a fence. */
const UNDECIDED = /^ {0,12}(?:#{0,6}|[-*+]|\d{0,9}[.)]?|>|`{1,3}|~{1,3})$/;
const LINE_START = /^( {0,12})(?:(#{1,6}) +|([-*+]) +|(\d{1,9}[.)]) +|(> ?))/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LONGEST_WORD = 512;

/**
 * Draws Markdown as it streams in: wrapped at words, with headings, lists, emphasis and code told apart. Nothing that was
 * printed is printed again, so a construct counts from where it is known; what is not known stands as it was written.
 */
export class MarkdownStream {
  private column = 0;
  private indent = 0;
  private start = '';
  private atStart = true;
  private fence: string | undefined;
  private word: Piece[] = [];
  private wordWidth = 0;
  private blanks = '';
  private lineStyle: Style | undefined;
  private isBold = false;
  private codeTicks = 0;
  /** Asterisks or backticks that wait for what follows them. */
  private marks = '';

  constructor(
    private readonly screen: Screen,
    /** Put in front of each line. */
    private readonly margin = '',
    private readonly base?: Style,
  ) {}

  write(text: string): void {
    for (const character of text) this.take(character);
  }

  /** Nothing follows: prints what was held back. The stream is then of no more use. */
  end(): void {
    if (this.start !== '') this.endLine(false);
    this.settleMarks('');
    this.printWord();
    this.fence = undefined;
  }

  private take(character: string): void {
    if (character === '\n') {
      this.endLine(true);
    } else if (this.fence !== undefined || this.start.startsWith('|') || FENCE.test(this.start)) {
      this.start += character;
    } else if (this.atStart) {
      this.start += character;
      if (!UNDECIDED.test(this.start) && !FENCE.test(this.start) && !this.start.startsWith('|')) this.beginLine();
    } else {
      this.inline(character);
    }
  }

  /** What stands at the start of the line is known: its rest is text. */
  private beginLine(): void {
    const { start } = this;
    this.start = '';
    this.atStart = false;
    const [marker = '', space = '', heading, bullet, number, quote] = LINE_START.exec(start) ?? [];
    this.lineStyle = heading === undefined ? undefined : ['bold', 'underline'];
    const sign = bullet ? '• ' : number ? `${number} ` : quote ? '│ ' : '';
    this.indent = space.length + sign.length;
    this.printMargin();
    const { paint } = this.screen.canvas;
    this.screen.print(space + (sign === '' ? '' : paint(quote ? 'dim' : 'cyan', sign)));
    this.column = this.indent;
    for (const character of start.slice(marker.length)) this.inline(character);
  }

  private endLine(isTerminated: boolean): void {
    if (this.fence !== undefined || FENCE.test(this.start) || this.start.startsWith('|')) {
      this.rawLine(this.start);
      this.start = '';
    } else {
      if (this.atStart && this.start.trim() !== '') this.beginLine();
      this.start = '';
      this.settleMarks('');
      this.printWord();
      if (this.atStart) {
        // An empty line ends a paragraph, and with it what was never closed.
        this.isBold = false;
        this.codeTicks = 0;
        if (isTerminated) this.screen.gap();
      } else if (isTerminated) {
        this.screen.print('\n');
      }
    }
    this.atStart = true;
    this.blanks = '';
    this.column = 0;
    this.lineStyle = undefined;
  }

  /** A line of code or of a table: never wrapped by us. */
  private rawLine(line: string): void {
    const { paint } = this.screen.canvas;
    const ticks = FENCE.exec(line)?.[1];
    if (this.fence === undefined && ticks !== undefined) {
      this.fence = ticks;
      this.screen.startLine();
    } else if (this.fence !== undefined && ticks?.startsWith(this.fence) === true && /^\W*$/.test(line)) {
      this.fence = undefined;
    } else {
      this.printMargin();
      this.screen.print(this.fence === undefined ? `${line}\n` : `${paint('dim', '│')} ${paint('cyan', line)}\n`);
    }
  }

  private inline(character: string): void {
    if (this.marks !== '') {
      if (character === this.marks[0]) {
        this.marks += character;
        return;
      }
      this.settleMarks(character);
    }
    if (character === '`' || (character === '*' && this.codeTicks === 0)) {
      this.marks = character;
    } else if (character === ' ' || character === '\t') {
      this.printWord();
      this.blanks += ' ';
    } else {
      this.add(character);
    }
  }

  /** `next`: the character behind the marks; none at the end of the line. */
  private settleMarks(next: string): void {
    const { marks } = this;
    this.marks = '';
    if (marks === '') return;
    if (marks.startsWith('`')) {
      const toggles = this.codeTicks === 0 ? next !== '' : marks.length === this.codeTicks;
      if (toggles) this.codeTicks = this.codeTicks === 0 ? marks.length : 0;
      else this.add(marks);
    } else if (marks === '**' && (this.isBold || !/^\s?$/.test(next))) {
      this.isBold = !this.isBold;
    } else {
      this.add(marks);
    }
  }

  private add(text: string): void {
    const style = this.style();
    const last = this.word.at(-1);
    if (last && String(last.style) === String(style))
      this.word[this.word.length - 1] = { text: last.text + text, style };
    else this.word.push({ text, style });
    this.wordWidth += widthOf(text);
    if (this.wordWidth >= LONGEST_WORD) this.printWord();
  }

  private style(): Style | undefined {
    if (this.codeTicks > 0) return 'cyan';
    if (this.isBold) return 'bold';
    return this.lineStyle ?? this.base;
  }

  private printWord(): void {
    if (this.word.length === 0) return;
    const { paint } = this.screen.canvas;
    const room = this.screen.canvas.columns() - this.margin.length;
    if (this.column > this.indent && this.column + this.blanks.length + this.wordWidth > room) {
      this.screen.print('\n');
      this.printMargin();
      this.screen.print(' '.repeat(this.indent));
      this.column = this.indent;
    } else {
      this.screen.print(this.blanks);
      this.column += this.blanks.length;
    }
    for (const { text, style } of this.word) this.screen.print(style === undefined ? text : paint(style, text));
    // A word longer than a line goes on where the terminal breaks it.
    this.column = Math.min(this.column + this.wordWidth, room);
    this.word = [];
    this.wordWidth = 0;
    this.blanks = '';
  }

  private printMargin(): void {
    if (this.margin !== '') this.screen.print(this.screen.canvas.paint('dim', this.margin));
  }
}

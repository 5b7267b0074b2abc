import type { ChatPart, DiffPart, RequestPart, ToolPart } from '../selectors/parts.js';
import { MarkdownStream } from './markdownStream.js';
import type { Paint, Style } from './paint.js';
import type { Screen } from './screen.js';
import { aboutCall } from './toolLine.js';
import { fitted, widthOf, wrapped } from './width.js';

/** Lines that are shown of a tool's output and of a patch. */
const OUTPUT_LINES = 12;
const DIFF_LINES = 200;

/** Draws parts one under the other, in the order in which they came. */
export class PartDrawing {
  private open: { readonly stream: MarkdownStream; readonly entry: string } | undefined;
  private last: ChatPart['kind'] | 'prompt' | undefined;
  /** The request whose frame is still open below, for its answer. */
  private framed: number | undefined;
  private readonly paint: Paint;

  constructor(private readonly screen: Screen) {
    this.paint = screen.canvas.paint;
  }

  prompt(text: string): void {
    this.end();
    this.screen.gap();
    for (const [at, line] of text.split('\n').entries()) {
      this.screen.line(`${this.paint(['bold', 'magenta'], at === 0 ? '›' : ' ')} ${this.paint('bold', line)}`);
    }
    this.last = 'prompt';
  }

  draw(part: ChatPart): void {
    if (part.kind === 'resolution' && part.requestId === this.framed) {
      this.closeFrame(part.text);
      this.last = part.kind;
      return;
    }
    if (isDrawn(part, this.screen)) this.closeFrame();
    if (part.kind !== 'markdown' && part.kind !== 'thinking') this.endText();
    this.block(part);
    this.last = part.kind;
  }

  /** The request that was drawn last, if nothing was drawn since. */
  get openRequest(): number | undefined {
    return this.framed;
  }

  /** Nothing more is drawn for now: what was held back is printed. */
  end(): void {
    this.closeFrame();
    this.endText();
  }

  private endText(): void {
    this.open?.stream.end();
    this.open = undefined;
    this.screen.startLine();
  }

  private text(kind: 'markdown' | 'thinking', id: string, text: string): void {
    // A long text goes on in the next part: to a reader it is one.
    const entry = `${kind} ${id.slice(0, id.lastIndexOf('.'))}`;
    if (this.open?.entry !== entry) {
      this.endText();
      this.screen.gap();
      const stream =
        kind === 'thinking'
          ? new MarkdownStream(this.screen, '┊ ', ['dim', 'italic'])
          : new MarkdownStream(this.screen);
      this.open = { stream, entry };
    }
    this.open.stream.write(text);
  }

  private block(part: ChatPart): void {
    const { paint, screen } = this;
    switch (part.kind) {
      case 'markdown':
      case 'thinking':
        this.text(part.kind, part.id, part.text);
        return;
      case 'progress':
        if (this.last !== 'progress') screen.gap();
        this.lines(part.text, 'dim', '· ', '  ');
        return;
      case 'notice':
        screen.gap();
        this.lines(part.text, 'italic');
        return;
      case 'warning':
        screen.gap();
        this.lines(part.text, 'yellow', '! ', '  ');
        return;
      case 'output':
        if (this.last !== 'output') screen.gap();
        this.lines(part.text.replace(/\n$/, ''), 'dim', '│ ', '│ ');
        return;
      case 'resolution':
        screen.line(`${paint('dim', '↳')} ${fitted(part.text, screen.canvas.columns() - 2)}`);
        return;
      case 'opaque':
        screen.gap();
        screen.line(`${paint('dim', '◇')} ${part.eventKind}`);
        this.lines(part.text, 'dim', '  ', '  ');
        return;
      case 'tool':
        this.tool(part);
        return;
      case 'diff':
        this.diff(part);
        return;
      case 'request':
        this.request(part);
    }
  }

  private tool(part: ToolPart): void {
    const { paint, screen } = this;
    if (!isDrawn(part, screen)) return;
    screen.gap();
    screen.line(this.toolLine(part, signOf(part, paint)));
    if (part.phase === 'abandoned') screen.line(paint('dim', '  ended without a result'));
    const output = (part.output ?? '').trimEnd();
    if (output !== '') this.lines(shortened(output, OUTPUT_LINES), part.isError ? 'red' : 'dim', '  │ ', '  │ ');
  }

  /** A call as one line, no longer than the screen is wide. */
  toolLine(part: ToolPart, sign: string): string {
    const { paint, screen } = this;
    const about = fitted(aboutCall(part), Math.max(10, screen.canvas.columns() - part.name.length - 5));
    return `${sign} ${paint('bold', part.name)}${about === '' ? '' : `  ${about}`}`;
  }

  private diff({ files, patch }: DiffPart): void {
    const { paint, screen } = this;
    screen.gap();
    const names = files.length === 0 ? '' : ` in ${files.join(', ')}`;
    screen.line(`${paint('magenta', '±')} ${paint('bold', `Changes${names}`)}`);
    for (const line of shortened(patch.replace(/\n$/, ''), DIFF_LINES).split('\n')) {
      screen.line(`  ${paint(diffStyle(line), line)}`);
    }
  }

  private request(part: RequestPart): void {
    const { paint, screen } = this;
    screen.gap();
    const what = part.requestKind === 'approval' ? 'Approval' : 'Question';
    const heading = fitted(part.title, Math.max(20, screen.canvas.columns() - what.length - 5));
    screen.line(`${paint('yellow', '╭')} ${paint(['bold', 'yellow'], what)}  ${paint('bold', heading)}`);
    // All of it, however long: a person decides on it.
    const isChange = /^\w*(?:edit|patch|write)/i.test(part.title);
    for (const line of (part.preview ?? 'The runtime supplied no preview.').split('\n')) {
      for (const piece of wrapped(line, screen.canvas.columns() - 2)) {
        screen.line(`${paint('yellow', '│')} ${isChange ? paint(diffStyle(line, 'reset'), piece) : piece}`);
      }
    }
    this.framed = part.requestId;
    const labels = part.answers.map(({ label }) => label).join(' · ');
    if (part.answers.length === 0) this.closeFrame(part.unanswerable);
    else if (!screen.canvas.isLive) this.closeFrame(`Answers: ${labels}`);
  }

  private closeFrame(text = ''): void {
    if (this.framed === undefined) return;
    const { paint, screen } = this;
    this.framed = undefined;
    const shown = fitted(text, screen.canvas.columns() - 2);
    screen.line(`${paint('yellow', '╰')}${shown === '' ? '' : ` ${paint('dim', shown)}`}`);
  }

  private lines(text: string, style: Style, first = '', others = ''): void {
    const room = this.screen.canvas.columns() - widthOf(others);
    for (const [at, piece] of text
      .split('\n')
      .flatMap((line) => wrapped(line, room))
      .entries()) {
      this.screen.line(this.paint(style, `${at === 0 ? first : others}${piece}`));
    }
  }
}

/** Where lines can change, a running call is one of those (see `statusLines`) and is drawn when it is over. */
function isDrawn(part: ChatPart, { canvas }: Screen): boolean {
  return !(part.kind === 'tool' && part.phase === 'started' && canvas.isLive);
}

function signOf({ phase, isError }: ToolPart, paint: Paint): string {
  switch (phase) {
    case 'started':
      return paint('cyan', '●');
    case 'completed':
      return isError ? paint('red', '✗') : paint('green', '✓');
    case 'abandoned':
      return paint('yellow', '◌');
  }
}

function diffStyle(line: string, plain: Style = 'dim'): Style {
  if (/^(?:\+\+\+|---|diff |index )/.test(line)) return 'bold';
  if (line.startsWith('@@')) return 'cyan';
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : plain;
}

/** The first lines of a text; of one with many more, it says how many. */
function shortened(text: string, limit: number): string {
  const lines = text.split('\n');
  if (lines.length <= limit + 1) return text;
  return [...lines.slice(0, limit), `… (${lines.length - limit} more lines)`].join('\n');
}

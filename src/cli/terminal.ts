import type { ReadStream } from 'node:tty';
import { selectRequestKey } from '../selectors/requests.js';
import type { WaitingRequest } from '../selectors/waitingRequests.js';
import { selectHistoryTurns, type HistoryTurn } from '../selectors/historyTurns.js';
import type { ChatPart, ToolPart } from '../selectors/parts.js';
import { selectTurn } from '../selectors/turn.js';
import type { RootState } from '../store/state.js';
import type { TurnId } from '../store/turn.js';
import { Keyboard } from './keyboard.js';
import type { News, NewsReader } from './news.js';
import type { Output } from './output.js';
import { PartDrawing } from './partDrawing.js';
import { askLine, type Ask, type Filled } from './prompts.js';
import { Answering, selectQuestion } from './questions.js';
import { Screen, type Canvas } from './screen.js';
import { CHAT, type Session } from './session.js';
import { questionLines, statusLines } from './statusLines.js';

/** Each drawing writes to the terminal; more than about 20 a second nobody sees. */
const DRAW_MS = 50;
const FRAME_MS = 80;

/** A person at a terminal, who can be asked. */
export interface Person {
  readonly input: ReadStream;
  readonly output: NodeJS.WriteStream;
  /** What Ctrl-C means here. */
  readonly interrupt: () => void;
}

export interface TerminalOptions {
  readonly session: Session;
  readonly canvas: Canvas;
  readonly output: Output;
  readonly person?: Person;
  /** Which parts are drawn; all where absent. */
  readonly shows?: (part: ChatPart) => boolean;
  /** Whether the prompts of other clients are shown, in front of what they bring. */
  readonly followsOthers?: boolean;
}

/** Draws one conversation for a person, and asks that person what the agent asks. */
export class Terminal {
  readonly screen: Screen;
  readonly drawing: PartDrawing;
  private reader: NewsReader | undefined;
  private readonly waiting: (News | { readonly type: 'prompt'; readonly text: string })[] = [];
  private readonly keyboard: Keyboard | undefined;
  private readonly answering: Answering | undefined;
  private readonly drawnRequests = new Set<string>();
  private readonly calls = new Map<string, ToolPart>();
  private readonly knownTurns = new Set<TurnId>();
  private turn: { readonly id: TurnId; readonly since: number } | undefined;
  private question: WaitingRequest | undefined;
  private asked: string | undefined;
  private typed = '';
  private form: AbortController | undefined;
  private unsubscribe: (() => void) | undefined;
  private scheduled: NodeJS.Timeout | undefined;
  private frames: NodeJS.Timeout | undefined;

  constructor(private readonly options: TerminalOptions) {
    const { session, person } = options;
    this.screen = new Screen(options.canvas);
    this.drawing = new PartDrawing(this.screen);
    session.observe((root) => {
      this.read(root);
    });
    if (person === undefined) return;
    this.keyboard = new Keyboard(person.input, person.interrupt);
    this.answering = new Answering(
      session.app,
      this.screen,
      (work) => this.withLines(person, work),
      person.interrupt,
      () => {
        this.resume();
      },
    );
  }

  /** From where on the conversation is drawn. */
  readFrom(reader: NewsReader): void {
    this.reader = reader;
    this.read(this.options.session.app.getState());
  }

  /** Draws what comes from now on, and takes keys. */
  resume(): void {
    this.unsubscribe ??= this.options.session.app.subscribe(() => {
      this.schedule();
    });
    if (this.options.canvas.isLive) this.frames ??= setInterval(this.draw, FRAME_MS);
    this.keyboard?.listen((key) => {
      if (this.question) this.answering?.key(key, this.question);
      else this.typeAhead(key);
      this.draw();
    });
    this.draw();
  }

  /** Draws what there is, and leaves the screen and the keyboard to others. */
  async rest(): Promise<void> {
    // What a form asks is no longer wanted then; it gives the screen back in a moment.
    this.form?.abort();
    await this.answering?.done;
    this.drawNow();
    this.unsubscribe?.();
    this.unsubscribe = undefined;
    clearInterval(this.frames);
    this.frames = undefined;
    this.keyboard?.rest();
    this.drawing.end();
    this.screen.close();
  }

  /** Whether something came that is not drawn yet. */
  get hasNews(): boolean {
    return this.waiting.length > 0;
  }

  /** What was typed while nothing was asked, to go on with. */
  takeTyped(): string {
    const { typed } = this;
    this.typed = '';
    return typed;
  }

  /** What a turn of the past looked like. */
  drawTurn({ prompt, parts }: HistoryTurn): void {
    const root = this.options.session.app.getState();
    if (prompt !== null) this.drawing.prompt(prompt);
    for (const part of parts) this.show(part, root);
  }

  /** A turn whose prompt is on the screen already. */
  knowTurn(turnId: TurnId): void {
    this.knownTurns.add(turnId);
  }

  readonly draw = (): void => {
    if (this.answering?.isBusy !== true && this.options.output.isReady) this.drawNow();
  };

  private drawNow(): void {
    clearTimeout(this.scheduled);
    this.scheduled = undefined;
    const root = this.options.session.app.getState();
    for (const news of this.waiting.splice(0)) {
      if (news.type === 'prompt') this.drawing.prompt(news.text);
      if (news.type === 'part' && this.options.shows?.(news.part) !== false) this.show(news.part, root);
    }
    this.question = this.answering && selectQuestion(root, this.drawnRequests);
    this.screen.setLive(this.status(root));
    this.askWithoutLive();
    this.screen.render();
  }

  private schedule(): void {
    if (!this.options.canvas.isLive) {
      this.draw();
      return;
    }
    this.scheduled ??= setTimeout(() => {
      this.scheduled = undefined;
      this.draw();
    }, DRAW_MS);
  }

  private show(part: ChatPart, root: RootState): void {
    if (part.kind === 'request') this.drawnRequests.add(selectRequestKey(root, CHAT, part.requestId));
    if (part.kind === 'tool') {
      if (part.phase === 'started') this.calls.set(part.id, part);
      else this.calls.delete(part.id);
    }
    this.drawing.draw(part);
  }

  private typeAhead(key: string): void {
    if (key === '\x7f' || key === '\b') this.typed = Array.from(this.typed).slice(0, -1).join('');
    else if (/^\P{Cc}$/u.test(key)) this.typed += key;
  }

  /** After each action, so that what happened in a moment is told in order too. */
  private read(root: RootState): void {
    if (this.reader === undefined) return;
    this.followTurn(root);
    this.waiting.push(...this.reader.read(root));
  }

  private followTurn(root: RootState): void {
    const turn = selectTurn(root, CHAT);
    if (turn.phase === 'idle') {
      this.turn = undefined;
      return;
    }
    if (this.turn?.id === turn.turnId) return;
    this.turn = { id: turn.turnId, since: this.options.session.services.clock.monotonic() };
    const isForeign = turn.phase !== 'submitting' && !turn.mine && !this.knownTurns.has(turn.turnId);
    const prompt = isForeign && this.options.followsOthers ? selectHistoryTurns(root, CHAT).at(-1)?.prompt : null;
    if (typeof prompt === 'string') this.waiting.push({ type: 'prompt', text: prompt });
    this.knownTurns.add(turn.turnId);
  }

  private status(root: RootState): readonly string[] {
    const { canvas, session } = this.options;
    const now = session.services.clock.monotonic();
    return statusLines(root, {
      canvas,
      drawing: this.drawing,
      calls: [...this.calls.values()],
      question: this.question,
      typed: this.answering?.typed ?? '',
      elapsed: this.turn === undefined ? 0 : now - this.turn.since,
      now,
      hint: ['submitting', 'running'].includes(selectTurn(root, CHAT).phase) ? 'Ctrl-C stops' : 'Ctrl-C leaves at once',
    });
  }

  /** Where lines can't be drawn anew, a question is printed once. */
  private askWithoutLive(): void {
    const { canvas } = this.options;
    if (canvas.isLive || this.question?.part.id === this.asked) return;
    this.asked = this.question?.part.id;
    if (this.question) for (const line of questionLines(this.question, { canvas, typed: '' })) this.screen.line(line);
  }

  /** Lets a form read lines until it is done, or until what it asks is no longer wanted. */
  private async withLines({ input, output }: Person, form: (ask: Ask) => Promise<Filled>): Promise<Filled> {
    const { app } = this.options.session;
    const asked = this.question?.part.id;
    const withdrawn = new AbortController();
    this.form = withdrawn;
    const unsubscribe = app.subscribe(() => {
      if (selectQuestion(app.getState(), this.drawnRequests)?.part.id !== asked) withdrawn.abort();
    });
    this.keyboard?.rest();
    this.drawing.end();
    this.screen.close();
    try {
      return await form(async (text) => {
        const line = await askLine(input, output, text, { signal: withdrawn.signal });
        this.screen.continueBelow();
        return line;
      });
    } finally {
      unsubscribe();
      this.form = undefined;
    }
  }
}

import type { App } from '../sagas/app.js';
import { fieldsOf } from '../selectors/elicitation.js';
import type { AnswerChoice } from '../selectors/parts.js';
import { selectWaitingRequests, type WaitingRequest } from '../selectors/waitingRequests.js';
import { answerRequested } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import { askForm, type Ask, type Filled } from './prompts.js';
import type { Screen } from './screen.js';
import { CHAT } from './session.js';

/** The first request that waits for a person here and was drawn. */
export function selectQuestion(root: RootState, drawn: ReadonlySet<string>): WaitingRequest | undefined {
  return selectWaitingRequests(root, CHAT).find(({ part }) => drawn.has(part.id));
}

const DIGITS_FOR = (answers: readonly AnswerChoice[]) => String(answers.length).length;

/** Takes a person's keys for the answer to the question on the screen. */
export class Answering {
  /** The digits of a choice that takes more than one. */
  typed = '';
  private asked: string | undefined;
  /** True while a form has the keyboard. */
  private isAsking = false;
  /** Resolves when the last answer is given. */
  private given: Promise<void> = Promise.resolve();

  constructor(
    private readonly app: App,
    private readonly screen: Screen,
    /** Lends the screen and the keyboard to a form. */
    private readonly withLines: (work: (ask: Ask) => Promise<Filled>) => Promise<Filled>,
    private readonly onInterrupt: () => void,
    /** The form is done with: what happened meanwhile can be drawn. */
    private readonly onDone: () => void,
  ) {}

  get isBusy(): boolean {
    return this.isAsking;
  }

  /** Resolves when no form is being filled in. */
  get done(): Promise<void> {
    return this.given;
  }

  key(key: string, question: WaitingRequest): void {
    if (this.isAsking) return;
    // Digits that were meant for another question count for nothing.
    if (this.asked !== question.part.id) this.typed = '';
    this.asked = question.part.id;
    const { answers } = question.part;
    const digits = DIGITS_FOR(answers);
    if (key === '\x7f' || key === '\b') this.typed = this.typed.slice(0, -1);
    else if (/^\d$/.test(key) && this.typed.length < digits) this.typed += key;
    else if (key !== '\r' && key !== '\n') return;
    if (this.typed.length < digits && key !== '\r' && key !== '\n') return;
    const choice = answers[Number(this.typed) - 1];
    this.typed = '';
    if (choice !== undefined) this.given = this.choose(question, choice);
  }

  private async choose(question: WaitingRequest, choice: AnswerChoice): Promise<void> {
    const { response, label } = choice;
    const schema = question.part.schema ?? null;
    const isForm = response.kind === 'elicitation' && response.action === 'accept' && fieldsOf(schema).length > 0;
    if (!isForm) {
      this.answer(response, label);
      return;
    }
    this.isAsking = true;
    const filled = await this.withLines((ask) => askForm(schema, this.screen, ask));
    this.isAsking = false;
    if ('content' in filled) this.answer({ ...response, content: filled.content }, label);
    else if (filled.left === 'withdrawn') this.screen.line(this.screen.canvas.paint('dim', 'This is no longer asked.'));
    else if (filled.left === 'interrupt') this.onInterrupt();
    this.onDone();
  }

  private answer(answer: AnswerChoice['response'], label: string): void {
    this.app.dispatch(answerRequested({ connection: CHAT, answer, label, by: 'person' }));
  }
}

import type { App } from '../sagas/app.js';
import { fieldsOf } from '../selectors/elicitation.js';
import { requestView } from '../selectors/newParts.js';
import type { AnswerChoice, RequestPart } from '../selectors/parts.js';
import { requestPart } from '../selectors/requestParts.js';
import { policyAnswer } from '../selectors/requests.js';
import { answerRequested, unresolvedIds } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT } from '../store/transcript.js';
import { askForm, type Ask, type Filled } from './prompts.js';
import type { Screen } from './screen.js';
import { CHAT } from './session.js';

/** A request that a person is to answer now. */
export interface Question {
  /** Of the request, in all that this process ever sees. */
  readonly key: string;
  readonly part: RequestPart;
  /** Why the last answer did not get through. */
  readonly problem: string | null;
}

/** Names a request for as long as the program runs: a restarted runtime counts from 1 again. */
export function keyOfRequest(root: RootState, requestId: number): string {
  return `${root.transcript[CHAT]?.epoch ?? 0}.${requestId}`;
}

/** The first request that waits for a person here: one that was drawn, and that no policy answers. */
export function selectQuestion(root: RootState, drawn: ReadonlySet<string>): Question | undefined {
  const requests = root.requests[CHAT] ?? {};
  const transcript = root.transcript[CHAT] ?? EMPTY_TRANSCRIPT;
  const policy = root.permissions[CHAT] ?? 'ask';
  for (const id of unresolvedIds(requests)) {
    const known = requests[id];
    const key = keyOfRequest(root, id);
    if (known?.request && known.status.phase === 'pending' && drawn.has(key)) {
      const { problem } = known.status;
      const isPolicys = policy !== 'ask' && problem === null && policyAnswer(known.request, policy) !== undefined;
      const part = requestPart(key, known.request, transcript.epoch, requestView(root, CHAT, transcript));
      if (!isPolicys && part.answers.length > 0) return { key, part, problem };
    }
  }
  return undefined;
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

  key(key: string, question: Question): void {
    if (this.isAsking) return;
    // Digits that were meant for another question count for nothing.
    if (this.asked !== question.key) this.typed = '';
    this.asked = question.key;
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

  private async choose(question: Question, choice: AnswerChoice): Promise<void> {
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

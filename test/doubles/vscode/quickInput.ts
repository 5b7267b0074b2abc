import type * as vscode from 'vscode';
import { EventEmitter, ThemeIcon } from './basics.js';
import { QuickPickItemKind } from './enums.js';
import { host, settled, type Answer } from './host.js';

const BACK: vscode.QuickInputButton = { iconPath: new ThemeIcon('quick-input-back'), tooltip: 'Back' };

export const QuickInputButtons: Pick<typeof vscode.QuickInputButtons, keyof typeof vscode.QuickInputButtons> = {
  prototype: BACK,
  Back: BACK,
};

export abstract class QuickInputDouble implements vscode.QuickInput {
  title: string | undefined;
  step: number | undefined;
  totalSteps: number | undefined;
  enabled = true;
  busy = false;
  ignoreFocusOut = true;
  value = '';
  placeholder: string | undefined;
  prompt: string | undefined;
  buttons: readonly vscode.QuickInputButton[] = [];
  isVisible = false;
  isDisposed = false;

  protected readonly accepted = new EventEmitter<undefined>();
  protected readonly valueChanged = new EventEmitter<string>();
  readonly #hidden = new EventEmitter<undefined>();
  readonly #pressed = new EventEmitter<vscode.QuickInputButton>();
  #isAnswering = false;

  readonly onDidAccept = this.accepted.event as vscode.Event<void>;
  readonly onDidChangeValue = this.valueChanged.event;
  readonly onDidHide = this.#hidden.event as vscode.Event<void>;
  readonly onDidTriggerButton = this.#pressed.event;

  show(): void {
    if (this.isDisposed) return;
    // There is one place for them: a new one takes it from the one before.
    host().questions.at(-1)?.hide();
    this.isVisible = true;
    host().questions.push(this);
    this.takeAnswers();
  }

  /** The window does it and tells us later, as the real one. */
  hide(): void {
    if (!this.isVisible) return;
    this.isVisible = false;
    queueMicrotask(() => {
      this.#hidden.fire(undefined);
    });
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    if (this.isVisible) this.#hidden.fire(undefined);
    this.isVisible = false;
    for (const emitter of [this.accepted, this.valueChanged, this.#hidden, this.#pressed]) emitter.dispose();
  }

  /** Does what a person was said to do, until it is answered or nothing more was said. */
  takeAnswers(): void {
    if (this.#isAnswering || !this.isVisible) return;
    this.#isAnswering = true;
    void this.#answerAll().finally(() => {
      this.#isAnswering = false;
    });
  }

  protected abstract enter(): void;
  protected abstract pick(labels: readonly string[]): void;
  protected abstract type(text: string): void;

  async #answerAll(): Promise<void> {
    for (;;) {
      await settled();
      const answer = this.isVisible ? host().answers.shift() : undefined;
      if (answer === undefined) return;
      this.#answer(answer);
    }
  }

  #answer(answer: Answer): void {
    if (answer.kind === 'pick') this.pick(answer.labels);
    else if (answer.kind === 'type') this.type(answer.text);
    else if (answer.kind === 'enter') this.enter();
    else if (answer.kind === 'escape') this.hide();
    else if (this.buttons.includes(BACK)) this.#pressed.fire(BACK);
    else throw new Error(`There is no way back from "${this.title ?? ''}".`);
  }
}

export class QuickPickDouble<T extends vscode.QuickPickItem> extends QuickInputDouble implements vscode.QuickPick<T> {
  canSelectMany = false;
  matchOnDescription = false;
  matchOnDetail = false;
  keepScrollPosition = false;
  #items: readonly T[] = [];
  #active: readonly T[] = [];
  #selected: readonly T[] = [];
  readonly #activeChanged = new EventEmitter<readonly T[]>();
  readonly #selectionChanged = new EventEmitter<readonly T[]>();

  readonly onDidChangeActive = this.#activeChanged.event;
  readonly onDidChangeSelection = this.#selectionChanged.event;
  readonly onDidTriggerItemButton = new EventEmitter<vscode.QuickPickItemButtonEvent<T>>().event;

  get items(): readonly T[] {
    return this.#items;
  }

  set items(items: readonly T[]) {
    this.#items = [...items];
  }

  get activeItems(): readonly T[] {
    return this.#active;
  }

  /** An item that is not in `items` is forgotten, as there. */
  set activeItems(items: readonly T[]) {
    this.#active = items.filter((item) => this.#items.includes(item));
  }

  get selectedItems(): readonly T[] {
    return this.#selected;
  }

  set selectedItems(items: readonly T[]) {
    this.#selected = items.filter((item) => this.#items.includes(item));
  }

  override show(): void {
    const [first] = this.#choices();
    if (this.#active.length === 0 && first !== undefined) this.#active = [first];
    super.show();
  }

  /** With a single choice, the item that the keyboard is on. */
  protected enter(): void {
    if (!this.canSelectMany) this.#select(this.#active.slice(0, 1));
    this.accepted.fire(undefined);
  }

  protected pick(labels: readonly string[]): void {
    const choices = this.#choices();
    const items = labels.map((label) => {
      const item = choices.find((choice) => choice.label === label);
      if (item !== undefined) return item;
      throw new Error(`There is no "${label}" among: ${choices.map((choice) => choice.label).join(', ')}`);
    });
    this.#select(items);
    this.accepted.fire(undefined);
  }

  protected type(text: string): void {
    this.value = text;
    this.valueChanged.fire(text);
  }

  #choices(): readonly T[] {
    return this.#items.filter(({ kind }) => kind !== QuickPickItemKind.Separator);
  }

  #select(items: readonly T[]): void {
    this.#active = items.slice(-1);
    this.#selected = items;
    this.#activeChanged.fire(this.#active);
    this.#selectionChanged.fire(items);
  }
}

export class InputBoxDouble extends QuickInputDouble implements vscode.InputBox {
  valueSelection: readonly [number, number] | undefined;
  password = false;
  /** What was objected to, in its order. */
  readonly problems: string[] = [];
  #validation: string | vscode.InputBoxValidationMessage | undefined;

  get validationMessage(): string | vscode.InputBoxValidationMessage | undefined {
    return this.#validation;
  }

  set validationMessage(message: string | vscode.InputBoxValidationMessage | undefined) {
    const text = typeof message === 'string' ? message : message?.message;
    const before = typeof this.#validation === 'string' ? this.#validation : this.#validation?.message;
    this.#validation = message;
    if (text !== undefined && text !== before) this.problems.push(text);
  }

  protected enter(): void {
    this.accepted.fire(undefined);
  }

  protected pick(): void {
    throw new Error(`"${this.title ?? this.prompt ?? ''}" has nothing to pick.`);
  }

  protected type(text: string): void {
    this.value = text;
    this.valueChanged.fire(text);
    this.accepted.fire(undefined);
  }
}

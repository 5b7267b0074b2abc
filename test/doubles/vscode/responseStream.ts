import type * as vscode from 'vscode';
import * as parts from './chatParts.js';
import type { Host } from './host.js';

type Text = string | vscode.MarkdownString;

/** What a stream was given: a part, or a call of a proposal that has no part of its own. */
export type RecordedPart =
  | parts.ChatResponseMarkdownPart
  | parts.ChatResponseFileTreePart
  | parts.ChatResponseAnchorPart
  | parts.ChatResponseProgressPart
  | parts.ChatResponseReferencePart
  | parts.ChatResponseCommandButtonPart
  | parts.ChatToolInvocationPart
  | parts.ChatResponseThinkingProgressPart
  | parts.ChatResponseWarningPart
  | parts.ChatResponseInfoPart
  | parts.ChatResponseCodeblockUriPart
  | ProposedCall;

export class ProposedCall {
  constructor(
    readonly name: string,
    readonly args: readonly unknown[],
  ) {}
}

export type Answers = Readonly<Record<string, unknown>>;

export interface Carousel {
  readonly questions: readonly parts.ChatQuestion[];
  readonly allowSkip: boolean;
  /** What a person submits, by question; nothing where the response ended first. */
  readonly answer: (answers: Answers | undefined) => void;
}

const PLAIN = [
  parts.ChatResponseMarkdownPart,
  parts.ChatResponseFileTreePart,
  parts.ChatResponseAnchorPart,
  parts.ChatResponseProgressPart,
  parts.ChatResponseReferencePart,
  parts.ChatResponseCommandButtonPart,
];
/**
 * A released editor lets some of these through without the grant (`ChatToolInvocationPart` in 1.139). That is nothing to
 * count on, so it is refused here.
 */
const GATED = [
  parts.ChatToolInvocationPart,
  parts.ChatResponseThinkingProgressPart,
  parts.ChatResponseWarningPart,
  parts.ChatResponseInfoPart,
  parts.ChatResponseCodeblockUriPart,
];

const ADDITIONS = 'chatParticipantAdditions';

/** The stream of one response, as the real one in what it refuses. It keeps each part as it was when it came. */
export class ResponseStream implements vscode.ChatResponseStream {
  readonly parts: RecordedPart[] = [];
  /** The questions that stand above the composer, or stood there. */
  readonly carousels: Carousel[] = [];
  isClosed = false;
  readonly #host: Host;
  readonly #listeners = new Set<() => void>();

  constructor(host: Host) {
    this.#host = host;
  }

  close(): void {
    this.isClosed = true;
    for (const { answer } of this.carousels) answer(undefined);
  }

  /** All Markdown that was given, as one text. */
  get text(): string {
    return this.parts
      .flatMap((part) => (part instanceof parts.ChatResponseMarkdownPart ? part.value.value : []))
      .join('');
  }

  get buttons(): readonly vscode.Command[] {
    return this.parts.flatMap((part) => (part instanceof parts.ChatResponseCommandButtonPart ? part.value : []));
  }

  /** Resolves once what was given satisfies `isIt`. */
  until(isIt: (stream: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!isIt(this)) return;
        this.#listeners.delete(check);
        resolve();
      };
      this.#listeners.add(check);
      check();
    });
  }

  markdown(value: Text): this {
    return this.#take(new parts.ChatResponseMarkdownPart(value));
  }

  anchor(value: vscode.Uri | vscode.Location, title?: string): this {
    return this.#take(new parts.ChatResponseAnchorPart(value, title));
  }

  button(command: vscode.Command): this {
    return this.#take(new parts.ChatResponseCommandButtonPart(command));
  }

  filetree(value: vscode.ChatResponseFileTree[], baseUri: vscode.Uri): this {
    return this.#take(new parts.ChatResponseFileTreePart(value, baseUri));
  }

  progress(value: string): this {
    return this.#take(new parts.ChatResponseProgressPart(value));
  }

  reference(value: never, iconPath?: never): this {
    this.#checkOpen();
    if (typeof value === 'object' && 'variableName' in value) this.#host.checkProposal(ADDITIONS);
    return this.#take(new parts.ChatResponseReferencePart(value, iconPath));
  }

  push(part: object): this {
    this.#checkOpen();
    if (GATED.some((each) => part instanceof each)) this.#host.checkProposal(ADDITIONS);
    else if (!PLAIN.some((each) => part instanceof each))
      throw new Error(`No part of a response: ${part.constructor.name}`);
    return this.#take(part as RecordedPart);
  }

  thinkingProgress({ text = '', id, metadata }: { text?: string | string[]; id?: string; metadata?: object }): this {
    this.#check(ADDITIONS);
    return this.#take(new parts.ChatResponseThinkingProgressPart(text, id, metadata as never));
  }

  warning(message: Text): this {
    this.#check(ADDITIONS);
    return this.#take(new parts.ChatResponseWarningPart(message));
  }

  info(message: Text): this {
    this.#check(ADDITIONS);
    return this.#take(new parts.ChatResponseInfoPart(message));
  }

  /** Stays for as long as the response is open, whoever answered meanwhile. */
  async questionCarousel(questions: readonly parts.ChatQuestion[], allowSkip = true): Promise<Answers | undefined> {
    this.#check(ADDITIONS);
    return new Promise((resolve) => {
      this.carousels.push({ questions, allowSkip, answer: resolve });
      this.#take(new ProposedCall('questionCarousel', [questions, allowSkip]));
    });
  }

  codeblockUri(uri: vscode.Uri, isEdit?: boolean): this {
    this.#check(ADDITIONS);
    return this.#take(new parts.ChatResponseCodeblockUriPart(uri, isEdit));
  }

  readonly textEdit = this.#call('textEdit');
  readonly notebookEdit = this.#call('notebookEdit');
  readonly workspaceEdit = this.#call('workspaceEdit');
  readonly externalEdit = this.#call('externalEdit');
  readonly markdownWithVulnerabilities = this.#call('markdownWithVulnerabilities');
  readonly confirmation = this.#call('confirmation');
  readonly reference2 = this.#call('reference2');
  readonly codeCitation = this.#call('codeCitation');
  readonly beginToolInvocation = this.#call('beginToolInvocation');
  readonly updateToolInvocation = this.#call('updateToolInvocation');
  readonly clearToPreviousToolInvocation = this.#call('clearToPreviousToolInvocation');
  readonly usage = this.#call('usage');
  readonly voiceProgress = this.#call('voiceProgress', 'chatParticipantPrivate');

  #call(name: string, proposal = ADDITIONS) {
    return (...args: readonly unknown[]): never => {
      this.#check(proposal);
      return this.#take(new ProposedCall(name, args)) as never;
    };
  }

  #check(proposal: string): void {
    this.#checkOpen();
    this.#host.checkProposal(proposal);
  }

  #checkOpen(): void {
    if (this.isClosed) throw new Error('Response stream has been closed');
  }

  #take(part: RecordedPart): this {
    this.#checkOpen();
    // What becomes of the object afterwards does not reach the window: it was sent.
    this.parts.push(Object.assign(Object.create(Object.getPrototypeOf(part) as object) as RecordedPart, part));
    for (const listener of [...this.#listeners]) listener();
    return this;
  }
}

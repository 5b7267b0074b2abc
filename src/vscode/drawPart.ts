import * as vscode from 'vscode';
import { fallbackOf, filesLine } from '../selectors/fallback.js';
import { escapeMarkdown, fence, inlineCode } from '../selectors/markdown.js';
import type { ChatPart, DiffPart, RequestPart, TextPart, ToolPart } from '../selectors/parts.js';
import type { ApprovalCard } from './approvalCard.js';
import type { Grants } from './grants.js';
import { proposed, type ProposedStream } from './proposed.js';

export interface PartDrawerOptions {
  readonly stream: vscode.ChatResponseStream;
  readonly grants: Grants;
  /** The buttons under a request, in order. */
  readonly buttons: (part: RequestPart) => readonly vscode.Command[];
  /** The editor's own card for a request, where it has one that answers inside the turn. */
  readonly card?: (part: RequestPart) => ApprovalCard | undefined;
  /** Asks a request's questions by the editor's own means, beside its buttons; nothing where it does not. */
  readonly ask?: (part: RequestPart, stream: ProposedStream) => void;
}

/**
 * Draws chat parts into one response: the only place that knows the editor's parts. Where a richer one is not granted,
 * its stable fallback is drawn.
 */
export class PartDrawer {
  private readonly stream: ProposedStream;
  private readonly rich: boolean;
  /** Reasoning that gathers for one quotation, where it can't be streamed. */
  private reasoning: TextPart | undefined;

  constructor(private readonly options: PartDrawerOptions) {
    // The one cast to what a grant adds; `rich` stands in front of each use.
    this.stream = options.stream as ProposedStream;
    this.rich = options.grants.has('chatParticipantAdditions');
  }

  draw(part: ChatPart): void {
    if (part.kind !== 'thinking') this.end();
    switch (part.kind) {
      case 'markdown':
        this.stream.markdown(part.text);
        return;
      case 'thinking':
        if (this.rich) this.stream.thinkingProgress({ text: part.text, id: part.id });
        else this.reasoning = { ...part, text: `${this.reasoning?.text ?? ''}${part.text}` };
        return;
      case 'warning':
        if (this.rich) this.stream.warning(new vscode.MarkdownString(escapeMarkdown(part.text)));
        else this.fallback(part);
        return;
      case 'tool':
        if (this.rich) this.stream.push(toolRow(part));
        else this.fallback(part);
        return;
      case 'diff':
        this.diff(part);
        return;
      case 'request':
        this.request(part);
        return;
      case 'progress':
      case 'notice':
      case 'output':
      case 'resolution':
      case 'opaque':
        this.fallback(part);
        return;
    }
  }

  /** Draws what still gathers. */
  end(): void {
    if (this.reasoning) this.fallback(this.reasoning);
    this.reasoning = undefined;
  }

  private request(part: RequestPart): void {
    const card = this.rich ? this.options.card?.(part) : undefined;
    if (card) {
      this.stream.confirmation(card.title, card.message, card.data, card.buttons);
      return;
    }
    this.fallback(part);
    for (const button of this.options.buttons(part)) this.stream.button(button);
    if (this.rich) this.options.ask?.(part, this.stream);
  }

  private fallback(part: ChatPart): void {
    for (const { kind, text } of fallbackOf(part)) {
      if (kind === 'progress') this.stream.progress(text);
      else this.stream.markdown(text);
    }
  }

  /** The runtime has written the files already: this shows what it did and edits nothing. */
  private diff(part: DiffPart): void {
    const uris = part.files.flatMap((file) => fileUri(file) ?? []);
    const [first] = uris;
    if (this.rich && first) {
      const block = fence(part.patch, 'diff');
      const start = block.indexOf('\n') + 1;
      // The editor looks for the address inside the block.
      this.stream.markdown(`\n\n${filesLine(part)}\n\n${block.slice(0, start)}`);
      this.stream.codeblockUri(first);
      this.stream.markdown(`${block.slice(start)}\n\n`);
    } else {
      this.fallback(part);
    }
    for (const uri of uris) this.stream.reference(uri);
  }
}

function toolRow(part: ToolPart) {
  const row = new proposed.ChatToolInvocationPart(part.name, part.callId);
  row.enablePartialUpdate = true;
  row.isConfirmed = true;
  row.isComplete = part.phase !== 'started';
  row.isError = part.isError === true;
  // While it runs, the editor's shimmer leaves nothing of a code span to read.
  row.invocationMessage = new vscode.MarkdownString(escapeMarkdown(`Running ${part.name} ${shortInput(part)}`.trim()));
  // The editor shows the past tense as soon as it has one.
  if (row.isComplete) {
    const input = shortInput(part);
    const done = [PAST[outcomeOf(part)], inlineCode(part.name), ...(input === '' ? [] : [inlineCode(input)])];
    row.pastTenseMessage = new vscode.MarkdownString(done.join(' '));
  }
  if (part.input !== undefined || part.output !== undefined) {
    row.toolSpecificData = { input: part.input ?? '', output: part.output ?? '' };
  }
  return row;
}

const PAST = { ran: 'Ran', called: 'Called', failed: 'Failed:', abandoned: 'Never heard the end of' };

function outcomeOf({ phase, isError, saved }: ToolPart): keyof typeof PAST {
  if (phase === 'abandoned') return 'abandoned';
  if (isError === true) return 'failed';
  return saved === true ? 'called' : 'ran';
}

const SHORT_INPUT = 80;

function shortInput({ input = '' }: ToolPart): string {
  return input.length > SHORT_INPUT || input.includes('\n') ? '' : input;
}

/** A file that a patch names, in this workspace; undefined where there is none to look in. */
function fileUri(file: string): vscode.Uri | undefined {
  if (/^(?:[a-z]:)?[\\/]/i.test(file)) return vscode.Uri.file(file);
  const folder = vscode.workspace.workspaceFolders?.[0];
  return folder && vscode.Uri.joinPath(folder.uri, file);
}

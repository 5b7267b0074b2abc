import * as vscode from 'vscode';
import { proposed, type ProposedStream, type ToolInvocationPart } from './proposed.js';

/** Takes what is drawn as a list of parts, for a turn of the past. Lines of progress are of the moment and left out. */
export class PartCollector {
  private readonly parts: object[] = [];
  private text = '';

  /** The stream to draw into. */
  readonly stream = {
    markdown: (value: string | vscode.MarkdownString) => {
      this.text += typeof value === 'string' ? value : value.value;
    },
    progress: () => undefined,
    button: (command: vscode.Command) => {
      this.take(new vscode.ChatResponseCommandButtonPart(command));
    },
    confirmation: (title: string, message: vscode.MarkdownString, data: object, buttons: string[]) => {
      this.take(new proposed.ChatResponseConfirmationPart(title, message, data, buttons));
    },
    reference: (value: vscode.Uri) => {
      this.take(new vscode.ChatResponseReferencePart(value));
    },
    warning: (message: vscode.MarkdownString) => {
      this.take(new proposed.ChatResponseWarningPart(message));
    },
    thinkingProgress: ({ text, id }: { readonly text: string; readonly id: string }) => {
      this.take(new proposed.ChatResponseThinkingProgressPart(text, id));
    },
    codeblockUri: (uri: vscode.Uri) => {
      this.take(new proposed.ChatResponseCodeblockUriPart(uri));
    },
    push: (part: ToolInvocationPart) => {
      this.take(part);
    },
    // What is drawn here uses no other member.
  } as unknown as ProposedStream;

  /** Everything that was drawn. */
  all(): readonly object[] {
    this.flush();
    return this.parts;
  }

  private take(part: object): void {
    this.flush();
    this.parts.push(part);
  }

  /** Text in pieces would be as many parts. */
  private flush(): void {
    if (this.text !== '') this.parts.push(new vscode.ChatResponseMarkdownPart(this.text));
    this.text = '';
  }
}

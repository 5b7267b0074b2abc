import type * as vscode from 'vscode';
import { MarkdownString } from './basics.js';

type Text = string | vscode.MarkdownString;

function markdown(value: Text): vscode.MarkdownString {
  const text = typeof value === 'string' ? new MarkdownString(value) : value;
  if (text.isTrusted === true) {
    throw new Error('The boolean form of MarkdownString.isTrusted is NOT supported for chat participants.');
  }
  return text;
}

export class ChatResponseMarkdownPart implements vscode.ChatResponseMarkdownPart {
  value: vscode.MarkdownString;

  constructor(value: Text) {
    this.value = markdown(value);
  }
}

export class ChatResponseFileTreePart implements vscode.ChatResponseFileTreePart {
  constructor(
    public value: vscode.ChatResponseFileTree[],
    public baseUri: vscode.Uri,
  ) {}
}

export class ChatResponseAnchorPart implements vscode.ChatResponseAnchorPart {
  title?: string;

  constructor(
    public value: vscode.Uri | vscode.Location,
    title?: string,
  ) {
    if (title !== undefined) this.title = title;
  }
}

export class ChatResponseProgressPart implements vscode.ChatResponseProgressPart {
  constructor(public value: string) {}
}

export class ChatResponseReferencePart implements vscode.ChatResponseReferencePart {
  iconPath?: vscode.IconPath;

  constructor(
    public value: vscode.Uri | vscode.Location,
    iconPath?: vscode.IconPath,
  ) {
    if (iconPath !== undefined) this.iconPath = iconPath;
  }
}

export class ChatResponseCommandButtonPart implements vscode.ChatResponseCommandButtonPart {
  constructor(public value: vscode.Command) {}
}

// What follows is of the proposals `chatParticipantAdditions` and `chatParticipantPrivate`. The editor exports these
// classes to everybody; what needs the grant is to hand one to a stream.

export class ChatToolInvocationPart {
  isError?: boolean;
  invocationMessage?: Text;
  originMessage?: Text;
  pastTenseMessage?: Text;
  isConfirmed?: boolean;
  isComplete?: boolean;
  toolSpecificData?: object;
  subAgentInvocationId?: string;
  presentation?: 'hidden' | 'hiddenAfterComplete' | undefined;
  enablePartialUpdate?: boolean;

  constructor(
    public toolName: string,
    public toolCallId: string,
    errorMessage?: string,
  ) {
    if (errorMessage !== undefined) this.isError = true;
  }
}

export class ChatResponseThinkingProgressPart {
  id?: string;
  metadata?: Readonly<Record<string, unknown>>;

  constructor(
    public value: string | string[],
    id?: string,
    metadata?: Readonly<Record<string, unknown>>,
  ) {
    if (id !== undefined) this.id = id;
    if (metadata !== undefined) this.metadata = metadata;
  }
}

export class ChatResponseWarningPart {
  value: vscode.MarkdownString;

  constructor(value: Text) {
    this.value = markdown(value);
  }
}

export class ChatResponseInfoPart {
  value: vscode.MarkdownString;

  constructor(value: Text) {
    this.value = markdown(value);
  }
}

export class ChatResponseCodeblockUriPart {
  isEdit?: boolean;
  undoStopId?: string;

  constructor(
    public value: vscode.Uri,
    isEdit?: boolean,
    undoStopId?: string,
  ) {
    if (isEdit !== undefined) this.isEdit = isEdit;
    if (undoStopId !== undefined) this.undoStopId = undoStopId;
  }
}

export enum ChatQuestionType {
  Text = 1,
  SingleSelect = 2,
  MultiSelect = 3,
}

export class ChatQuestion {
  message?: Text;
  options?: readonly { readonly id: string; readonly label: string; readonly value: unknown }[];
  defaultValue?: string | string[];
  allowFreeformInput?: boolean;

  constructor(
    public id: string,
    public type: ChatQuestionType,
    public title: string,
    options: Partial<Pick<ChatQuestion, 'message' | 'options' | 'defaultValue' | 'allowFreeformInput'>> = {},
  ) {
    Object.assign(this, options);
  }
}

/** In the editor, too, the same class as `ChatRequestTurn`. */
export class ChatRequestTurn2 implements vscode.ChatRequestTurn {
  readonly command?: string;

  constructor(
    readonly prompt: string,
    command: string | undefined,
    readonly references: vscode.ChatPromptReference[],
    readonly participant: string,
    readonly toolReferences: vscode.ChatLanguageModelToolReference[],
    readonly editedFileEvents?: readonly object[],
    readonly id?: string,
    readonly modelId?: string,
    readonly modeInstructions2?: object,
  ) {
    if (command !== undefined) this.command = command;
  }
}

type ShownPart = vscode.ChatResponseTurn['response'][number];

export class ChatResponseTurn implements vscode.ChatResponseTurn {
  readonly command?: string;

  constructor(
    readonly response: readonly ShownPart[],
    readonly result: vscode.ChatResult,
    readonly participant: string,
    command?: string,
  ) {
    if (command !== undefined) this.command = command;
  }
}

export class ChatResponseTurn2 {
  readonly id?: string;
  readonly command?: string;

  constructor(
    readonly response: readonly object[],
    readonly result: vscode.ChatResult,
    readonly participant: string,
  ) {}
}

export class ChatReferenceBinaryData {
  constructor(
    readonly mimeType: string,
    readonly data: () => Thenable<Uint8Array>,
    readonly reference?: vscode.Uri,
  ) {}
}

export class ChatReferenceDiagnostic {
  constructor(readonly diagnostics: [vscode.Uri, vscode.Diagnostic[]][]) {}
}

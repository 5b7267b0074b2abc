import * as vscode from 'vscode';

// The members of proposed API that this extension uses, and no others; test/vscode/proposed.test.ts holds them against the
// published declarations. Whoever uses one asks `Grants` first: without the grant it is missing, or throws.

export type ProposedStream = vscode.ChatResponseStream & StreamAdditions;

interface StreamAdditions {
  /** chatParticipantAdditions */
  warning(message: string | vscode.MarkdownString): void;
  /** chatParticipantAdditions */
  thinkingProgress(delta: { readonly text: string; readonly id: string }): void;
  /** chatParticipantAdditions. A stock editor answers it by a new prompt, which a running turn refuses. */
  confirmation(title: string, message: string | vscode.MarkdownString, data: object, buttons?: string[]): void;
  /** chatParticipantAdditions */
  codeblockUri(uri: vscode.Uri, isEdit?: boolean): void;
  /** chatParticipantAdditions */
  push(part: ToolInvocationPart): void;
  /** chatParticipantAdditions. Resolves with the answers by question, or with nothing where the response is over. */
  questionCarousel(questions: Question[], allowSkip?: boolean): Thenable<Record<string, unknown> | undefined>;
}

/** chatParticipantAdditions. One question of several that the editor shows above the composer. */
export interface Question {
  id: string;
  type: number;
  title: string;
}

interface QuestionOptions {
  message?: vscode.MarkdownString;
  options?: { id: string; label: string; value: unknown }[];
  defaultValue?: string | string[];
  allowFreeformInput?: boolean;
}

/** chatParticipantAdditions. With `enablePartialUpdate`, a second part of the same call changes the first. */
export interface ToolInvocationPart {
  toolName: string;
  toolCallId: string;
  isError?: boolean;
  invocationMessage?: string | vscode.MarkdownString;
  pastTenseMessage?: string | vscode.MarkdownString;
  isConfirmed?: boolean;
  isComplete?: boolean;
  enablePartialUpdate?: boolean;
}

/** chatParticipantAdditions; what a tool row unfolds to. */
export interface ToolResultData {
  input: string;
  output: string;
}

/** chatSessionsProvider. A row of the list of sessions. */
export interface SessionItem {
  readonly resource: vscode.Uri;
  label: string;
  description?: string | vscode.MarkdownString;
  iconPath?: vscode.IconPath;
  tooltip?: string | vscode.MarkdownString;
  status?: number;
  timing?: { readonly created: number; readonly lastRequestStarted?: number; readonly lastRequestEnded?: number };
}

/** One picker below the composer of a session; of kind `permissions` it takes the place of the editor's own. */
export interface OptionGroup {
  readonly id: string;
  readonly name: string;
  readonly kind?: 'permissions';
  readonly items: readonly OptionItem[];
  readonly selected?: OptionItem;
}

interface OptionItem {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly tooltip?: string;
}

export interface SessionInputState {
  readonly onDidChange: vscode.Event<void>;
  readonly onDidDispose: vscode.Event<void>;
  groups: readonly OptionGroup[];
}

export interface SessionItemController {
  readonly items: { replace(items: readonly SessionItem[]): void };
  createChatSessionItem(resource: vscode.Uri, label: string): SessionItem;
  createChatSessionInputState(groups: OptionGroup[]): SessionInputState;
  getChatSessionInputState?: (resource: vscode.Uri | undefined) => Thenable<SessionInputState>;
  dispose(): void;
}

/** What a session shows when it is opened; `activeResponseCallback` draws what still goes on. */
export interface SessionContent {
  readonly title?: string;
  readonly history: readonly (vscode.ChatRequestTurn | vscode.ChatResponseTurn)[];
  readonly activeResponseCallback?: (
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ) => Thenable<void>;
  readonly requestHandler: vscode.ChatRequestHandler | undefined;
}

export interface SessionContentProvider {
  provideChatSessionContent(resource: vscode.Uri, token: vscode.CancellationToken): Thenable<SessionContent>;
}

interface ProposedChat {
  createChatSessionItemController(
    type: string,
    refreshHandler: (token: vscode.CancellationToken) => Thenable<void>,
  ): SessionItemController;
  registerChatSessionContentProvider(
    type: string,
    provider: SessionContentProvider,
    participant: vscode.ChatParticipant,
    capabilities: { readonly supportsInterruptions: boolean },
  ): vscode.Disposable;
}

interface ProposedModule {
  readonly chat: ProposedChat;
  /** chatParticipantAdditions */
  readonly ChatQuestion: new (id: string, type: number, title: string, options?: QuestionOptions) => Question;
  readonly ChatQuestionType: Readonly<Record<'Text' | 'SingleSelect' | 'MultiSelect', number>>;
  readonly ChatSessionStatus: Readonly<Record<'Failed' | 'Completed' | 'InProgress' | 'NeedsInput', number>>;
  /** chatParticipantPrivate; the turns of a restored session. */
  readonly ChatRequestTurn2: new (
    prompt: string,
    command: undefined,
    references: [],
    participant: string,
    toolReferences: [],
    editedFileEvents: undefined,
    id: string,
    modelId: undefined,
    modeInstructions: undefined,
  ) => vscode.ChatRequestTurn;
  readonly ChatResponseTurn2: new (
    response: readonly object[],
    result: vscode.ChatResult,
    participant: string,
  ) => vscode.ChatResponseTurn;
  /** chatParticipantAdditions */
  readonly ChatResponseConfirmationPart: new (
    title: string,
    message: vscode.MarkdownString,
    data: object,
    buttons: string[],
  ) => object;
  readonly ChatResponseWarningPart: new (value: vscode.MarkdownString) => object;
  readonly ChatResponseThinkingProgressPart: new (value: string, id: string) => object;
  readonly ChatResponseCodeblockUriPart: new (value: vscode.Uri) => object;
  readonly ChatToolInvocationPart: new (
    toolName: string,
    toolCallId: string,
  ) => ToolInvocationPart & { toolSpecificData?: ToolResultData };
}

/** chatParticipantPrivate. */
export type ProposedRequest = vscode.ChatRequest & RequestAdditions;

interface RequestAdditions {
  /** How often this prompt was sent before, in the same place. */
  readonly attempt?: number;
  /** Never gated: an editor too old for it says nothing. */
  readonly sessionResource?: vscode.Uri;
}

/** chatParticipantPrivate, though never gated: an editor too old for it says nothing. */
export type ProposedContext = vscode.ChatContext & ContextAdditions;

interface ContextAdditions {
  /** The person has sent a prompt that waits for this handler to return. */
  readonly yieldRequested: boolean;
  /** chatSessionsProvider. The session that the prompt belongs to. */
  readonly chatSessionContext?: { readonly chatSessionItem: { readonly resource: vscode.Uri } };
}

/** chatParticipantAdditions */
export interface ProposedResult extends vscode.ChatResult {
  /** Stands below the response. */
  details?: string;
}

export const proposed = vscode as unknown as ProposedModule;

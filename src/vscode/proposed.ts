import * as vscode from 'vscode';

// The members of proposed API that this extension uses, and no others; test/vscode/proposed.test.ts holds them against the
// published declarations. Whoever uses one asks `Grants` first: without the grant it is missing, or throws.

export type ProposedStream = vscode.ChatResponseStream & StreamAdditions;

interface StreamAdditions {
  /** chatParticipantAdditions */
  warning(message: string | vscode.MarkdownString): void;
  /** chatParticipantAdditions */
  thinkingProgress(delta: { readonly text: string; readonly id: string }): void;
  /** chatParticipantAdditions */
  codeblockUri(uri: vscode.Uri, isEdit?: boolean): void;
  /** chatParticipantAdditions */
  push(part: ToolInvocationPart): void;
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

interface ProposedModule {
  readonly ChatToolInvocationPart: new (
    toolName: string,
    toolCallId: string,
  ) => ToolInvocationPart & { toolSpecificData?: ToolResultData };
}

/** chatParticipantPrivate, though never gated: an editor too old for it says nothing. */
export interface ProposedContext extends vscode.ChatContext {
  /** The person has sent a prompt that waits for this handler to return. */
  readonly yieldRequested: boolean;
}

/** chatParticipantAdditions */
export interface ProposedResult extends vscode.ChatResult {
  /** Stands below the response. */
  details?: string;
}

export const proposed = vscode as unknown as ProposedModule;

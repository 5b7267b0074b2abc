import type * as vscode from 'vscode';

// The values are the API's own: a member that is missing or has another number does not compile.

export const ChatResultFeedbackKind: typeof vscode.ChatResultFeedbackKind = { Unhelpful: 0, Helpful: 1 };
export const ConfigurationTarget: typeof vscode.ConfigurationTarget = { Global: 1, Workspace: 2, WorkspaceFolder: 3 };
export const DiagnosticSeverity: typeof vscode.DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };
export const EndOfLine: typeof vscode.EndOfLine = { LF: 1, CRLF: 2 };
export const ExtensionKind: typeof vscode.ExtensionKind = { UI: 1, Workspace: 2 };
export const ExtensionMode: typeof vscode.ExtensionMode = { Production: 1, Development: 2, Test: 3 };
export const FileType: typeof vscode.FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 };
export const InputBoxValidationSeverity: typeof vscode.InputBoxValidationSeverity = { Info: 1, Warning: 2, Error: 3 };
export const LanguageModelChatMessageRole: typeof vscode.LanguageModelChatMessageRole = { User: 1, Assistant: 2 };
export const LanguageModelChatToolMode: typeof vscode.LanguageModelChatToolMode = { Auto: 1, Required: 2 };
export const LogLevel: typeof vscode.LogLevel = { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 };
export const ProgressLocation: typeof vscode.ProgressLocation = { SourceControl: 1, Window: 10, Notification: 15 };
export const QuickInputButtonLocation: typeof vscode.QuickInputButtonLocation = { Title: 1, Inline: 2, Input: 3 };
export const QuickPickItemKind: typeof vscode.QuickPickItemKind = { Separator: -1, Default: 0 };
export const StatusBarAlignment: typeof vscode.StatusBarAlignment = { Left: 1, Right: 2 };
export const UIKind: typeof vscode.UIKind = { Desktop: 1, Web: 2 };
export const ViewColumn: typeof vscode.ViewColumn = {
  Active: -1,
  Beside: -2,
  One: 1,
  Two: 2,
  Three: 3,
  Four: 4,
  Five: 5,
  Six: 6,
  Seven: 7,
  Eight: 8,
  Nine: 9,
};

/** Of the proposal `chatSessionsProvider`. */
export const ChatSessionStatus = { Failed: 0, Completed: 1, InProgress: 2, NeedsInput: 3 } as const;

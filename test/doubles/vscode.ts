/**
 * The module `vscode`, for tests: what an extension of ours uses of it, as a value. Types are always those of the real
 * API; `CHECKED` below ties each value to them, so that what drifts apart does not compile. A test acts on it through
 * `FakeEditor` (editor.ts).
 */
import type * as vscode from 'vscode';
import * as basics from './vscode/basics.js';
import * as chatParts from './vscode/chatParts.js';
import * as languageModels from './vscode/languageModels.js';
import { QuickInputButtons } from './vscode/quickInput.js';
import * as text from './vscode/text.js';
import { Uri } from './vscode/uri.js';

export * from './vscode/basics.js';
export * from './vscode/chatParts.js';
export { ChatRequestTurn2 as ChatRequestTurn } from './vscode/chatParts.js';
export { chat } from './vscode/chat.js';
export * from './vscode/enums.js';
export { LanguageModelChatMessage, LanguageModelError, LanguageModelTextPart, lm } from './vscode/languageModels.js';
export { commands, env, extensions, languages } from './vscode/namespaces.js';
export { QuickInputButtons } from './vscode/quickInput.js';
export { Diagnostic, Location, Position, Range, Selection } from './vscode/text.js';
export { Uri } from './vscode/uri.js';
export { window } from './vscode/window.js';
export { workspace } from './vscode/workspace.js';

export const version = '1.138.0';

type Api = typeof vscode;
/** A class whose constructor the API keeps to itself: its statics, and with `prototype` its instances. */
type Closed<T> = Pick<T, keyof T>;

export const CHECKED = {
  CancellationError: basics.CancellationError satisfies Api['CancellationError'],
  CancellationTokenSource: basics.CancellationTokenSource satisfies Api['CancellationTokenSource'],
  ChatRequestTurn: chatParts.ChatRequestTurn2 satisfies Closed<Api['ChatRequestTurn']>,
  ChatResponseAnchorPart: chatParts.ChatResponseAnchorPart satisfies Api['ChatResponseAnchorPart'],
  ChatResponseCommandButtonPart: chatParts.ChatResponseCommandButtonPart satisfies Api['ChatResponseCommandButtonPart'],
  ChatResponseFileTreePart: chatParts.ChatResponseFileTreePart satisfies Api['ChatResponseFileTreePart'],
  ChatResponseMarkdownPart: chatParts.ChatResponseMarkdownPart satisfies Api['ChatResponseMarkdownPart'],
  ChatResponseProgressPart: chatParts.ChatResponseProgressPart satisfies Api['ChatResponseProgressPart'],
  ChatResponseReferencePart: chatParts.ChatResponseReferencePart satisfies Api['ChatResponseReferencePart'],
  ChatResponseTurn: chatParts.ChatResponseTurn satisfies Closed<Api['ChatResponseTurn']>,
  Diagnostic: text.Diagnostic satisfies Api['Diagnostic'],
  Disposable: basics.Disposable satisfies Api['Disposable'],
  EventEmitter: basics.EventEmitter satisfies Api['EventEmitter'],
  FileSystemError: basics.FileSystemError satisfies Api['FileSystemError'],
  LanguageModelChatMessage: languageModels.LanguageModelChatMessage satisfies Api['LanguageModelChatMessage'],
  LanguageModelError: languageModels.LanguageModelError satisfies Api['LanguageModelError'],
  LanguageModelTextPart: languageModels.LanguageModelTextPart satisfies Api['LanguageModelTextPart'],
  Location: text.Location satisfies Api['Location'],
  MarkdownString: basics.MarkdownString satisfies Api['MarkdownString'],
  Position: text.Position satisfies Api['Position'],
  QuickInputButtons: QuickInputButtons satisfies Closed<Api['QuickInputButtons']>,
  Range: text.Range satisfies Api['Range'],
  Selection: text.Selection satisfies Api['Selection'],
  ThemeColor: basics.ThemeColor satisfies Api['ThemeColor'],
  ThemeIcon: basics.ThemeIcon satisfies Api['ThemeIcon'],
  Uri: Uri satisfies Closed<Api['Uri']>,
};

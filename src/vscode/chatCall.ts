import type * as vscode from 'vscode';

/** A prompt, and where its response goes. */
export interface ChatCall {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
}

import * as vscode from 'vscode';
import type { Grants } from './grants.js';
import { SESSION_TYPE } from './sessionResource.js';

export const VENDOR = 'supercode';
const MODEL_ID = 'runtime';
const SESSION_MODEL_ID = 'session';

/**
 * The one model that the editor's picker shows: without a selected model the editor sends no prompt to any participant.
 * It names who answers; the runtime owns all inference, so a request to the model itself is refused. Where the editor keeps
 * the models of a session type apart, our sessions have it as the only one of theirs.
 */
export class RuntimeModel implements vscode.LanguageModelChatProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeLanguageModelChatInformation = this.changed.event;
  private name: string;
  private icon: string | undefined;
  private readonly hasSessions: boolean;

  constructor(name: string, grants: Grants) {
    this.name = name;
    this.hasSessions = grants.has('chatProvider') && grants.has('chatSessionsProvider');
  }

  /** The same ids under another name: what a person selected stays selected. */
  rename(name: string, icon?: string): void {
    if (name === this.name && icon === this.icon) return;
    this.name = name;
    this.icon = icon;
    this.changed.fire();
  }

  provideLanguageModelChatInformation(): vscode.LanguageModelChatInformation[] {
    const model = {
      id: MODEL_ID,
      name: this.name,
      family: VENDOR,
      version: '1',
      tooltip: 'The agent of the connected runtime. It answers in Chat and does its own inference.',
      // The runtime states no limits, and none are invented.
      maxInputTokens: 0,
      maxOutputTokens: 0,
      // The Chat view opens in Agent mode, which offers no model without this.
      capabilities: { toolCalling: true },
      ...PICKED_BY_ITSELF,
      ...(this.icon === undefined ? {} : { statusIcon: new vscode.ThemeIcon(this.icon) }),
    };
    return this.hasSessions ? [model, { ...model, id: SESSION_MODEL_ID, ...OF_SESSIONS }] : [model];
  }

  provideLanguageModelChatResponse(): Promise<void> {
    return Promise.reject(
      new vscode.LanguageModelError(
        'This model stands for the agent of a connected runtime and takes no requests of its own. Ask it in Chat instead.',
      ),
    );
  }

  provideTokenCount(): Promise<number> {
    return Promise.resolve(0);
  }
}

/** chatProvider, though never gated. */
const PICKED_BY_ITSELF = { isUserSelectable: true, isDefault: true };
/** chatProvider. */
const OF_SESSIONS = { targetChatSessionType: SESSION_TYPE };

/** Registers the model, and makes the editor ask for it: it does not look at a provider that is merely registered. */
export function registerModel(model: RuntimeModel, log: vscode.LogOutputChannel): vscode.Disposable {
  const registration = vscode.lm.registerLanguageModelChatProvider(VENDOR, model);
  vscode.lm.selectChatModels({ vendor: VENDOR }).then(undefined, (error: unknown) => {
    log.warn(`The model picker does not show this extension's model: ${String(error)}`);
  });
  return registration;
}

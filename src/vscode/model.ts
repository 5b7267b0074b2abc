import * as vscode from 'vscode';

export const VENDOR = 'supercode';
const MODEL_ID = 'runtime';

/**
 * The one model that the editor's picker shows: without a selected model the editor sends no prompt to any participant.
 * It names who answers; the runtime owns all inference, so a request to the model itself is refused.
 */
export class RuntimeModel implements vscode.LanguageModelChatProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeLanguageModelChatInformation = this.changed.event;
  private name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** The same id under another name: what a person selected stays selected. */
  rename(name: string): void {
    if (name === this.name) return;
    this.name = name;
    this.changed.fire();
  }

  provideLanguageModelChatInformation(): vscode.LanguageModelChatInformation[] {
    return [
      {
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
      },
    ];
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

/** Registers the model, and makes the editor ask for it: it does not look at a provider that is merely registered. */
export function registerModel(model: RuntimeModel, log: vscode.LogOutputChannel): vscode.Disposable {
  const registration = vscode.lm.registerLanguageModelChatProvider(VENDOR, model);
  vscode.lm.selectChatModels({ vendor: VENDOR }).then(undefined, (error: unknown) => {
    log.warn(`The model picker does not show this extension's model: ${String(error)}`);
  });
  return registration;
}

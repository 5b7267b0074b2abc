import type * as vscode from 'vscode';
import { CancellationTokenSource, Disposable } from './basics.js';
import { LanguageModelChatMessageRole, LanguageModelChatToolMode } from './enums.js';
import { host } from './host.js';

export class LanguageModelTextPart implements vscode.LanguageModelTextPart {
  constructor(public value: string) {}
}

export class LanguageModelError extends Error implements vscode.LanguageModelError {
  code = 'Unknown';

  static readonly NoPermissions = maker('NoPermissions');
  static readonly Blocked = maker('Blocked');
  static readonly NotFound = maker('NotFound');
}

function maker(code: string) {
  return (message?: string): LanguageModelError => Object.assign(new LanguageModelError(message), { code });
}

type Content = string | vscode.LanguageModelInputPart[];

export class LanguageModelChatMessage implements vscode.LanguageModelChatMessage {
  content: vscode.LanguageModelInputPart[];
  name: string | undefined;

  constructor(
    public role: vscode.LanguageModelChatMessageRole,
    content: Content,
    name?: string,
  ) {
    this.name = name;
    this.content = typeof content === 'string' ? [new LanguageModelTextPart(content)] : content;
  }

  static User(content: Content, name?: string): LanguageModelChatMessage {
    return new LanguageModelChatMessage(LanguageModelChatMessageRole.User, content, name);
  }

  static Assistant(content: Content, name?: string): LanguageModelChatMessage {
    return new LanguageModelChatMessage(LanguageModelChatMessageRole.Assistant, content, name);
  }
}

async function selectChatModels(selector: vscode.LanguageModelChatSelector = {}): Promise<vscode.LanguageModelChat[]> {
  const models: vscode.LanguageModelChat[] = [];
  for (const [vendor, provider] of host().modelProviders) {
    if (selector.vendor !== undefined && selector.vendor !== vendor) continue;
    const { token } = new CancellationTokenSource();
    const offered = (await provider.provideLanguageModelChatInformation({ silent: true }, token)) ?? [];
    models.push(...offered.map((information) => modelOf(vendor, provider, information)));
  }
  const { family, version, id } = selector;
  const fits = (wanted: string | undefined, had: string) => wanted === undefined || wanted === had;
  return models.filter((model) => fits(family, model.family) && fits(version, model.version) && fits(id, model.id));
}

function modelOf(
  vendor: string,
  provider: vscode.LanguageModelChatProvider,
  information: vscode.LanguageModelChatInformation,
): vscode.LanguageModelChat {
  const { name, id, family, version, maxInputTokens } = information;
  return {
    name,
    id,
    vendor,
    family,
    version,
    maxInputTokens,
    sendRequest: async (messages, options, token = new CancellationTokenSource().token) => {
      const parts: unknown[] = [];
      const given = { toolMode: LanguageModelChatToolMode.Auto, requestInitiator: 'somebody.else', ...options };
      const progress = { report: (part: unknown) => parts.push(part) };
      await provider.provideLanguageModelChatResponse(information, messages, given, progress, token);
      return { stream: each(parts), text: each(parts.flatMap((part) => textOf(part))) };
    },
    countTokens: (text, token = new CancellationTokenSource().token) =>
      provider.provideTokenCount(information, text, token),
  };
}

const textOf = (part: unknown) => (part instanceof LanguageModelTextPart ? [part.value] : []);

async function* each<T>(items: readonly T[]): AsyncIterable<T> {
  for (const item of items) yield await Promise.resolve(item);
}

function registerLanguageModelChatProvider(vendor: string, provider: vscode.LanguageModelChatProvider): Disposable {
  const owner = host();
  if (owner.modelProviders.has(vendor)) throw new Error(`Chat model provider for vendor ${vendor} already registered.`);
  owner.modelProviders.set(vendor, provider);
  const listening = provider.onDidChangeLanguageModelChatInformation?.(() => {
    owner.modelsChanged.fire(undefined);
  });
  return new Disposable(() => {
    listening?.dispose();
    owner.modelProviders.delete(vendor);
  });
}

/** The part of the namespace that an extension of ours uses. */
export const lm: Pick<
  typeof vscode.lm,
  'registerLanguageModelChatProvider' | 'selectChatModels' | 'onDidChangeChatModels'
> = {
  registerLanguageModelChatProvider,
  selectChatModels,
  get onDidChangeChatModels() {
    return host().modelsChanged.event as vscode.Event<void>;
  },
};

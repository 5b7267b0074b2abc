import type * as vscode from 'vscode';
import { Disposable, EventEmitter } from './basics.js';
import { host } from './host.js';

/** A participant as the editor holds it, with the members that proposals add. */
export class ParticipantDouble implements vscode.ChatParticipant {
  iconPath?: vscode.IconPath;
  followupProvider?: vscode.ChatFollowupProvider;
  helpTextPrefix?: string | vscode.MarkdownString;
  helpTextPostfix?: string | vscode.MarkdownString;
  additionalWelcomeMessage?: string | vscode.MarkdownString;
  titleProvider?: never;
  summarizer?: never;
  supportIssueReporting?: boolean;
  isDisposed = false;
  readonly feedback = new EventEmitter<vscode.ChatResultFeedback>();

  readonly onDidReceiveFeedback = this.feedback.event;
  readonly onDidPerformAction = new EventEmitter<never>().event;
  readonly onDidChangePauseState = new EventEmitter<never>().event;

  constructor(
    readonly id: string,
    public requestHandler: vscode.ChatRequestHandler,
  ) {}

  dispose(): void {
    this.isDisposed = true;
    if (host().participants.get(this.id) === this) host().participants.delete(this.id);
  }
}

function createChatParticipant(id: string, handler: vscode.ChatRequestHandler): ParticipantDouble {
  if (host().participants.has(id)) throw new Error(`Agent with id ${id} already registered`);
  const participant = new ParticipantDouble(id, handler);
  host().participants.set(id, participant);
  return participant;
}

/** Of the proposals: what a stock editor has, too, and refuses to everybody. */
const proposed = {
  createDynamicChatParticipant(id: string, _properties: object, handler: vscode.ChatRequestHandler): ParticipantDouble {
    host().checkProposal('chatParticipantPrivate');
    return createChatParticipant(id, handler);
  },
  createChatSessionItemController(type: string, refreshHandler: (token: vscode.CancellationToken) => Thenable<void>) {
    host().checkProposal('chatSessionsProvider');
    const items = new Map<string, { readonly resource: vscode.Uri; label: string }>();
    const publications: (readonly object[])[] = [];
    const controller = {
      id: type,
      /** Each list that was published, oldest first. */
      publications,
      refreshHandler,
      items: {
        get size() {
          return items.size;
        },
        replace: (all: readonly { readonly resource: vscode.Uri; label: string }[]) => {
          items.clear();
          publications.push(all);
          for (const item of all) items.set(item.resource.toString(), item);
        },
        add: (item: { readonly resource: vscode.Uri; label: string }) => items.set(item.resource.toString(), item),
        delete: (resource: vscode.Uri) => items.delete(resource.toString()),
        get: (resource: vscode.Uri) => items.get(resource.toString()),
        forEach: (callback: (item: object) => unknown) => {
          for (const item of items.values()) callback(item);
        },
        [Symbol.iterator]: () => items.entries(),
      },
      onDidChangeChatSessionItemState: new EventEmitter<never>().event,
      createChatSessionItem: (resource: vscode.Uri, label: string) => ({ resource, label }),
      createChatSessionInputState: (groups: readonly object[]) => {
        const changed = new EventEmitter<undefined>();
        const state = {
          groups,
          sessionResource: undefined,
          onDidChange: changed.event,
          onDidDispose: new EventEmitter<undefined>().event,
          /** What a person picks below the composer. */
          change: (picked: readonly object[]) => {
            state.groups = picked;
            changed.fire(undefined);
          },
        };
        return state;
      },
      dispose: () => host().sessionControllers.delete(type),
    };
    host().sessionControllers.set(type, controller);
    return controller;
  },
  registerChatSessionContentProvider(scheme: string, provider: object): Disposable {
    host().checkProposal('chatSessionsProvider');
    host().sessionContents.set(scheme, provider);
    return new Disposable(() => host().sessionContents.delete(scheme));
  },
};

export const chat: Pick<typeof vscode.chat, 'createChatParticipant'> & typeof proposed = {
  createChatParticipant,
  ...proposed,
};

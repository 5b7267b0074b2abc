import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import { selectFocus } from '../selectors/focus.js';
import { selectIdentity, selectIdentityLabel } from '../selectors/identity.js';
import { selectWaitingIds } from '../selectors/requests.js';
import { selectTurn } from '../selectors/turn.js';
import { connectionFocused } from '../store/focus.js';
import type { RootState } from '../store/state.js';
import type { ConnectionInfo, ConnectOptions } from './api.js';
import { Attaching } from './attaching.js';
import { watchAttention } from './attention.js';
import type { ChatCall } from './chatCall.js';
import type { CommandName } from './commandNames.js';
import { createFront, type Front, type FrontOptions } from './front.js';
import type { RuntimeModel } from './model.js';
import type { SessionContent, SessionItemController } from './proposed.js';
import type { Participants } from './participants.js';
import { Permissions } from './permissions.js';
import { Arrivals, revealConversation } from './reveal.js';
import { SessionItems } from './sessionItems.js';
import { watchState } from './watchState.js';

export interface MainOptions extends FrontOptions {
  readonly model: RuntimeModel;
  readonly participants: Participants;
  readonly connectionsChanged: vscode.EventEmitter<void>;
  /** The editor's list of sessions, where it has one. */
  readonly sessions: SessionItemController | undefined;
}

/** How often a list of conversations may change; ms. */
const LISTED_EVERY_MS = 250;

/** Composes everything behind the registrations: made with the first use. */
export class Main {
  private readonly front: Front;
  private readonly attaching: Attaching;
  private readonly permissions: Permissions;
  /** Resolves when what the environment and the settings name is being connected to. */
  private readonly started: Promise<void>;
  private infos: readonly ConnectionInfo[] = [];

  constructor({ model, participants, connectionsChanged, sessions, ...options }: MainOptions) {
    this.front = createFront(options);
    const { app, context } = this.front;
    this.attaching = new Attaching(this.front);
    watchAttention(this.front, (connection) => {
      app.dispatch(connectionFocused({ connection }));
      void revealConversation(this.front, connection);
    });
    const concerns = ({ connections, turn, requests, focus }: RootState) => [connections, turn, requests, focus];
    const tell = (root: RootState) => {
      const { icon } = selectIdentity(root, selectFocus(root));
      model.rename(selectIdentityLabel(root, selectFocus(root)), icon);
      participants.wear(icon);
      const infos = infosOf(root);
      if (JSON.stringify(infos) === JSON.stringify(this.infos)) return;
      this.infos = infos;
      connectionsChanged.fire();
    };
    const arrivals = new Arrivals(this.front);
    this.permissions = new Permissions(this.front, sessions);
    context.subscriptions.push(
      watchState(app, concerns, 0, tell),
      watchState(
        app,
        ({ connections, permissions }) => [connections, permissions],
        0,
        (root) => {
          this.permissions.update(root);
          arrivals.update(root);
        },
      ),
    );
    if (sessions) {
      const items = new SessionItems(sessions, vscode.Uri.joinPath(context.extensionUri, 'media', 'icon.png'));
      const looksAt = (root: RootState) => [...concerns(root), root.conversations, root.permissions];
      context.subscriptions.push(
        watchState(app, looksAt, LISTED_EVERY_MS, (root) => {
          items.update(root);
        }),
      );
    }
    this.started = this.start();
  }

  private async start(): Promise<void> {
    // What deals with a host is loaded only for one.
    const isHosted = Object.keys(process.env).some((name) => name.startsWith('SUPERCODE_FRONTEND_HOST_'));
    await this.attaching.atStart(isHosted && (await import('./hosting.js')).joinHost(this.front));
  }

  /** What a session of the editor's list shows. */
  async session(resource: vscode.Uri, handler: vscode.ChatRequestHandler): Promise<SessionContent> {
    await this.started;
    const { sessionContent } = await import('./sessionContent.js');
    return sessionContent(this.front, resource, handler);
  }

  /** What a document shows of a turn's changes. */
  async changes(uri: vscode.Uri): Promise<string> {
    await this.started;
    const { changesText } = await import('./reviewChanges.js');
    return changesText(this.front, uri);
  }

  get connections(): readonly ConnectionInfo[] {
    return this.infos;
  }

  async chat(call: ChatCall): Promise<vscode.ChatResult> {
    await this.started;
    const { handleChat } = await import('./chatHandler.js');
    return handleChat(this.front, this.attaching, call);
  }

  async command(name: CommandName, argument: unknown): Promise<unknown> {
    await this.started;
    try {
      const { COMMANDS } = await import('./commands.js');
      const { front, attaching, permissions } = this;
      return await COMMANDS[name]({ front, attaching, permissions }, argument);
    } catch (error) {
      this.front.log.error(`${name}: ${messageOf(error)}`);
      // The editor shows it.
      throw error;
    }
  }

  async connect(options?: ConnectOptions): Promise<string | undefined> {
    await this.started;
    if (options) return this.attaching.connect(options);
    await this.command('connect', undefined);
    return this.front.app.getState().connections['settings'] ? 'settings' : undefined;
  }

  async disconnect(id: string): Promise<void> {
    await this.attaching.disconnect(id);
  }
}

function infosOf(root: RootState): readonly ConnectionInfo[] {
  return Object.entries(root.connections).map(([id, { target, phase }]) => ({
    id,
    baseUrl: target.baseUrl,
    clientId: target.clientId,
    phase: phase.name,
    label: selectIdentityLabel(root, id),
    turn: selectTurn(root, id).phase,
    waiting: selectWaitingIds(root, id).length,
  }));
}

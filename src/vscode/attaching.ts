import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { isClientId } from '../protocol/handover.js';
import { messageOf } from '../protocol/messageOf.js';
import { isOver } from '../selectors/connections.js';
import { checkedBaseUrl } from '../services/loopback.js';
import { handoverFromEnvironment, narrowedTo, permissionsIn } from '../services/node/environment.js';
import { sha256Hex } from '../services/node/hash.js';
import type { ConnectionTarget, Permission } from '../services/services.js';
import { closeRequested, forgotten, opened, recalled, type ConnectionId, type Origin } from '../store/connections.js';
import { unavailableReported } from '../store/setup.js';
import type { RootState } from '../store/state.js';
import type { Front } from './front.js';
import type { Handoff } from './handoff.js';
import { HeardConversations } from './heard.js';
import { EXTERNAL, REMEMBERED, SECTION, settings } from './settings.js';
import { watchState } from './watchState.js';
import { untilState } from '../sagas/untilState.js';

/** What another extension gives to `connect`. */
export interface ConnectOptions {
  /** `http://` and a loopback host with a port. */
  readonly baseUrl: string;
  /** Kept in memory only. */
  readonly token: string;
  /** The id that the token was minted for; a random one where the token is bound to none. */
  readonly clientId?: string;
  /** `observe` is always included. Default: all that the token grants. */
  readonly permissions?: readonly Permission[];
}

/** Under which secret the token of the settings' runtime is kept. */
export const TOKEN_KEY = 'supercode.frontend.token';

/** A line break or a blank would end up in a header. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

const HEARD_EVERY_MS = 500;

/** Connects to runtimes: to what the environment, the settings or another extension name. */
export class Attaching {
  /** Of this window, for a token that is bound to none. */
  private readonly ownClientId = `vscode-${randomUUID()}`;
  private readonly heard: HeardConversations;

  constructor(private readonly front: Front) {
    this.heard = new HeardConversations(front.context.workspaceState);
    front.context.subscriptions.push(
      watchState(
        front.app,
        ({ connections, turn }) => [connections, turn],
        HEARD_EVERY_MS,
        (root) => {
          this.heard.update(root);
        },
      ),
      watchState(
        front.app,
        ({ connections }) => [connections],
        0,
        (root) => {
          this.recall(root);
        },
      ),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${SECTION}.baseUrl`) || this.isFromSettings(event)) this.fromSettings();
      }),
    );
  }

  /**
   * What was handed over by name, and the first of: the environment's handover, the settings, the handover that an earlier
   * window remembered.
   *
   * @param isHosted a host says what there is besides: what the environment says of a runtime, it says better
   */
  async atStart(isHosted: boolean): Promise<void> {
    await this.openExternal();
    if (isHosted) return;
    try {
      const handover = handoverFromEnvironment(process.env);
      if (handover && 'unavailable' in handover) {
        this.front.app.dispatch(unavailableReported({ reason: handover.unavailable }));
        this.front.log.warn(`No runtime was handed over: ${handover.unavailable}`);
        return;
      }
      if (handover) {
        this.open('environment', 'environment', handover.target);
        await this.front.context.globalState.update(REMEMBERED, handover.target);
        return;
      }
    } catch (error) {
      // Half a handover is a mistake of whoever started the editor: it is told, and what else is known is used.
      const message = messageOf(error);
      this.front.log.error(message);
      void vscode.window.showErrorMessage(`Volter Harness: ${message}`);
    }
    const remembered = targetIn(this.front.context.globalState.get(REMEMBERED));
    if (settings().baseUrl !== '') this.fromSettings();
    else if (remembered) this.open('environment', 'environment', remembered);
  }

  /** Throws an `Error` fit to be shown where the options can't be used; connecting itself goes on behind it. */
  connect({ baseUrl, token, clientId = this.ownClientId, permissions }: ConnectOptions): ConnectionId {
    const url = checkedBaseUrl(baseUrl).origin;
    if (!isClientId(clientId)) {
      throw new Error('The client id must be 1 to 128 letters, digits, dots, underscores or hyphens.');
    }
    if (typeof token !== 'string' || !isToken(token)) {
      throw new Error('The token must be one word of printable characters, as the runtime issued it.');
    }
    // The same for the same runtime and client, in each window and after each reload.
    const connection = `runtime-${sha256Hex(`${url} ${clientId}`).slice(0, 12)}`;
    const key = `handed-over ${connection}`;
    this.front.secrets.lend(key, token);
    this.open(connection, 'api', {
      baseUrl: url,
      clientId,
      credential: { kind: 'secret', key },
      permissions: narrowedTo(permissions),
    });
    return connection;
  }

  /** A runtime from outside, by the name that it is handed over with: the same after a reload. */
  async connectExternal(handoff: Handoff, target: ConnectionTarget): Promise<ConnectionId> {
    this.refuseManaged(handoff.connectionId);
    // At once: whoever hands it over may go on to open it.
    this.open(handoff.connectionId, 'api', target, handoff.label);
    const others = this.keptExternal().filter((each) => each?.connectionId !== handoff.connectionId);
    await this.front.context.workspaceState.update(EXTERNAL, [...others, handoff]);
    return handoff.connectionId;
  }

  fromSettings(): void {
    const { baseUrl, clientId, permissions } = settings();
    if (baseUrl === '') {
      if (this.front.app.getState().connections['settings']) void this.disconnect('settings');
      return;
    }
    try {
      checkedBaseUrl(baseUrl);
      this.open('settings', 'settings', {
        baseUrl,
        clientId: clientId === '' ? this.ownClientId : clientId,
        credential: { kind: 'secret', key: TOKEN_KEY },
        permissions: permissionsIn(permissions.join(','), `${SECTION}.permissions`),
      });
    } catch (error) {
      const message = messageOf(error);
      this.front.log.error(message);
      void vscode.window.showErrorMessage(`${SECTION}.baseUrl: ${message}`);
    }
  }

  /** Tries again where a connection was given up. */
  again(connection: ConnectionId): void {
    const known = this.front.app.getState().connections[connection];
    if (known) this.open(connection, known.origin, known.target, known.label ?? undefined);
  }

  /** Ends the attachment and forgets it; the runtime goes on. */
  async disconnect(connection: ConnectionId): Promise<void> {
    const { app } = this.front;
    const phase = app.getState().connections[connection]?.phase;
    if (phase === undefined) return;
    this.refuseManaged(connection);
    if (connection === 'environment') await this.front.context.globalState.update(REMEMBERED, undefined);
    const kept = this.keptExternal();
    const others = kept.filter((each) => each?.connectionId !== connection);
    if (others.length < kept.length) await this.front.context.workspaceState.update(EXTERNAL, others);
    if (!isOver(phase)) {
      app.dispatch(closeRequested({ connection }));
      await untilState(app, (root) => isOver(root.connections[connection]?.phase));
    }
    // What was left undrawn is of a conversation that is known no more.
    this.front.undrawn.delete(connection);
    app.dispatch(forgotten({ connection }));
    await this.heard.forget(connection);
  }

  /** What an earlier window heard of a conversation that the host hands over. */
  private recall({ connections }: RootState): void {
    for (const [connection, { origin, before, phase }] of Object.entries(connections)) {
      const heard = this.heard.of(connection);
      if (origin !== 'host' || phase.name !== 'connecting' || before.heard || !heard) continue;
      this.front.app.dispatch(recalled({ connection, heard }));
    }
  }

  /** The conversations of a host are its own to name and to end. */
  private refuseManaged(connection: ConnectionId): void {
    const { connections, host } = this.front.app.getState();
    const isListed = host.snapshot?.sessions.some(({ id }) => id === connection);
    if (isListed === true || connections[connection]?.origin === 'host') {
      throw new Error(`The conversation ${connection} is managed by the product that started this editor.`);
    }
  }

  /** What was handed over before, as far as it still reads as such. */
  private async openExternal(): Promise<void> {
    const kept = this.keptExternal();
    if (kept.length === 0) return;
    // Few windows have any.
    const { handoffIn, targetOf } = await import('./handoff.js');
    for (const handoff of kept.flatMap((each) => handoffIn(each) ?? [])) {
      this.open(handoff.connectionId, 'api', targetOf(handoff), handoff.label);
    }
  }

  private keptExternal(): readonly (Partial<Handoff> | null)[] {
    return this.front.context.workspaceState.get(EXTERNAL, []);
  }

  private open(connection: ConnectionId, origin: Origin, target: ConnectionTarget, label?: string): void {
    this.front.log.info(`Connecting to ${target.baseUrl} as ${target.clientId} (${origin}).`);
    const known = this.front.app.getState().connections[connection];
    const before = known ? {} : { before: { heard: this.heard.of(connection) } };
    this.front.app.dispatch(
      opened({ connection, origin, target, ...(label === undefined ? {} : { label }), ...before }),
    );
  }

  /** A change of the other settings matters only to the connection that they are for. */
  private isFromSettings(event: vscode.ConfigurationChangeEvent): boolean {
    const changed = ['clientId', 'permissions'].some((name) => event.affectsConfiguration(`${SECTION}.${name}`));
    return changed && this.front.app.getState().connections['settings'] !== undefined;
  }
}

/** What an earlier window kept, checked: another version of this extension may have written it. */
function targetIn(kept: unknown): ConnectionTarget | undefined {
  const target = kept as Partial<ConnectionTarget> | undefined;
  const isUsable =
    typeof target?.baseUrl === 'string' &&
    typeof target.clientId === 'string' &&
    target.credential?.kind === 'file' &&
    typeof target.credential.path === 'string' &&
    (target.permissions === null || Array.isArray(target.permissions));
  return isUsable ? (target as ConnectionTarget) : undefined;
}

import * as vscode from 'vscode';
import { selectPermissionChoice, type PermissionOption } from '../selectors/permissions.js';
import type { ConnectionId } from '../store/connections.js';
import { policyChosen } from '../store/permissions.js';
import type { RootState } from '../store/state.js';
import type { Front } from './front.js';
import type { OptionGroup, SessionInputState, SessionItemController } from './proposed.js';
import { narrate } from './narrate.js';
import { connectionIn } from './sessionResource.js';

const GROUP = 'permissions';
/** By conversation, only what differs from the default: a pick of the default follows it. */
const KEPT = 'supercode.frontend.permissionsByConversation';
const KEPT_CONVERSATIONS = 200;

type Kept = Readonly<Record<string, 'autoApprove'>>;

/** Who answers, by conversation: what a person picked is kept, is true throughout a turn, and is nobody else's. */
export class Permissions {
  /** The conversation that a connection had when what was picked for it was brought back. */
  private readonly restored = new Map<ConnectionId, string>();
  private readonly states = new Map<SessionInputState, ConnectionId>();

  constructor(
    private readonly front: Front,
    private readonly controller: SessionItemController | undefined,
  ) {
    if (controller) {
      controller.getChatSessionInputState = (resource) => Promise.resolve(this.inputState(controller, resource));
    }
  }

  /** Brings back what was picked for a conversation that is attached, and shows what holds. */
  update(root: RootState): void {
    for (const connection of this.restored.keys()) if (!root.connections[connection]) this.restored.delete(connection);
    for (const [connection, { phase }] of Object.entries(root.connections)) {
      const key = this.keyOf(root, connection);
      if (phase.name !== 'attached' || this.restored.get(connection) === key) continue;
      this.restored.set(connection, key);
      const kept = this.kept()[key];
      if (kept && root.permissions[connection] === undefined)
        this.front.app.dispatch(policyChosen({ connection, policy: kept }));
    }
    for (const [state, connection] of this.states) this.show(state, root, connection);
  }

  async choose(connection: ConnectionId, option: PermissionOption['id']): Promise<void> {
    const { app, log } = this.front;
    const root = app.getState();
    const { selected, offered } = selectPermissionChoice(root, connection);
    if (!offered.some(({ id }) => id === option) || option === 'harness') {
      narrate('Volter Harness: this conversation has no such permissions.');
      return;
    }
    if (option === selected) return;
    app.dispatch(policyChosen({ connection, policy: option }));
    const { [this.keyOf(root, connection)]: _, ...others } = this.kept();
    const kept = option === 'ask' ? others : { ...others, [this.keyOf(root, connection)]: option };
    await this.front.context.workspaceState.update(
      KEPT,
      Object.fromEntries(Object.entries(kept).slice(-KEPT_CONVERSATIONS)),
    );
    log.info(`${connection}: ${option === 'ask' ? 'asks for approval' : 'approves by itself'}.`);
  }

  private inputState(controller: SessionItemController, resource: vscode.Uri | undefined): SessionInputState {
    const connection = connectionIn(resource);
    const root = this.front.app.getState();
    const state = controller.createChatSessionInputState(connection === undefined ? [] : [groupOf(root, connection)]);
    if (connection === undefined) return state;
    this.states.set(state, connection);
    const changed = state.onDidChange(() => {
      const picked = state.groups.find(({ id }) => id === GROUP)?.selected?.id;
      if (picked === 'ask' || picked === 'autoApprove') void this.choose(connection, picked);
    });
    state.onDidDispose(() => {
      changed.dispose();
      this.states.delete(state);
    });
    return state;
  }

  private show(state: SessionInputState, root: RootState, connection: ConnectionId): void {
    const next = groupOf(root, connection);
    if (JSON.stringify(state.groups) !== JSON.stringify([next])) state.groups = [next];
  }

  private kept(): Kept {
    return this.front.context.workspaceState.get<Kept>(KEPT, {});
  }

  /** The runtime's own name for the conversation outlives ports and processes. */
  private keyOf(root: RootState, connection: ConnectionId): string {
    return root.transcript[connection]?.sessionId ?? connection;
  }
}

function groupOf(root: RootState, connection: ConnectionId): OptionGroup {
  const { selected, offered } = selectPermissionChoice(root, connection);
  const items = offered.map(({ id, name, description }) => ({ id, name, description, tooltip: description }));
  const chosen = items.find(({ id }) => id === selected);
  return { id: GROUP, name: 'Permissions', kind: 'permissions', items, ...(chosen ? { selected: chosen } : {}) };
}

import * as vscode from 'vscode';
import { createApp, type App } from '../sagas/app.js';
import type { PartCursor } from '../selectors/newParts.js';
import { nodeServices } from '../services/node/services.js';
import type { Services } from '../services/services.js';
import type { ConnectionId } from '../store/connections.js';
import { createRecentActions, type RecentActions } from '../store/recentActions.js';
import type { TurnId } from '../store/turn.js';
import { Cards } from './cards.js';
import type { Grants } from './grants.js';
import { Secrets } from './secrets.js';

/** What all parts of the extension share: the one store, and the editor's side of it. */
export interface Front {
  readonly app: App;
  readonly services: Services;
  readonly context: vscode.ExtensionContext;
  readonly grants: Grants;
  readonly log: vscode.LogOutputChannel;
  readonly secrets: Secrets;
  /** What *Save This Turn* writes down. */
  readonly recent: RecentActions;
  /** Fires the address of what a turn changed where that is to be shown anew. */
  readonly changesShown: vscode.EventEmitter<vscode.Uri>;
  /** Where the drawing of a conversation stopped although its turn went on: the next response goes on from there. */
  readonly undrawn: Map<ConnectionId, Undrawn>;
  /** Whether the editor's own card answers inside the running turn. */
  readonly cards: Cards;
  /** By chat of the editor, the last turn that stands there. */
  readonly lastTurns: Map<string, TurnId>;
  /** The conversations whose history an editor has shown. */
  readonly views: Set<ConnectionId>;
}

export interface Undrawn {
  readonly turnId: TurnId;
  readonly cursor: PartCursor;
  readonly startedAt: number;
}

export interface FrontOptions {
  readonly changesShown: vscode.EventEmitter<vscode.Uri>;
  readonly context: vscode.ExtensionContext;
  readonly grants: Grants;
  readonly log: vscode.LogOutputChannel;
}

export function createFront({ context, grants, log, changesShown }: FrontOptions): Front {
  const secrets = new Secrets(context.secrets);
  const services = nodeServices({
    log: (line) => {
      log.info(line);
    },
    secrets: (key) => secrets.read(key),
  });
  const recent = createRecentActions({ wall: () => services.clock.wall() });
  const app = createApp({ services, recorder: recent.enhancer });
  context.subscriptions.push({
    dispose: () => {
      // Streams close with their sagas, which frees the lease for whoever comes next.
      void app.stop();
    },
  });
  return {
    app,
    services,
    context,
    grants,
    log,
    secrets,
    recent,
    changesShown,
    undrawn: new Map(),
    cards: new Cards(grants),
    lastTurns: new Map(),
    views: new Set(),
  };
}

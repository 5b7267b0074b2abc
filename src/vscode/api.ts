import type * as vscode from 'vscode';
import type { ConnectOptions } from './attaching.js';
import type { Proposal } from './grants.js';

export type { ConnectOptions } from './attaching.js';

/** One attachment, as another extension sees it. */
export interface ConnectionInfo {
  readonly id: string;
  readonly baseUrl: string;
  readonly clientId: string;
  readonly phase: 'connecting' | 'attached' | 'reconnecting' | 'refused' | 'lost' | 'closed';
  /** The agent and its model, in one line. */
  readonly label: string;
  readonly turn: 'idle' | 'submitting' | 'running' | 'interrupting' | 'settling';
  /** How many requests wait for a person. */
  readonly waiting: number;
}

/** What `activate()` returns to an extension that bundles or drives this one. */
export interface FrontendApi {
  /**
   * Connects to a runtime on this machine; resolves with the connection's id, which is the same for the same runtime and
   * client. Rejects with an `Error` fit to be shown where an option can't be used. Whether the runtime can be reached
   * shows in `connections`. Without options a person is asked.
   */
  connect(options?: ConnectOptions): Promise<string | undefined>;
  readonly connections: readonly ConnectionInfo[];
  /** Ends an attachment and forgets it. The runtime goes on. */
  disconnect(id: string): Promise<void>;
  /** What the editor really grants. */
  readonly grantedProposals: readonly Proposal[];
  /** Fires when `connections` is another. */
  readonly onDidChangeConnections: vscode.Event<void>;
}

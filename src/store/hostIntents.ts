import type { Selection, SetupKind } from '../protocol/host.js';
import { requested } from './host.js';
import type { OperationId } from './hostState.js';

// What a person, or the editor for one, may want of the host. Its outcome stands under the name of the operation; a name
// that was used before asks for nothing.

export const refreshRequested = (operation: OperationId) => requested({ operation, request: { kind: 'refresh' } });

/** A new conversation. */
export const selectRequested = (operation: OperationId, selection: Selection) =>
  requested({ operation, request: { kind: 'select', selection } });

/** Exactly this conversation, and no other in its place. */
export const openRequested = (operation: OperationId, id: string) =>
  requested({ operation, request: { kind: 'open', id } });

export const rememberRequested = (operation: OperationId, id: string, nativeId: string) =>
  requested({ operation, request: { kind: 'remember', id, nativeId } });

/** The exact command of one step. */
export const setupRequested = (operation: OperationId, step: SetupKind, harness: string) =>
  requested({ operation, request: { kind: 'setup', step, harness } });

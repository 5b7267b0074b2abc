import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';

/** What a person may choose for one conversation, and what holds. */
export interface PermissionChoice {
  /** `harness`: the agent asks by its own means, and nothing can be answered from here. */
  readonly selected: 'ask' | 'autoApprove' | 'harness';
  readonly offered: readonly PermissionOption[];
}

export interface PermissionOption {
  readonly id: 'ask' | 'autoApprove' | 'harness';
  readonly name: string;
  readonly description: string;
}

const ASK: PermissionOption = {
  id: 'ask',
  name: 'Ask for approval',
  description: 'Whatever the agent asks waits for your answer.',
};
const AUTO_APPROVE: PermissionOption = {
  id: 'autoApprove',
  name: 'Auto approve',
  description: 'Requests are allowed at once, those to leave the sandbox too; questions still wait for you.',
};
const HARNESS: PermissionOption = {
  id: 'harness',
  name: 'Harness permissions',
  description: 'The agent asks by its own means; it can’t be answered from here.',
};

export function selectPermissionChoice(root: RootState, connection: ConnectionId): PermissionChoice {
  const answerable = root.connections[connection]?.descriptor?.actions.respond;
  if (answerable === false) return { selected: 'harness', offered: [HARNESS] };
  const isAuto = root.permissions[connection] === 'autoApprove';
  return { selected: isAuto ? 'autoApprove' : 'ask', offered: [ASK, AUTO_APPROVE] };
}

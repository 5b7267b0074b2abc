import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT, endOf, entryAt } from '../store/transcript.js';
import { title } from './bounds.js';
import { isOver } from './connections.js';
import { selectConnectionName, selectIdentity, selectIdentityLabel } from './identity.js';
import { isPrompt, promptIn, selectSavedHistory } from './savedHistory.js';
import { selectWaitingIds } from './requests.js';
import { isTurnGoingOn } from './turn.js';

/** One conversation in a list. Times are epoch ms, and true or absent. */
export interface ConversationRow {
  readonly connection: ConnectionId;
  readonly label: string;
  readonly description: string;
  /** The editor's icon of the provider; null where it has none. */
  readonly icon: string | null;
  /** What waits for a person comes before what runs. */
  readonly status: 'needsInput' | 'inProgress' | 'failed' | 'completed';
  readonly attachedAt: number;
  readonly turnStartedAt: number | null;
  readonly turnEndedAt: number | null;
}

/** Every conversation that was attached to, the one that was active last first. */
export function selectConversationRows(root: RootState): readonly ConversationRow[] {
  return Object.entries(root.conversations)
    .map(([connection, times]): ConversationRow => ({
      connection,
      label: selectConversationLabel(root, connection),
      description: selectConnectionName(root, connection),
      icon: selectIdentity(root, connection).icon ?? null,
      status: statusOf(root, connection),
      ...times,
    }))
    .sort((a, b) => activityOf(b) - activityOf(a) || (a.connection < b.connection ? -1 : 1));
}

function activityOf({ attachedAt, turnStartedAt, turnEndedAt }: ConversationRow): number {
  return Math.max(attachedAt, turnStartedAt ?? 0, turnEndedAt ?? 0);
}

function statusOf(root: RootState, connection: ConnectionId): ConversationRow['status'] {
  if (selectWaitingIds(root, connection).length > 0) return 'needsInput';
  if (isTurnGoingOn(root, connection)) return 'inProgress';
  const failed = root.turn[connection]?.ended.at(-1)?.outcome === 'failed';
  return failed || isOver(root.connections[connection]?.phase) ? 'failed' : 'completed';
}

/** What was asked first; who answers where nothing was. */
export function selectConversationLabel(root: RootState, connection: ConnectionId): string {
  const saved = selectSavedHistory(root, connection).find((message) => isPrompt(message) && message.text.trim() !== '');
  const asked = saved?.text ?? firstPrompt(root, connection);
  return (asked === undefined ? '' : title(asked, LABEL_LIMIT)) || selectIdentityLabel(root, connection);
}

const LABEL_LIMIT = 80;
/** A prompt is among the first entries, or there was none for long. */
const LOOKED_AT = 64;

function firstPrompt(root: RootState, connection: ConnectionId): string | undefined {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  for (let at = 0; at < Math.min(LOOKED_AT, endOf(transcript)); at++) {
    const asked = promptIn(entryAt(transcript, at));
    if (asked !== undefined && asked.trim() !== '') return asked;
  }
  return undefined;
}

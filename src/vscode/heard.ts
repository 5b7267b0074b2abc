import type * as vscode from 'vscode';
import { cutText, PART_LIMIT } from '../selectors/bounds.js';
import { selectConnectionName } from '../selectors/identity.js';
import { isTurnGoingOn } from '../selectors/turn.js';
import type { ConnectionId, Heard } from '../store/connections.js';
import { continuesFrom } from '../store/join.js';
import { NO_TURN } from '../store/turn.js';
import type { RootState } from '../store/state.js';
import { narrate } from './narrate.js';
import { shownText } from './shownText.js';

const KEPT = 'supercode.frontend.heard';
const WORDS = {
  restarted: 'was restarted; its conversation goes on from what it had saved.',
  replaced: 'serves another conversation now than before.',
};

/**
 * How far this window heard each conversation, for the next one: a runtime that was restarted meanwhile counts its events
 * from 1 again, which nothing else tells a window that has just begun.
 */
export class HeardConversations {
  private readonly before: Readonly<Record<ConnectionId, Heard>>;
  private now: Readonly<Record<ConnectionId, Heard>>;
  private readonly met = new Set<ConnectionId>();

  constructor(private readonly memory: vscode.Memento) {
    this.before = checked(memory.get(KEPT));
    this.now = this.before;
  }

  /** What an earlier window heard of it; null where none did. */
  of(connection: ConnectionId): Heard | null {
    return this.before[connection] ?? null;
  }

  /** Called when turns begin and end: what is heard in between is of the same process. */
  update(root: RootState): void {
    let next = this.now;
    for (const [id, { phase }] of Object.entries(root.connections)) {
      const { sessionId = null, cursor: sequence = 0 } = root.transcript[id] ?? {};
      if (phase.name !== 'attached' || sessionId === null) continue;
      this.meet(root, id, { sessionId, sequence });
      const heard = { sessionId, sequence, running: runningIn(root, id) };
      if (JSON.stringify(next[id]) !== JSON.stringify(heard)) next = { ...next, [id]: heard };
    }
    if (next === this.now) return;
    this.now = next;
    void this.memory.update(KEPT, next);
  }

  async forget(connection: ConnectionId): Promise<void> {
    const { [connection]: _, ...others } = this.now;
    this.now = others;
    await this.memory.update(KEPT, others);
  }

  /** Tells once what became of the runtime that an earlier window knew. */
  private meet(
    root: RootState,
    id: ConnectionId,
    now: { readonly sessionId: string; readonly sequence: number },
  ): void {
    if (this.met.has(id)) return;
    this.met.add(id);
    const heard = this.before[id];
    const since = heard ? continuesFrom(heard.sessionId, heard.sequence, now) : 'same';
    if (since !== 'same') narrate(`${shownText(selectConnectionName(root, id))} ${WORDS[since]}`);
  }
}

/** The turn that goes on, with its prompt: a runtime that dies in the middle of it may have saved nothing of that. */
function runningIn(root: RootState, id: ConnectionId): Heard['running'] {
  if (!isTurnGoingOn(root, id)) return null;
  const { current, prompted } = root.turn[id] ?? NO_TURN;
  const prompt = prompted ?? ('prompt' in current ? current.prompt : null);
  return { prompt: prompt === null ? null : cutText(prompt, PART_LIMIT) };
}

function isRunning(value: Heard['running'] | undefined): value is Heard['running'] {
  return value === null || value?.prompt === null || typeof value?.prompt === 'string';
}

/** Another version of this extension may have written it. */
function checked(kept: unknown): Readonly<Record<ConnectionId, Heard>> {
  if (typeof kept !== 'object' || kept === null) return {};
  return Object.fromEntries(
    Object.entries(kept as Record<string, Partial<Heard> | null>).flatMap(([id, value]) =>
      typeof value?.sessionId === 'string' && typeof value.sequence === 'number' && isRunning(value.running)
        ? [[id, { sessionId: value.sessionId, sequence: value.sequence, running: value.running }]]
        : [],
    ),
  );
}

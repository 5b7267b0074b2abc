import { endCursor, startCursor } from '../selectors/newParts.js';
import type { ChatPart } from '../selectors/parts.js';
import { selectTurn } from '../selectors/turn.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { entryAt } from '../store/transcript.js';
import { joined, NewsReader } from './news.js';
import { plainText } from './plainText.js';

/** What was seen, in order. `prompt`: what somebody said, which no part shows. */
export type Seen = { readonly connection: ConnectionId } & (
  { readonly part: ChatPart; readonly prompt?: never } | { readonly prompt: string; readonly part?: never }
);

/**
 * Reads all conversations of a log as they grow, as a chat that ran at the time did: what an idle runtime brought along at
 * the first attachment is the past, what came from then on was seen. Texts come in one piece, not as they arrived.
 */
export class ReplayedParts {
  readonly seen: Seen[] = [];
  private readonly readers = new Map<ConnectionId, NewsReader>();
  private readonly attaching = new Set<ConnectionId>();
  private readonly ends = new Map<ConnectionId, number>();

  /** Reads on after an action, or in the state that a log starts from. */
  readOn(root: RootState): void {
    for (const [connection, { phase }] of Object.entries(root.connections)) {
      if (phase.name === 'connecting' && !this.readers.has(connection)) {
        this.attaching.add(connection);
      } else {
        const reader = this.readers.get(connection) ?? this.begin(root, connection);
        this.readPrompts(root, connection);
        for (const news of reader.read(root)) if (news.type === 'part') this.add(connection, news.part);
      }
    }
  }

  private begin(root: RootState, connection: ConnectionId): NewsReader {
    const isPast = this.attaching.has(connection) && selectTurn(root, connection).phase === 'idle';
    const cursor = isPast ? endCursor(root, connection) : startCursor(root, connection);
    const reader = new NewsReader(connection, cursor);
    this.readers.set(connection, reader);
    this.ends.set(connection, cursor.at);
    return reader;
  }

  private add(connection: ConnectionId, part: ChatPart): void {
    const last = this.seen.at(-1);
    const whole = last?.connection === connection ? joined(last.part, part) : undefined;
    if (whole) this.seen[this.seen.length - 1] = { connection, part: whole };
    else this.seen.push({ connection, part });
  }

  private readPrompts(root: RootState, connection: ConnectionId): void {
    const transcript = root.transcript[connection];
    if (transcript === undefined) return;
    for (let at = Math.min(this.ends.get(connection) ?? 0, transcript.count); at < transcript.count; at++) {
      const entry = entryAt(transcript, at);
      if (entry?.kind === 'event' && entry.event.kind === 'user_message') {
        this.seen.push({ connection, prompt: plainText(entry.event.text) });
      }
    }
    this.ends.set(connection, transcript.count);
  }
}

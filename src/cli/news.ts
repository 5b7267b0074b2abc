import { selectNewParts, type PartCursor } from '../selectors/newParts.js';
import type { ChatPart } from '../selectors/parts.js';
import type { ConnectionId } from '../store/connections.js';
import type { Requests } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import type { TurnId } from '../store/turn.js';

/** What a reader of one conversation is told, in order. */
export type News =
  | { readonly type: 'part'; readonly part: ChatPart }
  /** An answer that was given here got through. */
  | { readonly type: 'answered'; readonly requestId: number; readonly label: string };

/** Reads a conversation from a cursor on, each thing once. */
export class NewsReader {
  private readonly told = new Set<string>();
  private seen: Requests | undefined;

  constructor(
    private readonly connection: ConnectionId,
    private cursor: PartCursor,
    private readonly turn?: TurnId,
  ) {}

  read(root: RootState): readonly News[] {
    const { parts, cursor } = selectNewParts(root, this.connection, this.cursor, this.turn);
    const offered = parts.some(({ kind }) => kind === 'request') ? this.asOffered(root, parts) : parts;
    this.cursor = cursor;
    const answered = this.newAnswers(root);
    const news: News[] = [];
    for (const part of this.inOrder(offered, root)) {
      // An answer comes in front of what came of it, whichever of the two was heard of first.
      if (part.kind === 'resolution') news.push(...answered.filter(({ requestId }) => requestId === part.requestId));
      news.push({ type: 'part', part });
    }
    news.push(...answered.filter((each) => !news.includes(each)));
    return news;
  }

  /**
   * Requests with the answers that they came with. A policy or another client may have answered before anybody looks; what
   * was on offer is a fact all the same, and one that a replay finds again.
   */
  private asOffered(root: RootState, parts: readonly ChatPart[]): readonly ChatPart[] {
    const requests = Object.entries(root.requests[this.connection] ?? {}).map(
      ([id, known]) => [id, { ...known, status: { phase: 'pending', problem: null } }] as const,
    );
    const pending = { ...root, requests: { ...root.requests, [this.connection]: Object.fromEntries(requests) } };
    const asPending = selectNewParts(pending, this.connection, this.cursor, this.turn).parts;
    return parts.map((part, at) => (part.kind === 'request' ? (asPending[at] ?? part) : part));
  }

  /** A reading begins with the calls that ended; what allowed one of them came before its end. */
  private inOrder(parts: readonly ChatPart[], root: RootState): readonly ChatPart[] {
    const requests = root.requests[this.connection] ?? {};
    const ordered: ChatPart[] = [];
    for (const part of parts) {
      const callId = part.kind === 'resolution' ? requests[part.requestId]?.callId : undefined;
      const held = callId ? ordered.findIndex((each) => each.kind === 'tool' && each.callId === callId) : -1;
      const ended = held !== -1 && isEndOfCall(ordered[held]);
      ordered.splice(ended ? held : ordered.length, 0, part);
    }
    return ordered;
  }

  private newAnswers(root: RootState): readonly Extract<News, { type: 'answered' }>[] {
    const requests = root.requests[this.connection];
    if (requests === this.seen || requests === undefined) return [];
    this.seen = requests;
    const epoch = root.transcript[this.connection]?.epoch ?? 0;
    return Object.entries(requests).flatMap(([id, { status }]) => {
      const key = `${epoch}.${id}`;
      if (status.phase !== 'answered' || status.label === null || this.told.has(key)) return [];
      this.told.add(key);
      return [{ type: 'answered', requestId: Number(id), label: status.label } as const];
    });
  }
}

function isEndOfCall(part: ChatPart | undefined): boolean {
  return part?.kind === 'tool' && part.phase !== 'started';
}

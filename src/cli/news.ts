import { selectRequestKey } from '../selectors/requests.js';
import { selectNewParts, type PartCursor } from '../selectors/newParts.js';
import type { ChatPart, TextPart } from '../selectors/parts.js';
import type { ConnectionId } from '../store/connections.js';
import type { Requests } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import type { TurnId } from '../store/turn.js';

/** What a reader of one conversation is told, in order. */
export type News =
  | { readonly type: 'part'; readonly part: ChatPart }
  /** An answer that was given here got through. */
  | { readonly type: 'answered'; readonly requestId: number; readonly label: string };

/**
 * Reads a conversation from a cursor on, each thing once. Reading after each action tells everything in the order in which
 * it happened, and a replay of the actions tells the same.
 */
export class NewsReader {
  private readonly told = new Set<string>();
  private seen: Requests | undefined;

  constructor(
    private readonly connection: ConnectionId,
    private cursor: PartCursor,
    private readonly turn?: TurnId,
  ) {}

  read(root: RootState): readonly News[] {
    // The answer is told in front of the runtime's own word of it, which may be the first that is heard of it here.
    const answers = this.newAnswers(root);
    const { parts, cursor } = selectNewParts(root, this.connection, this.cursor, this.turn);
    this.cursor = cursor;
    return [...answers, ...parts.map((part) => ({ type: 'part', part }) as const)];
  }

  private newAnswers(root: RootState): readonly News[] {
    const requests = root.requests[this.connection];
    if (requests === this.seen || requests === undefined) return [];
    this.seen = requests;
    return Object.entries(requests).flatMap(([id, { status }]) => {
      const key = selectRequestKey(root, this.connection, Number(id));
      if (status.phase !== 'answered' || status.label === null || this.told.has(key)) return [];
      this.told.add(key);
      return [{ type: 'answered', requestId: Number(id), label: status.label } as const];
    });
  }
}

/** One part where the second only goes on with the text of the first. */
export function joined(before: ChatPart | undefined, part: ChatPart): ChatPart | undefined {
  if (before === undefined || before.id !== part.id || !isText(before) || !isText(part)) return undefined;
  return before.kind === part.kind ? { ...part, text: before.text + part.text } : undefined;
}

type Streamed = TextPart & { readonly kind: 'markdown' | 'thinking' };

function isText(part: ChatPart): part is Streamed {
  return part.kind === 'markdown' || part.kind === 'thinking';
}

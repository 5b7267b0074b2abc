import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import { isOver } from '../selectors/connections.js';
import type { HistoryTurn } from '../selectors/historyTurns.js';
import { blockquote, escapeMarkdown } from '../selectors/markdown.js';
import { selectNewParts, type PartCursor } from '../selectors/newParts.js';
import { selectWaitingIds } from '../selectors/requests.js';
import { selectEndedTurn, selectTurn, selectTurnLabel } from '../selectors/turn.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import type { TurnId } from '../store/turn.js';
import { conversationDrawer, type ConversationDrawerOptions } from './conversationDrawer.js';
import type { PartDrawer } from './drawPart.js';

/**
 * Each call of the editor is a message to its window, which renders the whole text of the part again; ms. As often it is
 * asked whether a prompt waits, for which it has no event.
 */
const DRAW_EVERY_MS = 50;
/** A turn that was stopped and does not end: the editor has left it by then, and the state goes on without it; ms. */
const LET_GO_MS = 20_000;

export interface ReplyOptions extends ConversationDrawerOptions {
  readonly token: vscode.CancellationToken;
}

export interface FollowOptions {
  readonly turnId: TurnId;
  readonly cursor: PartCursor;
  /** Whether a prompt that the person sent meanwhile should be let through. */
  readonly shouldYield: () => boolean;
}

export interface Followed {
  /** `yielded`: the turn goes on and another prompt waits. `left`: it was stopped and its end did not come. */
  readonly end: 'over' | 'yielded' | 'left';
  readonly cursor: PartCursor;
}

/** One response of the Chat view: draws what is new of a turn, until that is over, and never into a closed stream. */
export class Reply {
  private readonly drawer: PartDrawer;
  private said: string | undefined;
  private isClosed = false;
  /** Whether text streams: a line in between would part it, and what follows would start a new paragraph. */
  private isMidText = false;

  constructor(private readonly options: ReplyOptions) {
    this.drawer = conversationDrawer(options);
  }

  /** A line that stands until something else is drawn. */
  say(text: string): void {
    if (text === this.said || this.isMidText) return;
    this.said = text;
    this.write(() => {
      this.options.stream.progress(text);
    });
  }

  /** A remark that stays. */
  remark(text: string): void {
    this.write(() => {
      this.drawer.draw({ kind: 'notice', id: 'remark', text, editor: REMARK });
    });
  }

  button(command: vscode.Command): void {
    this.write(() => {
      this.options.stream.button(command);
    });
  }

  /** A turn of the past: what was asked as a quotation, then what was answered. */
  recount({ prompt, parts }: HistoryTurn): void {
    this.write(() => {
      if (prompt !== null) this.options.stream.markdown(`\n\n${blockquote(escapeMarkdown(prompt))}\n\n`);
      for (const part of parts) if (part.kind !== 'progress') this.drawer.draw(part);
      this.drawer.end();
    });
  }

  /** Waits, saying why, until the state is as wanted; false where the person left first. */
  async wait(wanted: (root: RootState) => boolean, why: (root: RootState) => string): Promise<boolean> {
    const { app } = this.options.front;
    return this.listen<boolean>((finish) => {
      const root = app.getState();
      if (this.options.token.isCancellationRequested) finish(false);
      else if (wanted(root)) finish(true);
      else this.say(why(root));
    });
  }

  follow({ turnId, cursor, shouldYield }: FollowOptions): Promise<Followed> {
    const { front, connection, token } = this.options;
    let reader = cursor;
    let drawnAt = -Infinity;
    let letGoAt = Infinity;
    return this.listen<Followed>((finish) => {
      const root = front.app.getState();
      const now = front.services.clock.monotonic();
      const isEnded = selectEndedTurn(root, connection, turnId) !== undefined || isGone(root, connection);
      if (isEnded || now - drawnAt >= DRAW_EVERY_MS) {
        drawnAt = now;
        reader = this.draw(root, reader, turnId);
      }
      if (token.isCancellationRequested && letGoAt === Infinity) letGoAt = now + LET_GO_MS;
      if (isEnded) finish({ end: 'over', cursor: reader });
      else if (token.isCancellationRequested ? now >= letGoAt : shouldYield())
        finish({ end: token.isCancellationRequested ? 'left' : 'yielded', cursor: reader });
      else this.say(waitingFor(root, connection));
    });
  }

  /** Draws what is new of a conversation in which nothing runs, until the state is as wanted or the person leaves. */
  followUntil(cursor: PartCursor, wanted: (root: RootState) => boolean): Promise<void> {
    const { front, connection, token } = this.options;
    let reader = cursor;
    return this.listen<undefined>((finish) => {
      const root = front.app.getState();
      reader = this.draw(root, reader);
      if (token.isCancellationRequested || wanted(root) || isGone(root, connection)) finish(undefined);
      else this.say(waitingFor(root, connection));
    });
  }

  /** Draws what still gathers. */
  end(): void {
    this.write(() => {
      this.drawer.end();
    });
  }

  /**
   * The editor closes the response of a request that it cancelled at once. Of any other it says so by an error only: the
   * turn goes on all the same, and so does whoever follows it here.
   */
  private write(draw: () => void): void {
    const { front, token } = this.options;
    if (this.isClosed || token.isCancellationRequested) return;
    try {
      draw();
    } catch (error) {
      const message = messageOf(error);
      // What else is refused is this one part.
      this.isClosed = message.includes('closed');
      front.log.warn(`The editor did not take a part of a response: ${message}`);
    }
  }

  private draw(root: RootState, cursor: PartCursor, turnId?: TurnId): PartCursor {
    const { connection, token } = this.options;
    const { parts, cursor: next } = selectNewParts(root, connection, cursor, turnId);
    // The editor closes the response of a request that it cancelled at once.
    if (token.isCancellationRequested) return next;
    const ended = turnId === undefined ? undefined : selectEndedTurn(root, connection, turnId);
    for (const part of parts) {
      // Why the turn failed is the response's error, which the editor shows by itself.
      if (ended?.outcome === 'failed' && part === parts.at(-1) && part.kind === 'warning') continue;
      this.write(() => {
        this.drawer.draw(part);
      });
      this.isMidText = part.kind === 'markdown' || part.kind === 'thinking';
      // A line of progress is gone as soon as something else is drawn: what is still so is said again.
      this.said = undefined;
    }
    return next;
  }

  /** Looks at every change of the state, and in between as well, until `look` calls back. */
  private listen<T>(look: (finish: (result: T) => void) => void): Promise<T> {
    const { front, token } = this.options;
    const ways: (() => void)[] = [];
    const found = new Promise<T>((resolve, reject) => {
      let isFound = false;
      const see = () => {
        if (isFound) return;
        try {
          look((result) => {
            isFound = true;
            resolve(result);
          });
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const timer = setInterval(see, DRAW_EVERY_MS);
      const cancelled = token.onCancellationRequested(see);
      ways.push(
        () => {
          clearInterval(timer);
        },
        () => {
          cancelled.dispose();
        },
        front.app.subscribe(see),
      );
      see();
    });
    return found.finally(() => {
      for (const out of ways) out();
    });
  }
}

const REMARK = { part: 'markdown', proposal: null, fallback: 'markdown' } as const;

/** The connection is over and forgotten, or over without a word on this turn. */
function isGone(root: RootState, connection: ConnectionId): boolean {
  const known = root.connections[connection];
  return known === undefined || (isOver(known.phase) && selectTurn(root, connection).phase === 'idle');
}

function waitingFor(root: RootState, connection: ConnectionId): string {
  if (root.connections[connection]?.phase.name === 'reconnecting') return 'The connection was lost; reconnecting…';
  if (selectWaitingIds(root, connection).length > 0) return 'Waiting for your answer…';
  return `${escapeMarkdown(selectTurnLabel(root, connection) ?? 'Working')}…`;
}

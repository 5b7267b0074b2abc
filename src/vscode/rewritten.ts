import type * as vscode from 'vscode';
import type { TurnId } from '../store/turn.js';
import type { ChatCall } from './chatCall.js';
import type { ProposedRequest } from './proposed.js';

/** What a response keeps of itself, by which the turns of a chat are told apart. */
interface TurnMetadata {
  readonly turnId: TurnId;
}

const CHATS = 200;

/**
 * Whether the person edited or repeated an earlier prompt: the editor then takes the chat back to it, and the agent's
 * conversation can't follow.
 */
export class Rewritten {
  /** By chat, the last turn that stands there. */
  private readonly last = new Map<string, TurnId>();

  isIn({ request, context }: ChatCall): boolean {
    if (((request as ProposedRequest).attempt ?? 0) > 0) return true;
    const last = this.last.get(chatOf(request) ?? '');
    return last !== undefined && !context.history.some((turn) => turnIdOf(turn) === last);
  }

  /** Notes the turn that a chat ends with; null where its end is not kept with the chat, as after Stop. */
  ended({ request }: ChatCall, turnId: TurnId | null): void {
    const chat = chatOf(request);
    if (chat === undefined) return;
    this.last.delete(chat);
    if (turnId !== null) this.last.set(chat, turnId);
    const [oldest] = this.last.keys();
    if (this.last.size > CHATS && oldest !== undefined) this.last.delete(oldest);
  }
}

function chatOf(request: vscode.ChatRequest): string | undefined {
  return (request as ProposedRequest).sessionResource?.toString();
}

function turnIdOf(turn: vscode.ChatRequestTurn | vscode.ChatResponseTurn): TurnId | undefined {
  return 'result' in turn ? (turn.result.metadata as Partial<TurnMetadata> | undefined)?.turnId : undefined;
}

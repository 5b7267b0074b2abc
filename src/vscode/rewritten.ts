import type * as vscode from 'vscode';
import type { TurnId } from '../store/turn.js';
import type { ChatCall } from './chatCall.js';
import type { Front } from './front.js';
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
export function isRewritten({ lastTurns }: Front, { request, context }: ChatCall): boolean {
  if (((request as ProposedRequest).attempt ?? 0) > 0) return true;
  const last = lastTurns.get(chatOf(request) ?? '');
  return last !== undefined && !context.history.some((turn) => turnIdOf(turn) === last);
}

/** Notes the turn that a chat ends with; null where its end is not kept with the chat, as after Stop. */
export function noteLastTurn({ lastTurns }: Front, { request }: ChatCall, turnId: TurnId | null): void {
  const chat = chatOf(request);
  if (chat === undefined) return;
  lastTurns.delete(chat);
  if (turnId !== null) lastTurns.set(chat, turnId);
  const [oldest] = lastTurns.keys();
  if (lastTurns.size > CHATS && oldest !== undefined) lastTurns.delete(oldest);
}

function chatOf(request: vscode.ChatRequest): string | undefined {
  return (request as ProposedRequest).sessionResource?.toString();
}

function turnIdOf(turn: vscode.ChatRequestTurn | vscode.ChatResponseTurn): TurnId | undefined {
  return 'result' in turn ? (turn.result.metadata as Partial<TurnMetadata> | undefined)?.turnId : undefined;
}

import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import { isOver, whyOver } from '../selectors/connections.js';
import { selectFocus } from '../selectors/focus.js';
import { selectReplyFooter } from '../selectors/footer.js';
import { selectConversationLabel } from '../selectors/conversations.js';
import { selectHistoryTurns } from '../selectors/historyTurns.js';
import { selectIdentityLabel } from '../selectors/identity.js';
import { escapeMarkdown } from '../selectors/markdown.js';
import { endCursor } from '../selectors/newParts.js';
import { selectEndedTurn, selectTurn } from '../selectors/turn.js';
import type { ConnectionId } from '../store/connections.js';
import { connectionFocused } from '../store/focus.js';
import type { RootState } from '../store/state.js';
import { steerRequested } from '../store/steering.js';
import { submitRequested, type TurnId } from '../store/turn.js';
import type { Attaching } from './attaching.js';
import type { ChatCall } from './chatCall.js';
import { ContextRefused, promptWithContext, readContext } from './context.js';
import { reviewButton } from './changesResource.js';
import type { Front, Undrawn } from './front.js';
import type { ProposedContext, ProposedResult } from './proposed.js';
import { Reply } from './reply.js';
import { requestStop } from './requestStop.js';
import { isRewritten, noteLastTurn } from './rewritten.js';
import { connectionIn, SESSION_TYPE } from './sessionResource.js';
import { typedAnswer } from './typedAnswer.js';
import { answer } from './respond.js';

const HISTORY_COMMAND = 'history';

/** What a response keeps of itself, so that the next prompt of the same chat goes to the same conversation. */
interface ReplyMetadata {
  readonly connection: ConnectionId;
  readonly turnId?: TurnId;
}

const REWRITTEN =
  'The agent’s conversation can’t be taken back: this prompt runs as a new turn, behind all that was said before.';

/** Prompt in, parts out: resolves when the turn has settled, or when a prompt that waits is to steer it. */
export async function handleChat(front: Front, attaching: Attaching, call: ChatCall): Promise<vscode.ChatResult> {
  const { app } = front;
  const { connection, lost, inSession, isNew } = conversationOf(app.getState(), call.context);
  if (connection === undefined) return refusal(notConnected(app.getState()));
  app.dispatch(connectionFocused({ connection }));
  // A file system may hang; the person can still leave.
  const read = Promise.all([promptOf(call.request), front.cards.look()]).then(([prompt]) => prompt);
  const prompt = await Promise.race([read, left(call.token)]);
  if (prompt === undefined) {
    await clearQueue(front, call.context);
    return {};
  }
  if (prompt instanceof ContextRefused) return refusal(prompt.message, connection);
  const reply = new Reply({ front, connection, stream: call.stream, token: call.token, inSession, isLive: true });
  if (lost) {
    reply.remark(
      `What this chat was about is not connected any more; this goes to ${selectIdentityLabel(app.getState(), connection)}.`,
    );
  }
  if (isNew && selectHistoryTurns(app.getState(), connection).length > 0) {
    reply.remark(
      `This runtime has one conversation; this goes on with “${selectConversationLabel(app.getState(), connection)}”.`,
    );
  }
  if (call.request.command !== HISTORY_COMMAND && isRewritten(front, call)) reply.remark(REWRITTEN);
  try {
    const handling = new Handling(front, attaching, connection, reply, call);
    const result = await handling.run(prompt);
    const { turnId } = handling;
    if (turnId !== undefined) noteLastTurn(front, call, call.token.isCancellationRequested ? null : turnId);
    const metadata: ReplyMetadata = { connection, ...(turnId === undefined ? {} : { turnId }) };
    return { ...result, metadata };
  } finally {
    reply.end();
    if (call.token.isCancellationRequested) await clearQueue(front, call.context);
  }
}

class Handling {
  /** The turn that the response shows, once there is one. */
  turnId: TurnId | undefined;

  constructor(
    private readonly front: Front,
    private readonly attaching: Attaching,
    private readonly connection: ConnectionId,
    private readonly reply: Reply,
    private readonly call: ChatCall,
  ) {}

  async run(prompt: string): Promise<vscode.ChatResult> {
    const problem = await this.attached();
    if (problem !== undefined) return problem === '' ? {} : refusal(problem);
    const { app } = this.front;
    if (this.call.request.command === HISTORY_COMMAND) return this.showHistory();
    // A turn that takes no more though it runs is over: its end is on its way.
    let over: TurnId | undefined;
    for (;;) {
      const isFree = await this.reply.wait(
        (root) => {
          const turn = selectTurn(root, this.connection);
          return turn.phase === 'idle' || (turn.phase === 'running' && turn.turnId !== over && this.canSteer());
        },
        (root) => this.whyNotYet(root),
      );
      if (!isFree) return {};
      const turn = selectTurn(app.getState(), this.connection);
      if (turn.phase !== 'running') break;
      const steered = await this.steer(turn.turnId, prompt);
      if (steered) return steered;
      over = turn.turnId;
    }
    const typed = typedAnswer(app.getState(), this.connection, prompt);
    if (typed) return this.answerByTyping(typed);
    return this.submit(prompt);
  }

  /** Why a prompt can neither be sent nor steer at the moment. */
  private whyNotYet(root: RootState): string {
    switch (selectTurn(root, this.connection).phase) {
      case 'running':
        return this.canSteer()
          ? 'Waiting for the end of the turn before…'
          : 'This agent takes no message in mid-turn; yours is sent when the turn is over…';
      case 'submitting':
        return 'Another prompt is just being sent…';
      default:
        return 'Waiting for the turn before to stop…';
    }
  }

  /** Undefined once attached; otherwise why that can't be had, or an empty text where the person left. */
  private async attached(): Promise<string | undefined> {
    const phaseOf = (root: RootState) => root.connections[this.connection]?.phase;
    // One that was given up may be reachable again, and a credential file may hold another one: a prompt is a reason to look.
    if (isOver(phaseOf(this.front.app.getState()))) this.attaching.again(this.connection);
    const settled = await this.reply.wait(
      (root) => {
        const phase = phaseOf(root);
        return phase === undefined || phase.name === 'attached' || phase.name === 'reconnecting' || isOver(phase);
      },
      () => 'Connecting to the runtime…',
    );
    if (!settled) return '';
    const phase = phaseOf(this.front.app.getState());
    if (phase === undefined) return 'The connection was closed. The prompt was not sent.';
    return isOver(phase) ? `${escapeMarkdown(whyOver(phase))} The prompt was not sent.` : undefined;
  }

  /** Undefined where the turn was over before the message reached it. */
  private async steer(turnId: TurnId, prompt: string) {
    const { app, services } = this.front;
    const { connection } = this;
    const left = this.takeUndrawn();
    const startedAt = left?.turnId === turnId ? left.startedAt : services.clock.monotonic();
    const cursor = left?.cursor ?? endCursor(app.getState(), connection);
    const steerId = services.newId();
    app.dispatch(steerRequested({ connection, steerId, prompt }));
    const steerOf = (root: RootState) => root.steering[connection]?.[steerId];
    await this.reply.wait(
      (root) => steerOf(root)?.phase !== 'sending',
      () => 'Sending your message into the running turn…',
    );
    const steer = steerOf(app.getState());
    if (steer?.phase === 'refused') {
      if (steer.over) {
        this.front.undrawn.set(connection, { turnId, cursor, startedAt });
        return undefined;
      }
      this.reply.remark(`Your message was not sent: ${steer.message}`);
    } else if (left?.turnId !== turnId) {
      this.reply.remark('A turn was running already; your message was added to it.');
    }
    return this.follow({ turnId, cursor, startedAt });
  }

  private async submit(prompt: string): Promise<vscode.ChatResult> {
    const { app, services } = this.front;
    if (this.call.token.isCancellationRequested) return {};
    const turnId = services.newId();
    const start = {
      turnId,
      cursor: this.takeUndrawn()?.cursor ?? endCursor(app.getState(), this.connection),
      startedAt: services.clock.monotonic(),
    };
    app.dispatch(submitRequested({ connection: this.connection, turnId, prompt, at: services.clock.wall() }));
    return this.follow(start);
  }

  private async follow({ turnId, cursor, startedAt }: Undrawn): Promise<vscode.ChatResult> {
    const { services } = this.front;
    const { connection } = this;
    this.turnId = turnId;
    const stopped = this.call.token.onCancellationRequested(() => {
      requestStop(this.front, connection);
    });
    try {
      const { end, cursor: drawn } = await this.reply.follow({ turnId, cursor, shouldYield: () => this.shouldYield() });
      if (end === 'yielded') {
        this.front.undrawn.set(connection, { turnId, cursor: drawn, startedAt });
        return {};
      }
      if (end === 'left') return {};
      const result = this.resultOf(turnId, cursor, services.clock.monotonic() - startedAt);
      this.offerReview(turnId);
      return result;
    } finally {
      stopped.dispose();
    }
  }

  private resultOf(turnId: TurnId, from: Undrawn['cursor'], took: number): ProposedResult {
    const root = this.front.app.getState();
    const ended = selectEndedTurn(root, this.connection, turnId);
    if (!ended) return refusal('The connection to the runtime was closed; the turn may go on there.');
    if (ended.outcome === 'failed') return refusal(escapeMarkdown(ended.message) || 'The turn failed.');
    const details = selectReplyFooter(root, this.connection, from, took);
    if (this.front.grants.has('chatParticipantAdditions')) return { details };
    if (ended.outcome === 'succeeded') this.reply.remark(details);
    return {};
  }

  private offerReview(turnId: TurnId): void {
    const button = reviewButton(this.front.app.getState(), this.connection, turnId);
    if (button) this.reply.button(button);
  }

  private async answerByTyping({ request, choice }: NonNullable<ReturnType<typeof typedAnswer>>) {
    const cursor = this.takeUndrawn()?.cursor ?? endCursor(this.front.app.getState(), this.connection);
    await answer(this.front, request, choice);
    const answered = this.front.app.getState().requests[this.connection]?.[request.part.requestId]?.status;
    if (answered?.phase === 'pending') {
      return refusal(escapeMarkdown(answered.problem ?? 'The request was not answered.'));
    }
    if (answered?.phase !== 'answered' || answered.by !== 'person') {
      return refusal('The request waits no longer: it was answered elsewhere or withdrawn. Your message was not sent.');
    }
    this.reply.remark(`${choice.label}: ${request.part.title}`);
    const turn = selectTurn(this.front.app.getState(), this.connection);
    if (turn.phase !== 'running') return {};
    return this.follow({ turnId: turn.turnId, cursor, startedAt: this.front.services.clock.monotonic() });
  }

  /** For editors that show no conversation but those that they began themselves. */
  private showHistory(): vscode.ChatResult {
    const turns = selectHistoryTurns(this.front.app.getState(), this.connection);
    for (const turn of turns) this.reply.recount(turn);
    if (turns.length === 0) this.reply.remark('Nothing was said in this conversation yet.');
    return {};
  }

  private takeUndrawn(): Undrawn | undefined {
    const left = this.front.undrawn.get(this.connection);
    this.front.undrawn.delete(this.connection);
    return left;
  }

  private canSteer(): boolean {
    return this.front.app.getState().connections[this.connection]?.descriptor?.actions.steer === true;
  }

  /** A prompt that waits is let through where it can steer; else it waits in the editor for the turn's end. */
  private shouldYield(): boolean {
    const { yieldRequested } = this.call.context as ProposedContext;
    return yieldRequested && this.canSteer();
  }
}

interface ConversationOf {
  readonly connection: ConnectionId | undefined;
  /** Whether what the chat was about is gone. */
  readonly lost: boolean;
  /** Whether the chat is the session of that very conversation. */
  readonly inSession: boolean;
  /** Whether it is a session that was opened for a new one. */
  readonly isNew: boolean;
}

/** The conversation that this chat has had so far; the one in focus where it had none, or (`lost`) where that is gone. */
function conversationOf(root: RootState, context: vscode.ChatContext): ConversationOf {
  const resource = (context as ProposedContext).chatSessionContext?.chatSessionItem.resource;
  const session = connectionIn(resource);
  if (session !== undefined) return { connection: session, lost: false, inSession: true, isNew: false };
  for (const turn of context.history.toReversed()) {
    // By shape: a restored session's turns are of another class.
    const metadata = 'result' in turn ? (turn.result.metadata as Partial<ReplyMetadata> | undefined) : undefined;
    if (metadata?.connection === undefined) continue;
    if (root.connections[metadata.connection]) {
      return { connection: metadata.connection, lost: false, inSession: false, isNew: false };
    }
    return { connection: selectFocus(root), lost: true, inSession: false, isNew: false };
  }
  const isNew = resource?.scheme === SESSION_TYPE;
  return { connection: selectFocus(root), lost: false, inSession: false, isNew };
}

async function promptOf({ prompt, references, toolReferences }: vscode.ChatRequest): Promise<string | ContextRefused> {
  try {
    return promptWithContext(prompt, await readContext(references, toolReferences));
  } catch (error) {
    if (error instanceof ContextRefused) return error;
    throw error;
  }
}

/** Resolves once the person left. */
function left(token: vscode.CancellationToken): Promise<undefined> {
  return new Promise((resolve) => {
    if (token.isCancellationRequested) resolve(undefined);
    token.onCancellationRequested(() => {
      resolve(undefined);
    });
  });
}

/** After Stop nothing that was queued is left behind: the editor would refuse the next prompt because of it. */
async function clearQueue({ log }: Front, context: vscode.ChatContext): Promise<void> {
  if (!(context as ProposedContext).yieldRequested) return;
  try {
    await vscode.commands.executeCommand('workbench.action.chat.removeAllPendingRequests');
  } catch (error) {
    log.warn(`The prompts that waited could not be removed: ${messageOf(error)}`);
  }
}

function notConnected({ setup }: RootState): string {
  return setup.unavailable === null
    ? 'No runtime is connected. Run "Volter Harness: Connect to a Runtime…" from the Command Palette, then send this again.'
    : `No runtime is connected: ${escapeMarkdown(setup.unavailable)}`;
}

/** The editor shows the message as Markdown. */
function refusal(message: string, connection?: ConnectionId): vscode.ChatResult {
  return { errorDetails: { message }, ...(connection === undefined ? {} : { metadata: { connection } }) };
}

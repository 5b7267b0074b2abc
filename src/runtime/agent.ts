import { messageOf } from '../protocol/messageOf.js';
import type { Approvals } from './approvals.js';
import { BackgroundJobs } from './background.js';
import { ModelFailure, playStep, type Reply, type Retry } from './model.js';
import { expandPrompt } from './operations.js';
import { busy, turnFailed, turnInterrupted, unsupportedAction } from './refusals.js';
import { findDemo } from './scenarios.js';
import { stepFor, type Step } from './script.js';
import type { Session } from './session.js';
import { ToolRunner } from './toolRunner.js';
import type { ToolContext } from './tools.js';
import type { ChatMessage, ContentPart, EventPayload, ToolCall } from './wire.js';
import type { Workspace } from './workspace.js';

const LIFECYCLE = { schema_version: 1 } as const;

type Outcome =
  | { readonly kind: 'succeeded'; readonly reply: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'interrupted' };

/** A turn that has been admitted and has not started yet. */
interface Turn {
  readonly abort: AbortController;
}

/** The scripted agent: one turn at a time over one history (§4, §6.5). */
export class Agent {
  readonly jobs: BackgroundJobs;
  readonly #messages: ChatMessage[];
  readonly #tools: ToolRunner;
  readonly #publish: (payload: EventPayload) => void;
  #running: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;
  #steering: string[] | undefined;
  #turnAt = 0;
  #closing = false;
  #killed = false;

  constructor(
    readonly session: Session,
    readonly workspace: Workspace,
    readonly approvals: Approvals,
  ) {
    this.#messages = [...session.history];
    this.jobs = new BackgroundJobs(workspace.root);
    this.#publish = (payload) => {
      if (!this.#killed) session.publish(payload);
    };
    this.#tools = new ToolRunner(approvals, this.jobs, this.#publish);
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** The conversation as the next model request would carry it. */
  get messages(): readonly ChatMessage[] {
    return this.#messages;
  }

  /** Starts a turn. Its first events are published before this returns; the reply comes when it has ended (§4). */
  start(prompt: string, imageUrls: readonly string[], refusedWhileClosing: -32001 | -32002): Promise<string> {
    if (this.#closing) throw turnInterrupted(refusedWhileClosing);
    if (this.#running !== undefined) throw busy();
    const turn: Turn = { abort: new AbortController() };
    const outcome = this.#run(turn, prompt, imageUrls);
    const reply = outcome.then((result) => {
      if (result.kind === 'succeeded') return result.reply;
      throw result.kind === 'failed' ? turnFailed(result.message) : turnInterrupted();
    });
    return reply;
  }

  /** False when nothing runs. */
  interrupt(): boolean {
    if (this.#running === undefined) return false;
    this.#running.abort.abort();
    return true;
  }

  /** Queues a message for the next model round-trip of the running turn. */
  steer(prompt: string): void {
    if (this.#steering === undefined) throw unsupportedAction('steer');
    this.#steering.push(prompt);
  }

  /** Refuses new turns, ends the running one and publishes its end (§11). */
  async close(): Promise<void> {
    this.#closing = true;
    this.interrupt();
    await this.whenIdle();
    this.jobs.killAll();
  }

  /** Ends everything at once and says nothing more, like a killed process. */
  kill(): void {
    this.#killed = true;
    this.#closing = true;
    this.interrupt();
    this.jobs.killAll();
  }

  async whenIdle(): Promise<void> {
    await this.#running?.ended;
  }

  async #run(turn: Turn, prompt: string, imageUrls: readonly string[]): Promise<Outcome> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#running = { abort: turn.abort, ended };
    this.#steering = [];
    this.workspace.beginTurn();
    this.#publish({ type: 'user_message', text: prompt });
    this.#publish({ type: 'turn_started', ...LIFECYCLE });
    const outcome = await this.#converse(prompt, imageUrls, turn.abort.signal);
    if (!this.#killed) this.session.endTurn(this.#messages);
    this.#publish(terminalEvent(outcome));
    this.#running = undefined;
    this.#steering = undefined;
    end();
    return outcome;
  }

  async #converse(prompt: string, imageUrls: readonly string[], signal: AbortSignal): Promise<Outcome> {
    try {
      this.#turnAt = this.#messages.length;
      this.#messages.push({ role: 'user', content: withImages(expandPrompt(prompt), imageUrls) });
      const context = { workspace: this.workspace, broker: this.approvals.broker, signal };
      for (;;) {
        const reply = await this.#roundTrip(context);
        if (reply !== undefined) return { kind: 'succeeded', reply };
      }
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' };
      return { kind: 'failed', message: messageOf(error) };
    }
  }

  /** One model request and the tools it asked for; the final text when it asked for none. */
  async #roundTrip(context: ToolContext): Promise<string | undefined> {
    this.#takeSteering();
    const step = stepFor(this.#messages, findDemo, this.#turnAt);
    const reply = await this.#ask(step, context.signal);
    this.#messages.push(assistantMessage(reply));
    if (reply.calls.length > 0) {
      await this.#useTools(step, reply.calls, context);
      return undefined;
    }
    if (this.#takeSteering()) return undefined;
    // Closed in the same breath as the last look, so that an accepted message never leaks into a later turn.
    this.#steering = undefined;
    return reply.text;
  }

  /** One message at a time: at the start of a round-trip, and once more at the end of the last one. */
  #takeSteering(): boolean {
    const content = this.#steering?.shift();
    if (content === undefined) return false;
    this.#messages.push({ role: 'user', content });
    return true;
  }

  async #ask(step: Step, signal: AbortSignal): Promise<Reply> {
    const retries: Retry[] = [];
    try {
      signal.throwIfAborted();
      const reply = await playStep(this.#withJobIds(step), this.#messages, signal, {
        delta: (text) => {
          this.#publish({ type: 'text_delta', text });
        },
        reasoning: (text) => {
          this.#publish({ type: 'reasoning', text });
        },
        retry: (retry) => retries.push(retry),
      });
      this.#publish({ type: 'usage', ...reply.usage });
      this.#publish({ type: 'turn_completed' });
      return reply;
    } catch (error) {
      // Only a request that ended reports its retries; an interrupted one never got so far (§6.6).
      if (error instanceof ModelFailure) {
        for (const { attempt, delayMs, reason } of retries) {
          this.#publish({ type: 'provider_retry', attempt, delay_ms: delayMs, reason });
        }
      }
      throw error;
    }
  }

  async #useTools(step: Step, calls: readonly ToolCall[], context: ToolContext): Promise<void> {
    const keep = (call: ToolCall, { output }: { readonly output: string }): void => {
      this.#messages.push({ role: 'tool', content: output, tool_call_id: call.id, name: call.function.name });
    };
    const preapproved = step.preapproved === true;
    if (step.parallel === true) await this.#tools.runTogether(calls, context, preapproved, keep);
    else await this.#tools.runInTurn(calls, context, preapproved, keep);
    if (step.diff !== true) return;
    const diff = await this.workspace.diffOfTurn();
    if (diff !== '') this.#publish({ type: 'diff_updated', diff });
  }

  /** A script is written before its background job has an id: `{{job}}` stands for the newest one. */
  #withJobIds(step: Step): Step {
    const newest = this.jobs.newest;
    if (newest === undefined || step.calls === undefined) return step;
    return { ...step, calls: step.calls.map((call) => ({ ...call, args: call.args.replaceAll('{{job}}', newest) })) };
  }
}

const terminalEvent = (outcome: Outcome): EventPayload => {
  if (outcome.kind === 'succeeded') return { type: 'turn_succeeded', ...LIFECYCLE, reply: outcome.reply };
  if (outcome.kind === 'failed') return { type: 'turn_failed', ...LIFECYCLE, message: outcome.message };
  return { type: 'turn_interrupted', ...LIFECYCLE };
};

const withImages = (text: string, urls: readonly string[]): string | readonly ContentPart[] => {
  if (urls.length === 0) return text;
  return [{ type: 'text', text }, ...urls.map((url) => ({ type: 'image_url', image_url: { url } }) as const)];
};

const assistantMessage = ({ text, calls }: Reply): ChatMessage => ({
  role: 'assistant',
  ...(text !== '' && { content: text }),
  ...(calls.length > 0 && { tool_calls: calls }),
});

import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { deltasOf, type ScriptedCall, type Step, type Usage } from './script.js';
import type { ChatMessage, Json, ToolCall } from './wire.js';

export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage;
}

export interface Retry {
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/** What a round-trip reports while it runs. */
export interface Listener {
  delta(text: string): void;
  reasoning(text: string): void;
  /** Told of each retry; the runtime publishes them only when the round-trip is over (§6.6, `provider_retry`). */
  retry(retry: Retry): void;
}

/** The model could not be reached or refused; ends the turn. */
export class ModelFailure extends Error {}

const RETRY_DELAYS_MS = [100, 200];
/** Enough deltas to be quick, few enough that a stream in the same process is read in between. */
const DELTAS_PER_TICK = 32;

/** Plays one step as a model would. Rejects with an AbortError when the signal fires. */
export const playStep = async (
  step: Step,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
  listener: Listener,
): Promise<Reply> => {
  if (step.first !== undefined) await sleep(step.first, undefined, { signal });
  if (step.status !== undefined) await refuse(step.status, step.body, signal, listener);
  if (step.hang === true) await forever(signal);
  if (step.reasoning !== undefined) listener.reasoning(step.reasoning);
  const deltas = deltasOf(step);
  const text = await stream(deltas, step, signal, listener);
  const prompt = Math.ceil(JSON.stringify(messages).length / 4);
  const completion = Math.max(1, deltas.length);
  return {
    text,
    calls: (step.calls ?? []).map(toToolCall),
    usage: step.usage ?? {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      cached_tokens: null,
    },
  };
};

const stream = async (
  deltas: readonly string[],
  step: Step,
  signal: AbortSignal,
  listener: Listener,
): Promise<string> => {
  let text = '';
  for (const [index, delta] of deltas.entries()) {
    if (step.cut !== undefined && index >= step.cut) {
      throw new ModelFailure('http transport error: error decoding response body');
    }
    listener.delta(delta);
    text += delta;
    if (step.delay !== undefined && step.delay > 0) await sleep(step.delay, undefined, { signal });
    else if (index % DELTAS_PER_TICK === DELTAS_PER_TICK - 1) await setImmediate(undefined, { signal });
  }
  return text;
};

const refuse = async (
  status: number,
  body: Json | undefined,
  signal: AbortSignal,
  listener: Listener,
): Promise<never> => {
  const answer = body ?? { error: { message: `scripted status ${status}` } };
  const reason = `provider returned status ${status}: ${JSON.stringify(answer)}`;
  if (status >= 500) {
    for (const [attempt, delayMs] of RETRY_DELAYS_MS.entries()) {
      listener.retry({ attempt, delayMs, reason });
      await sleep(delayMs, undefined, { signal });
    }
  }
  throw new ModelFailure(reason);
};

const forever = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => {
      reject(new DOMException('The turn was interrupted.', 'AbortError'));
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });

const toToolCall = (call: ScriptedCall, index: number): ToolCall => ({
  id: call.id ?? `call_${Date.now().toString(36)}_${index}`,
  type: 'function',
  function: { name: call.name, arguments: call.args },
});

import type { HistoryMessage } from '../protocol/frontend-v2.js';
import type { EventBody } from '../protocol/frontend-v2-events.js';
import { wholeText } from './streamedText.js';
import { endOf, entryAt, type TextEntry, type ToolEntry, type Transcript } from './transcript.js';

/** What was missed, in order; undefined where the saved history and what was received do not fit together. */
export type Recovered = readonly EventBody[] | undefined;

/**
 * What happened while nobody listened, told as events, from the history that the runtime saved meanwhile.
 *
 * A native runtime's replay starts at the end of its last turn (frontend.v2 §5.2): a client that was away when the turn
 * ended finds the missing rest only in the saved messages. What was received of a turn is a prefix of what was saved of
 * it, so the rest is what the messages have beyond that. Text that the runtime did not keep (of an interrupted or
 * failed turn) stays as it was received.
 *
 * @param expected the prompt of ours that the runtime accepted and that nothing was heard of yet
 * @param over whether nothing can run any more: the runtime's replay, where a last turn's end stands, is lost
 */
export function recoverFromHistory(
  transcript: Transcript,
  saved: readonly HistoryMessage[],
  expected: string | null,
  over: boolean,
): Recovered {
  const known = lastKnownTurn(transcript);
  const lastEnd: readonly EventBody[] = over && hasLastAnswer(saved) ? [{ kind: 'turn_succeeded' }] : [];
  if (known === undefined) return [...newTurns(saved), ...lastEnd];
  const candidates = saved.flatMap((message, at) => (isPrompt(message, known.prompt) ? [at] : [])).reverse();
  const fitting = candidates.filter((at) => restOfTurn(known, turnAt(saved, at)) !== undefined);
  const anchor = fitting.find((at) => expected === null || hasPrompt(after(saved, at), expected)) ?? fitting[0];
  if (anchor === undefined) return undefined;
  const later = after(saved, anchor);
  const turn = turnAt(saved, anchor);
  const rest = restOfTurn(known, turn) ?? [];
  return later.length === 0 ? [...rest, ...lastEnd] : [...rest, endOfTurn(turn), ...newTurns(later), ...lastEnd];
}

/** How a turn ended, as far as its saved messages tell: one that was cut short lacks its last answer. */
function endOfTurn(turn: readonly HistoryMessage[]): EventBody {
  return hasLastAnswer(turn)
    ? { kind: 'turn_succeeded' }
    : { kind: 'turn_failed', message: 'This turn ended while the connection was down; how is not known.' };
}

/** Whether saved messages end with an answer that asks for nothing more. */
function hasLastAnswer(turn: readonly HistoryMessage[]): boolean {
  const last = turn.at(-1);
  return last?.role === 'assistant' && last.toolCalls.length === 0;
}

interface KnownTurn {
  readonly prompt: string;
  readonly texts: readonly TextEntry[];
  readonly tools: readonly ToolEntry[];
  /** Saved messages of the turn that are shown as history already. */
  readonly shown: number;
}

function lastKnownTurn(transcript: Transcript): KnownTurn | undefined {
  const texts: TextEntry[] = [];
  const tools: ToolEntry[] = [];
  for (let at = endOf(transcript) - 1; at >= 0; at--) {
    const entry = entryAt(transcript, at);
    if (entry?.kind === 'text') texts.unshift(entry);
    if (entry?.kind === 'tool') tools.unshift(entry);
    if (entry?.kind === 'event' && entry.event.kind === 'user_message') {
      return { prompt: entry.event.text, texts, tools, shown: 0 };
    }
  }
  const shownPrompt = transcript.history.findLastIndex((message) => message.role === 'user');
  const prompt = transcript.history[shownPrompt];
  return prompt && { prompt: prompt.text, texts, tools, shown: transcript.history.length - shownPrompt - 1 };
}

/** What a turn's saved messages have beyond what is known of it; undefined where they contradict it. */
function restOfTurn(known: KnownTurn, messages: readonly HistoryMessage[]): Recovered {
  const rest: EventBody[] = [];
  let texts = 0;
  for (const message of messages.slice(known.shown)) {
    if (message.role === 'assistant') {
      if (message.text !== '') {
        const received = known.texts[texts++];
        const missing = received ? remainder(received, message.text) : message.text;
        if (missing === undefined) return undefined;
        if (missing !== '') rest.push({ kind: 'text_delta', text: missing });
      }
      for (const call of message.toolCalls) {
        if (!known.tools.some((tool) => tool.callId === call.id)) rest.push(started(call));
      }
    } else if (message.role === 'tool') {
      const tool = known.tools.find(({ callId }) => callId === message.toolCallId);
      if (tool?.phase !== 'completed') rest.push(completed(message));
    }
  }
  return rest;
}

function remainder(received: TextEntry, saved: string): string | undefined {
  if (received.text.length > saved.length) return undefined;
  return saved.startsWith(wholeText(received.text)) ? saved.slice(received.text.length) : undefined;
}

/** Turns that nothing is known of, as events. The last one's end is not told here: it is in the runtime's replay. */
function newTurns(messages: readonly HistoryMessage[]): readonly EventBody[] {
  const events: EventBody[] = [];
  let turn: HistoryMessage[] | undefined;
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        break;
      case 'user':
        if (turn) events.push(endOfTurn(turn));
        turn = [];
        events.push({ kind: 'user_message', text: message.text }, { kind: 'turn_started' });
        break;
      case 'assistant':
        if (message.text !== '') events.push({ kind: 'text_delta', text: message.text });
        events.push(...message.toolCalls.map(started), { kind: 'turn_completed' });
        break;
      case 'tool':
        events.push(completed(message));
        break;
    }
    if (message.role !== 'user') turn?.push(message);
  }
  return events;
}

function started({
  id,
  name,
  arguments: args,
}: {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}): EventBody {
  return { kind: 'tool_call_started', callId: id, name, arguments: args };
}

/** Saved results carry no error flag; the runtime starts the text of an error with `Error:` (§5.2). */
function completed({ toolCallId, text }: HistoryMessage): EventBody {
  return {
    kind: 'tool_call_completed',
    callId: toolCallId,
    name: null,
    output: text,
    isError: text.startsWith('Error:'),
  };
}

/** The messages between the prompt at a position and the next prompt. */
function turnAt(messages: readonly HistoryMessage[], at: number): readonly HistoryMessage[] {
  const rest = messages.slice(at + 1);
  const next = rest.findIndex((message) => message.role === 'user');
  return next === -1 ? rest : rest.slice(0, next);
}

function after(messages: readonly HistoryMessage[], at: number): readonly HistoryMessage[] {
  return messages.slice(at + 1 + turnAt(messages, at).length);
}

function isPrompt(message: HistoryMessage, prompt: string): boolean {
  return message.role === 'user' && message.text === prompt;
}

function hasPrompt(messages: readonly HistoryMessage[], prompt: string): boolean {
  return messages.some((message) => isPrompt(message, prompt));
}

import type { HistoryMessage, HistoryToolCall } from '../protocol/frontend-v2.js';
import type { EventBody } from '../protocol/frontend-v2-events.js';
import { wholeText } from './streamedText.js';
import { endOf, entryAt, type Outcome, type TextEntry, type ToolEntry, type Transcript } from './transcript.js';

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
 * @param sent the same, or one of which is not known whether it was accepted
 * @param over whether nothing can run any more: the runtime's replay, where a last turn's end stands, is lost
 */
export function recoverFromHistory(
  transcript: Transcript,
  saved: readonly HistoryMessage[],
  expected: string | null,
  over: boolean,
  sent = expected,
): Recovered {
  const lastEnd: readonly EventBody[] = over && hasLastAnswer(saved) ? [{ kind: 'turn_succeeded' }] : [];
  if (over && lastKnownTurn(transcript) && isUnsaved(transcript, saved)) return [];
  let known = lastKnownTurn(transcript);
  let readings = readingsOf(known, saved, sent);
  // What died with its process may not have been saved: then what is saved goes on from the turn before.
  while (known?.died === true && !readings.some(({ later }) => expected === null || hasPrompt(later, expected))) {
    known = lastKnownTurn(transcript, known.at ?? 0);
    readings = readingsOf(known, saved, sent);
  }
  if (known === undefined) {
    const unseen = beyond(transcript.history, saved);
    return unseen && [...newTurns(unseen), ...lastEnd];
  }
  const whole = known.end === 'succeeded' ? readings.filter(({ rest }) => rest.length === 0) : [];
  const fitting = whole.length > 0 ? whole : readings;
  // A person may say the same twice: the prompts in front tell which time is meant.
  const before = knownPrompts(transcript, known.at);
  const aligned = fitting.filter(({ prompts }) => isTail(prompts, before));
  const likely = aligned.length > 0 ? aligned : fitting;
  const read = likely.find(({ later }) => expected === null || hasPrompt(later, expected)) ?? likely[0];
  if (read === undefined) return undefined;
  const { rest, turn, later } = read;
  if (later.length === 0) return known.end === null ? [...rest, ...lastEnd] : rest;
  return [...rest, ...(known.end === null ? [endOfTurn(turn)] : []), ...newTurns(later), ...lastEnd];
}

/** Every place in the saved messages where a known turn may stand, the newest first. */
function readingsOf(
  known: KnownTurn | undefined,
  saved: readonly HistoryMessage[],
  sent: string | null,
): readonly Reading[] {
  if (known === undefined) return [];
  return saved
    .flatMap((message, at) => {
      const read = isPrompt(message, known.prompt) ? readTurn(known, saved.slice(at + 1), sent) : undefined;
      return read ? [{ ...read, prompts: promptsIn(saved.slice(0, at)) }] : [];
    })
    .reverse();
}

/** Whether a process that died saved nothing of the last turn: its last prompts are those before that turn. */
function isUnsaved(transcript: Transcript, saved: readonly HistoryMessage[]): boolean {
  const before = knownPrompts(transcript).slice(0, -1);
  const prompts = promptsIn(saved);
  return prompts.length === 0 ? before.length === 0 : isTail(prompts, before);
}

interface KnownPrompt {
  readonly text: string;
  /** Whether its turn died with its process: then it may not be saved. */
  readonly died: boolean;
}

/** Whether saved prompts are the last of those that are known. */
function isTail(saved: readonly string[], known: readonly KnownPrompt[]): boolean {
  let at = known.length - 1;
  return saved.toReversed().every((prompt) => {
    while (known[at]?.died === true && known[at]?.text !== prompt) at -= 1;
    return known[at--]?.text === prompt;
  });
}

/** The prompts in front of a position of the transcript; null stands for the last prompt of its history. */
function knownPrompts(transcript: Transcript, before: number | null = endOf(transcript)): readonly KnownPrompt[] {
  const prompts = promptsIn(transcript.history).map((text): KnownPrompt => ({ text, died: false }));
  if (before === null) return prompts.slice(0, -1);
  let end: Outcome | null = null;
  for (let at = 0; at < before; at++) {
    const entry = entryAt(transcript, at);
    if (entry?.kind === 'event' && entry.event.kind === 'user_message') {
      prompts.push({ text: entry.event.text, died: false });
      end = null;
    }
    if (entry?.kind === 'turnEnd') end ??= entry.outcome;
    const last = prompts.at(-1);
    if (last && entry?.kind === 'note' && entry.note.about === 'restarted' && end !== 'succeeded') {
      prompts.splice(-1, 1, { ...last, died: true });
    }
  }
  return prompts;
}

function promptsIn(messages: readonly HistoryMessage[]): readonly string[] {
  return messages.flatMap(({ role, text }) => (role === 'user' ? [text] : []));
}

/** The messages behind those that are shown; undefined where they are not those that are shown. */
function beyond(
  shown: readonly HistoryMessage[],
  saved: readonly HistoryMessage[],
): readonly HistoryMessage[] | undefined {
  // The system prompt is written anew by each process.
  const [before, after] = [shown, saved].map((messages) => messages.filter(({ role }) => role !== 'system'));
  const isContinued = before?.every((message, at) => JSON.stringify(message) === JSON.stringify(after?.[at]));
  return isContinued ? after?.slice(before?.length) : undefined;
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
  /** How it ended; null where its end is not known. */
  readonly end: Outcome | null;
  /** Where it begins in the transcript; null for the last one of the history that was saved before. */
  readonly at: number | null;
  /** Whether its process was gone before it could end well. */
  readonly died: boolean;
}

/** The newest turn that begins in front of a position of the transcript. */
function lastKnownTurn(transcript: Transcript, before = endOf(transcript)): KnownTurn | undefined {
  const texts: TextEntry[] = [];
  const tools: ToolEntry[] = [];
  let end: Outcome | null = null;
  let gone = false;
  for (let at = before - 1; at >= 0; at--) {
    const entry = entryAt(transcript, at);
    gone ||= entry?.kind === 'note' && entry.note.about === 'restarted';
    if (entry?.kind === 'text') texts.unshift(entry);
    if (entry?.kind === 'tool') tools.unshift(entry);
    if (entry?.kind === 'turnEnd') end ??= entry.outcome;
    if (entry?.kind === 'event' && entry.event.kind === 'user_message') {
      return { prompt: entry.event.text, texts, tools, shown: 0, end, at, died: gone && end !== 'succeeded' };
    }
  }
  const shownPrompt = transcript.history.findLastIndex((message) => message.role === 'user');
  const prompt = transcript.history[shownPrompt];
  const shown = transcript.history.length - shownPrompt - 1;
  // Only turns that are over are saved.
  return prompt && { prompt: prompt.text, texts, tools, shown, end: end ?? 'succeeded', at: null, died: false };
}

/** The messages behind a prompt, read as those of a known turn. */
interface ReadTurn {
  /** What they have beyond what is known of it. */
  readonly rest: readonly EventBody[];
  readonly turn: readonly HistoryMessage[];
  readonly later: readonly HistoryMessage[];
}

interface Reading extends ReadTurn {
  /** The prompts that are saved in front of it. */
  readonly prompts: readonly string[];
}

/** Undefined where the messages contradict what is known. */
function readTurn(known: KnownTurn, messages: readonly HistoryMessage[], sent: string | null): ReadTurn | undefined {
  const rest: EventBody[] = [];
  // Some models number the calls of each answer anew: an id means the newest call that was saved with it.
  const calls = new Map<string | null, ToolEntry | undefined>();
  let unread = known;
  let at = known.shown;
  for (let message = messages[at]; message; message = messages[++at]) {
    if (message.role === 'user' && (message.text === sent || !isSteering(unread, messages[at + 1]))) break;
    if (message.role === 'assistant') {
      const text = unreceived(unread.texts, message.text);
      if (text === undefined) return undefined;
      if (text.missing !== '') rest.push({ kind: 'text_delta', text: text.missing });
      unread = { ...unread, texts: text.later };
      for (const call of message.toolCalls) {
        const tool = unread.tools.find(({ callId }) => callId === call.id);
        if (!tool) rest.push(started(call));
        unread = { ...unread, tools: unread.tools.filter((each) => each !== tool) };
        calls.set(call.id, tool);
      }
    } else if (message.role === 'tool') {
      const { toolCallId: id } = message;
      const tool = calls.has(id) ? calls.get(id) : known.tools.find(({ callId }) => callId === id);
      if (tool?.phase !== 'completed') rest.push(completed(message));
    }
  }
  return { rest, turn: messages.slice(0, at), later: messages.slice(at) };
}

/**
 * What is missing of a saved text, and what was received beyond it. Something that came in between (a note, an event that
 * we have no form for) parts in two what is one text to the runtime.
 */
function unreceived(
  received: readonly TextEntry[],
  saved: string,
): { readonly missing: string; readonly later: readonly TextEntry[] } | undefined {
  let missing = saved;
  let at = 0;
  for (let piece = received[at]; piece && missing !== ''; piece = received[++at]) {
    const left = remainder(piece, missing);
    if (left === undefined) return undefined;
    missing = left;
  }
  return { missing, later: received.slice(at) };
}

/**
 * Whether a prompt that is saved behind a known turn steered that turn (another client may do so; no event tells of it):
 * then what follows it was received as part of the turn.
 */
function isSteering({ texts, tools, end }: KnownTurn, answer: HistoryMessage | undefined): boolean {
  if (answer?.role !== 'assistant') return false;
  if (answer.toolCalls.some(({ id }) => tools.some(({ callId }) => callId === id))) return true;
  if (texts.length === 0 || answer.text === '') return false;
  const missing = unreceived(texts, answer.text)?.missing;
  // Of a turn that is over, text that is not kept may happen to begin like the next answer.
  return missing === '' || (missing !== undefined && end === null);
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

function started({ id, ...call }: HistoryToolCall): EventBody {
  return { kind: 'tool_call_started', callId: id, ...call };
}

/** Saved results carry no error flag; the runtime starts the text of an error with `Error:` (§5.2). */
function completed({ toolCallId, text, omitted }: HistoryMessage): EventBody {
  return {
    kind: 'tool_call_completed',
    callId: toolCallId,
    name: null,
    output: text,
    isError: text.startsWith('Error:'),
    ...(omitted === undefined ? {} : { omitted }),
  };
}

function isPrompt(message: HistoryMessage, prompt: string): boolean {
  return message.role === 'user' && message.text === prompt;
}

function hasPrompt(messages: readonly HistoryMessage[], prompt: string): boolean {
  return messages.some((message) => isPrompt(message, prompt));
}

import type { HistoryMessage } from '../protocol/frontend-v2.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { wholeText } from '../store/streamedText.js';
import { EMPTY_TRANSCRIPT, endOf, entryAt, type Transcript } from '../store/transcript.js';
import { cutText, HISTORY_TURNS_LIMIT, PART_LIMIT } from './bounds.js';
import { entryPart, textPart, toolPart } from './chatParts.js';
import { requestView, textParts, type PartCursor } from './newParts.js';
import type { ChatPart } from './parts.js';
import { titleOf } from './requestPreview.js';
import type { RequestView } from './requestParts.js';
import { sanitise } from './sanitise.js';

/** A request and its response. The marker turn stands in for a request where a response has none. */
export interface HistoryTurn {
  /** Null for the marker turn: nothing is presented as a person's words that no person wrote. */
  readonly prompt: string | null;
  readonly marker: boolean;
  readonly parts: readonly ChatPart[];
}

/** What an editor that needs a request in front of each response shows as the marker turn's. */
export const HISTORY_MARKER = '⟨supercode runtime history⟩';

interface Memo {
  readonly view: RequestView;
  readonly turns: readonly HistoryTurn[];
}

const memos = new WeakMap<Transcript, Memo>();

/**
 * The whole conversation as turns, oldest first: what the runtime had saved, then what happened since. The system
 * prompt is the model's affair and is left out; beyond the newest HISTORY_TURNS_LIMIT turns the omission is said.
 *
 * @param before leaves out what was seen from this position on: another reader draws it
 */
export function selectHistoryTurns(
  root: RootState,
  connection: ConnectionId,
  before?: PartCursor,
): readonly HistoryTurn[] {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const view = requestView(root, connection, transcript);
  if (before) return bounded([...savedTurns(transcript.history), ...seenTurns(transcript, view, before.at)]);
  const memo = memos.get(transcript);
  if (memo && memo.view.requests === view.requests && memo.view.descriptor === view.descriptor) return memo.turns;
  const turns = bounded([...savedTurns(transcript.history), ...seenTurns(transcript, view)]);
  memos.set(transcript, { view, turns });
  return turns;
}

class Turns {
  readonly list: HistoryTurn[] = [];
  private parts: ChatPart[] = [];
  private prompt: string | null = null;

  /** Whether a prompt was heard that the parts to come belong to. */
  get isOpen(): boolean {
    return this.prompt !== null;
  }

  begin(prompt: string): void {
    this.end();
    this.prompt = prompt;
  }

  add(...parts: readonly (ChatPart | undefined)[]): void {
    this.parts.push(...parts.filter((part) => part !== undefined));
  }

  end(): readonly HistoryTurn[] {
    if (this.prompt !== null || this.parts.length > 0) {
      this.list.push({ prompt: this.prompt, marker: this.prompt === null, parts: this.parts });
    }
    this.parts = [];
    this.prompt = null;
    return this.list;
  }
}

function savedTurns(history: readonly HistoryMessage[]): readonly HistoryTurn[] {
  const turns = new Turns();
  const called = new Set<string>();
  for (const [at, message] of history.entries()) {
    const id = `saved.${at}`;
    switch (message.role) {
      case 'system':
        break;
      case 'user':
        turns.begin(promptText(message));
        break;
      case 'assistant':
        turns.add(...textParts(id, 'markdown', message.text));
        for (const { id: callId, name, arguments: args } of message.toolCalls) {
          called.add(callId);
          turns.add(savedTool(`${id}.${callId}`, callId, name, args, resultOf(history, at, callId)));
        }
        break;
      case 'tool':
        // Compaction can leave a result without the message that called for it.
        if (message.toolCallId === null || !called.has(message.toolCallId)) {
          turns.add(savedTool(id, message.toolCallId ?? id, null, '', message));
        }
        break;
    }
  }
  return turns.end();
}

/** Some models number the calls of each answer anew, so the next result counts, up to the next call of that id. */
function resultOf(history: readonly HistoryMessage[], calledAt: number, callId: string): HistoryMessage | undefined {
  for (const message of history.slice(calledAt + 1)) {
    if (message.toolCalls.some(({ id }) => id === callId)) return undefined;
    if (message.role === 'tool' && message.toolCallId === callId) return message;
  }
  return undefined;
}

function savedTool(id: string, callId: string, name: string | null, args: string, result: HistoryMessage | undefined) {
  const output = result?.text ?? '';
  // Saved results carry no error flag; the runtime starts the text of an error with `Error:`.
  const isError = output.startsWith('Error:');
  return toolPart(id, { callId, name, arguments: args, phase: result ? 'completed' : 'abandoned', output, isError });
}

function seenTurns(transcript: Transcript, view: RequestView, end = endOf(transcript)): readonly HistoryTurn[] {
  const turns = new Turns();
  for (let at = 0; at < end; at++) {
    const entry = entryAt(transcript, at);
    const id = `${transcript.generation}.${at}`;
    if (entry?.kind === 'event' && entry.event.kind === 'user_message') {
      turns.begin(cutText(sanitise(entry.event.text, true).text, PART_LIMIT));
    } else if (entry?.kind === 'text' || entry?.kind === 'reasoning') {
      turns.add(...textParts(id, entry.kind === 'text' ? 'markdown' : 'thinking', wholeText(entry.text)));
    } else if (entry) {
      const part = entryPart(id, entry, view);
      turns.add(turns.isOpen ? part : retained(part, view));
    }
  }
  return turns.end();
}

/**
 * A native runtime keeps the requests of its whole session, and tells of them without the turns that they were part of
 * (frontend.v2 §5.2). What is over is one line each; only what still waits is shown whole.
 */
function retained(part: ChatPart | undefined, { requests }: RequestView): ChatPart | undefined {
  if (part?.kind !== 'request' && part?.kind !== 'resolution') return part;
  const known = requests[part.requestId];
  if (known?.status.phase !== 'answered' && known?.status.phase !== 'withdrawn') return part;
  if (part.kind === 'request') return undefined;
  const subject = known.request ? titleOf(known.request.body) : '';
  return part.text.includes(subject) ? part : { ...part, text: `${subject}: ${part.text}` };
}

function promptText({ text, images }: HistoryMessage): string {
  const clean = cutText(sanitise(text, true).text, PART_LIMIT);
  return images === 0 ? clean : `${clean}\n(${images === 1 ? 'one image' : `${images} images`})`.trimStart();
}

function bounded(turns: readonly HistoryTurn[]): readonly HistoryTurn[] {
  const omitted = turns.length - HISTORY_TURNS_LIMIT;
  if (omitted <= 0) return turns;
  // The notice takes the place of one turn more, so that the bound holds with it.
  const kept = turns.slice(omitted + 1);
  const notice = `${omitted + 1} earlier turns are not shown. The runtime's own history is complete.`;
  return [{ prompt: null, marker: true, parts: [textPart('omitted', 'notice', notice)] }, ...kept];
}

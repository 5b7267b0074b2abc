/** Streamed text: its deltas, and all of it. */
export interface Conversation {
  readonly deltas: readonly string[];
  readonly text: string;
}

/** How many bytes one network read brings; `frame`: one frame a read, as when the model is slower than the line. */
export type ReadSize = 4096 | 65536 | 'frame';

const WORDS = (
  'the reducer keeps one tree and every fact about it is an action so `selectNewParts` reads what is new ' +
  'only; “state” → parts — a naïve copy of it would cost more than the text itself\n- see `src/store/root.ts`, line "42"\n'
).split(/(?<= )/);

/** Pieces of 16 to 56 characters: prose with some code, quotes, line ends and typography, the same at each call. */
export function conversation(deltas: number): Conversation {
  const pieces: string[] = [];
  let word = 0;
  for (let at = 0; at < deltas; at++) {
    const wanted = 16 + ((at * 7) % 32);
    let piece = '';
    while (piece.length < wanted) piece += WORDS[word++ % WORDS.length] ?? '';
    pieces.push(piece);
  }
  return { deltas: pieces, text: pieces.join('') };
}

/** One event as the runtime's server writes it (frontend.v2 §6.6). */
export function runtimeFrame(sequence: number, kind: string, body: object = {}): string {
  return frame({ sequence, kind, payload: { type: kind, ...body } });
}

/** A whole turn of the runtime, from this sequence on. */
export function runtimeFrames({ deltas }: Conversation, first = 1): readonly string[] {
  let sequence = first;
  return [
    runtimeFrame(sequence++, 'user_message', { text: 'Go on.' }),
    runtimeFrame(sequence++, 'turn_started'),
    ...deltas.map((text) => runtimeFrame(sequence++, 'text_delta', { text })),
    runtimeFrame(sequence++, 'turn_succeeded'),
  ];
}

/** The AI SDK's UI message stream, version 1. */
export function aiSdkFrames({ deltas }: Conversation): readonly string[] {
  return [...aiSdkChunks(deltas).map(frame), 'data: [DONE]\n\n'];
}

export function aiSdkChunks(deltas: readonly string[]): readonly object[] {
  return [
    { type: 'start', messageId: 'm1' },
    { type: 'start-step' },
    { type: 'text-start', id: 't1' },
    ...deltas.map((delta) => ({ type: 'text-delta', id: 't1', delta })),
    { type: 'text-end', id: 't1' },
    { type: 'finish-step' },
    { type: 'finish' },
  ];
}

/** AG-UI's events over HTTP. */
export function agUiFrames({ deltas }: Conversation): readonly string[] {
  const run = { threadId: 'thread-1', runId: 'run-1' };
  return [
    frame({ type: 'RUN_STARTED', ...run }),
    frame({ type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' }),
    ...deltas.map((delta) => frame({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta })),
    frame({ type: 'TEXT_MESSAGE_END', messageId: 'm1' }),
    frame({ type: 'RUN_FINISHED', ...run }),
  ];
}

export function readsOf(frames: readonly string[], size: ReadSize): readonly Uint8Array[] {
  const encoder = new TextEncoder();
  if (size === 'frame') return frames.map((text) => encoder.encode(text));
  const bytes = encoder.encode(frames.join(''));
  const reads: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) reads.push(bytes.slice(at, at + size));
  return reads;
}

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

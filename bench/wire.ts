/** The same streamed text in the frames of each side's own wire. */
export interface Conversation {
  readonly deltas: readonly string[];
  readonly text: string;
}

/** How many bytes one network read brings; `frame`: a read for each frame, as when a model is slower than the line. */
export type ReadSize = 4096 | 65536 | 'frame';

/** A wire's frames around the deltas: bytes, cut into reads. */
export interface Stream {
  readonly reads: readonly Uint8Array[];
  /** The last sequence in it, where the wire has sequences. */
  readonly lastSequence: number;
}

export type Wire = (conversation: Conversation, size: ReadSize) => Stream;

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

/** One event of the runtime as its server writes it (frontend.v2 §6.6). */
export function runtimeFrame(sequence: number, kind: string, body: object = {}): string {
  return frame({ sequence, kind, payload: { type: kind, ...body } });
}

/** A whole turn of the runtime. */
export const runtimeWire: Wire = ({ deltas }, size) => {
  const frames = [runtimeFrame(1, 'user_message', { text: 'Go on.' }), runtimeFrame(2, 'turn_started')];
  for (const text of deltas) frames.push(runtimeFrame(frames.length + 1, 'text_delta', { text }));
  frames.push(runtimeFrame(frames.length + 1, 'turn_succeeded'));
  return { reads: readsOf(frames, size), lastSequence: frames.length };
};

/** The AI SDK's UI message stream, version 1. */
export const aiSdkWire: Wire = ({ deltas }, size) => {
  const frames = [{ type: 'start', messageId: 'm1' }, { type: 'start-step' }, { type: 'text-start', id: 't1' }].map(
    frame,
  );
  for (const delta of deltas) frames.push(frame({ type: 'text-delta', id: 't1', delta }));
  frames.push(...[{ type: 'text-end', id: 't1' }, { type: 'finish-step' }, { type: 'finish' }].map(frame));
  frames.push('data: [DONE]\n\n');
  return { reads: readsOf(frames, size), lastSequence: 0 };
};

/** AG-UI's events over HTTP. */
export const agUiWire: Wire = ({ deltas }, size) => {
  const run = { threadId: 'thread-1', runId: 'run-1' };
  const message = { messageId: 'm1' };
  const frames = [
    { type: 'RUN_STARTED', ...run },
    { type: 'TEXT_MESSAGE_START', ...message, role: 'assistant' },
  ].map(frame);
  for (const delta of deltas) frames.push(frame({ type: 'TEXT_MESSAGE_CONTENT', ...message, delta }));
  frames.push(
    ...[
      { type: 'TEXT_MESSAGE_END', ...message },
      { type: 'RUN_FINISHED', ...run },
    ].map(frame),
  );
  return { reads: readsOf(frames, size), lastSequence: 0 };
};

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

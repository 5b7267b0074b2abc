import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { append, NO_TEXT, wholeText, type StreamedText } from '../store/streamedText.js';
import { isSecretName, type SecretKind } from './redactionRules.js';
import type { Redactor } from './redaction.js';

/** One piece of a text that came in pieces. */
interface Piece {
  readonly text: string;
  readonly put: (text: string) => void;
}

/**
 * Copies states and actions, in the order in which they were, with every text in them redacted. What streams is redacted
 * as the whole that it became, and each piece gets its share: a token may come in two pieces, and neither looks like one.
 */
export class RedactedCopy {
  /** The pieces of each text so far, by what they are pieces of. */
  readonly #streams = new Map<string, Piece[]>();
  readonly #texts: Piece[][] = [];
  #cursor = 0;

  constructor(private readonly redactor: Redactor) {}

  /** The copy is whole only once `finish` was called, as that of an action. */
  base(root: RootState, connection: ConnectionId): RootState {
    const transcript = root.transcript[connection];
    const open = transcript?.open;
    if (!open) return this.#begun(root, transcript?.cursor);
    // What streams goes on in the actions.
    const copied = { kind: open.kind, text: NO_TEXT };
    const copy = this.#begun(
      { ...root, transcript: { ...root.transcript, [connection]: { ...transcript, open: null } } },
      transcript.cursor,
    );
    const put = (text: string) => {
      copied.text = append(NO_TEXT, text);
    };
    this.#take(open.kind, { text: wholeText(open.text), put });
    const whole = copy.transcript[connection];
    return whole ? { ...copy, transcript: { ...copy.transcript, [connection]: { ...whole, open: copied } } } : copy;
  }

  #begun(root: RootState, cursor = 0): RootState {
    const copy = this.of(root) as RootState;
    this.#cursor = cursor;
    return copy;
  }

  of(value: unknown): unknown {
    if (typeof value === 'string') return this.redactor.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.of(item));
    if (isStreamedText(value)) return append(NO_TEXT, this.redactor.text(wholeText(value)));
    this.#noteProcess(value);
    const streamed = streamedIn(value);
    const copy = Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        this.redactor.text(name),
        name === streamed?.member ? member : this.#member(name, member),
      ]),
    );
    this.#note(value, copy, streamed);
    return copy;
  }

  /** Gives every piece of what streamed its share. */
  finish(): void {
    for (const pieces of this.#texts) share(pieces, this.redactor);
    this.#texts.length = 0;
    this.#streams.clear();
  }

  #member(name: string, value: unknown): unknown {
    if (name === 'credential' && typeof value === 'object') return this.#labelled(value, 'credential file');
    if (typeof value !== 'string' && typeof value !== 'number') return this.of(value);
    if ((name === 'clientId' || name === 'holder') && value !== '')
      return this.redactor.label('client id', String(value));
    return isSecretName(name) && value !== '' ? this.redactor.label('password', String(value)) : this.of(value);
  }

  /** A reference to a credential: its kind stays. */
  #labelled(value: object | null, kind: SecretKind): unknown {
    return Object.fromEntries(
      Object.entries(value ?? {}).map(([name, member]: [string, unknown]) => [
        name,
        typeof member === 'string' && name !== 'kind' ? this.redactor.label(kind, member) : this.of(member),
      ]),
    );
  }

  /** A snapshot that does not reach as far as what was heard is another process's, which counts anew. */
  #noteProcess(value: object): void {
    const { historyCursor, replay } = value as { readonly historyCursor?: unknown; readonly replay?: unknown };
    if (typeof historyCursor !== 'number' || !Array.isArray(replay)) return;
    const last = (replay.at(-1) as { readonly sequence?: unknown } | undefined)?.sequence;
    if (Math.max(historyCursor, typeof last === 'number' ? last : 0) < this.#cursor) this.#cursor = historyCursor;
  }

  #note(
    { sequence }: { readonly sequence?: unknown },
    copy: Record<string, unknown>,
    streamed: Streamed | undefined,
  ): void {
    if (typeof sequence !== 'number') return;
    const isRepeat = sequence <= this.#cursor;
    this.#cursor = Math.max(this.#cursor, sequence);
    if (streamed) {
      const put = (text: string) => {
        copy[streamed.member] = text;
      };
      // A repeat adds nothing to what streamed, unless a new process began to count anew: then it is a text of its own.
      if (isRepeat) this.#texts.push([{ text: streamed.text, put }]);
      else this.#take(streamed.stream, { text: streamed.text, put });
    } else if (!isRepeat) {
      // Text that follows something else is another text.
      this.#streams.delete('text');
      this.#streams.delete('reasoning');
    }
  }

  #take(stream: string, piece: Piece): void {
    for (const other of ['text', 'reasoning']) {
      if (other !== stream && (stream === 'text' || stream === 'reasoning')) this.#streams.delete(other);
    }
    let pieces = this.#streams.get(stream);
    if (pieces === undefined) {
      pieces = [];
      this.#streams.set(stream, pieces);
      this.#texts.push(pieces);
    }
    pieces.push(piece);
  }
}

interface Streamed {
  readonly stream: string;
  readonly member: 'text' | 'chunk';
  readonly text: string;
}

/** Whether this is an event that brings a piece of a longer text. */
function streamedIn(value: object): Streamed | undefined {
  const { sequence, kind, text, chunk, jobId } = value as Readonly<Record<string, unknown>>;
  if (typeof sequence !== 'number') return undefined;
  if ((kind === 'text_delta' || kind === 'reasoning') && typeof text === 'string') {
    return { stream: kind === 'reasoning' ? kind : 'text', member: 'text', text };
  }
  if (kind === 'background_output' && typeof chunk === 'string') {
    return { stream: `output of ${String(jobId)}`, member: 'chunk', text: chunk };
  }
  return undefined;
}

function isStreamedText(value: object): value is StreamedText {
  return 'blocks' in value && 'segments' in value && 'length' in value;
}

/** A label goes to the piece in which the text began that it stands for. */
function share(pieces: readonly Piece[], redactor: Redactor): void {
  const replacements = redactor.replacements(pieces.map(({ text }) => text).join(''));
  let start = 0;
  let next = 0;
  for (const { text, put } of pieces) {
    const end = start + text.length;
    let at = start;
    let shared = '';
    for (
      let replacement = replacements[next];
      replacement && replacement.start < end;
      replacement = replacements[next]
    ) {
      shared += text.slice(at - start, Math.max(0, replacement.start - start));
      if (replacement.start >= start) shared += replacement.text;
      at = Math.min(replacement.end, end);
      if (replacement.end > end) break;
      next += 1;
    }
    put(shared + text.slice(at - start));
    start = end;
  }
}

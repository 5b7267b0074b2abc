import * as vscode from 'vscode';
import { revealedTitle } from '../selectors/bounds.js';
import {
  ATTACHMENT_LIMIT,
  ATTACHMENTS_LIMIT,
  binary,
  ContextRefused,
  named,
  sendable,
  tooLarge,
  type Attachment,
} from './contextAttachment.js';

/** UTF-8 bytes of a file that is not open and of which some lines are wanted. */
const SOURCE_LIMIT = 16_777_216;
const BOM_LENGTH = 3;

/** A file's text where it is at the moment, with where its lines begin once somebody asked. */
interface Source {
  readonly text: string;
  readonly language: string;
  readonly isDirty: boolean;
  lineStarts?: readonly number[];
}

/** Reads what one prompt has attached of files: each file once, and no more of them than may be sent. */
export class ContextFiles {
  readonly #documents: ReadonlyMap<string, vscode.TextDocument>;
  readonly #sources = new Map<string, Promise<Source | 'folder'>>();
  #announced = 0;

  constructor() {
    const open = vscode.workspace.textDocuments.filter(({ isClosed }) => !isClosed);
    this.#documents = new Map(open.map((document) => [document.uri.toString(), document]));
  }

  /** `noun` says how the file comes to be here: "File", "Selection in". */
  async read(uri: vscode.Uri, range: vscode.Range | undefined, noun: string): Promise<Attachment> {
    const source = await this.#source(uri, range === undefined);
    if (source === 'folder') return { label: `Folder ${named(pathOf(uri))} (only named, without what is in it)` };
    const part = range === undefined ? source.text : linesIn(source, range, uri);
    const remarks = [
      ...(uri.scheme === 'untitled' ? ['never saved'] : source.isDirty ? ['with unsaved changes'] : []),
      ...(part === '' ? ['empty'] : []),
    ];
    const where = range === undefined ? '' : `, ${linesOf(range)}`;
    return {
      label: `${noun} ${named(pathOf(uri))}${where}${remarks.length === 0 ? '' : ` (${remarks.join(', ')})`}`,
      text: sendable(part, shortName(uri)),
      language: source.language,
    };
  }

  async #source(uri: vscode.Uri, isWhole: boolean): Promise<Source | 'folder'> {
    const key = uri.toString();
    const document = this.#documents.get(key);
    // A file is read again where first its lines and then all of it are wanted: all of it is announced before.
    const name = `${String(isWhole)} ${key}`;
    const known = this.#sources.get(name);
    if (known) return known;
    const source = document ? Promise.resolve(bufferOf(document)) : this.#readFile(uri, isWhole);
    this.#sources.set(name, source);
    return source;
  }

  async #readFile(uri: vscode.Uri, isWhole: boolean): Promise<Source | 'folder'> {
    const who = shortName(uri);
    const { type, size } = await tried(uri, () => vscode.workspace.fs.stat(uri));
    if ((type & vscode.FileType.Directory) !== 0) return 'folder';
    if (isWhole) this.#announce(Math.max(0, size - BOM_LENGTH), who);
    else if (size > SOURCE_LIMIT) {
      throw new ContextRefused(`${who} is too large to take lines from it. Open it, attach the lines and send again.`);
    }
    const bytes = await tried(uri, () => vscode.workspace.fs.readFile(uri));
    const language = /\.([^./]+)$/.exec(uri.path)?.[1] ?? '';
    return { text: decoded(bytes, who), language, isDirty: false };
  }

  /** Before it is read: who attaches a disk is told so at once. */
  #announce(size: number, who: string): void {
    if (size > ATTACHMENT_LIMIT) throw tooLarge(who, size);
    this.#announced += size;
    if (this.#announced > ATTACHMENTS_LIMIT) throw tooMuch();
  }
}

export function tooMuch(): ContextRefused {
  return new ContextRefused(
    'The attachments have more than 1 MiB (1,048,576 bytes) of text together. Remove some of them and send again.',
  );
}

/** As an agent can open it. */
export function pathOf(uri: vscode.Uri): string {
  if (uri.scheme === 'file') return uri.fsPath;
  return uri.scheme === 'untitled' ? uri.path : uri.toString(true);
}

/** As a person knows it. */
function shortName(uri: vscode.Uri): string {
  return named(uri.scheme === 'file' ? vscode.workspace.asRelativePath(uri) : pathOf(uri));
}

function bufferOf(document: vscode.TextDocument): Source {
  return { text: document.getText(), language: document.languageId, isDirty: document.isDirty };
}

async function tried<T>(uri: vscode.Uri, read: () => Thenable<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isGone = error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
    const why = error instanceof Error ? revealedTitle(error.message) : '';
    const said = isGone ? 'is not there any more' : `can't be read${why === '' ? '' : ` (${named(why)})`}`;
    throw new ContextRefused(`${shortName(uri)} ${said}. Remove it and send again.`);
  }
}

function decoded(bytes: Uint8Array, who: string): string {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (bytes.includes(0) && !isUtf16) throw binary(who);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ContextRefused(
      `${who} is not UTF-8 text. If it is text in another encoding, open it in an editor; its buffer is sent then. Else ` +
        'remove it. Then send again.',
    );
  }
}

/** A range that ends at a line's beginning has nothing of that line. */
function lastLine({ start, end }: vscode.Range): number {
  return end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
}

/** By whole lines: half of one is hard to place. The same words for the same lines. */
export function linesOf(range: vscode.Range): string {
  const [first, last] = [range.start.line + 1, lastLine(range) + 1];
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

function linesIn(source: Source, range: vscode.Range, uri: vscode.Uri): string {
  source.lineStarts ??= startsIn(source.text);
  const starts = source.lineStarts;
  const from = starts[range.start.line];
  if (from === undefined) {
    throw new ContextRefused(
      `${shortName(uri)} has only ${starts.length} ${starts.length === 1 ? 'line' : 'lines'} now, so ` +
        `${linesOf(range)} can't be sent. Attach it again and send again.`,
    );
  }
  return source.text.slice(from, starts[lastLine(range) + 1]);
}

/** Lines as the editor counts them: U+2028 ends none. */
function startsIn(text: string): readonly number[] {
  return [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), ({ index, 0: end }) => index + end.length)];
}

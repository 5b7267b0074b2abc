import type * as vscode from 'vscode';
import { DiagnosticSeverity, EndOfLine } from './enums.js';

export class Position implements vscode.Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {
    if (line < 0) throw new Error('Invalid arguments: line must be non-negative');
    if (character < 0) throw new Error('Invalid arguments: character must be non-negative');
  }

  compareTo(other: vscode.Position): number {
    return Math.sign(this.line - other.line) || Math.sign(this.character - other.character);
  }

  isBefore(other: vscode.Position): boolean {
    return this.compareTo(other) < 0;
  }

  isBeforeOrEqual(other: vscode.Position): boolean {
    return this.compareTo(other) <= 0;
  }

  isAfter(other: vscode.Position): boolean {
    return this.compareTo(other) > 0;
  }

  isAfterOrEqual(other: vscode.Position): boolean {
    return this.compareTo(other) >= 0;
  }

  isEqual(other: vscode.Position): boolean {
    return this.compareTo(other) === 0;
  }

  translate(change: number | { lineDelta?: number; characterDelta?: number } = 0, characterDelta = 0): Position {
    const { lineDelta = 0, characterDelta: across = 0 } =
      typeof change === 'number' ? { lineDelta: change, characterDelta } : change;
    return new Position(this.line + lineDelta, this.character + across);
  }

  with(change: number | { line?: number; character?: number } = this.line, character = this.character): Position {
    if (typeof change === 'number') return new Position(change, character);
    return new Position(change.line ?? this.line, change.character ?? this.character);
  }
}

export class Range implements vscode.Range {
  readonly start: Position;
  readonly end: Position;

  constructor(start: vscode.Position, end: vscode.Position);
  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number);
  constructor(from: vscode.Position | number, to: vscode.Position | number, endLine = 0, endCharacter = 0) {
    const [one, other] = ends(from, to, endLine, endCharacter);
    [this.start, this.end] = one.isAfter(other) ? [other, one] : [one, other];
  }

  get isEmpty(): boolean {
    return this.start.isEqual(this.end);
  }

  get isSingleLine(): boolean {
    return this.start.line === this.end.line;
  }

  contains(what: vscode.Position | vscode.Range): boolean {
    const { start, end } = 'start' in what ? what : { start: what, end: what };
    return this.start.isBeforeOrEqual(start) && this.end.isAfterOrEqual(end);
  }

  isEqual(other: vscode.Range): boolean {
    return this.start.isEqual(other.start) && this.end.isEqual(other.end);
  }

  intersection(other: vscode.Range): Range | undefined {
    const start = this.start.isAfter(other.start) ? this.start : other.start;
    const end = this.end.isBefore(other.end) ? this.end : other.end;
    return start.isAfter(end) ? undefined : new Range(start, end);
  }

  union(other: vscode.Range): Range {
    const start = this.start.isBefore(other.start) ? this.start : other.start;
    return new Range(start, this.end.isAfter(other.end) ? this.end : other.end);
  }

  with(
    change: vscode.Position | { start?: vscode.Position; end?: vscode.Position } = this.start,
    end: vscode.Position = this.end,
  ): Range {
    if ('line' in change) return new Range(change, end);
    return new Range(change.start ?? this.start, change.end ?? this.end);
  }
}

export class Selection extends Range implements vscode.Selection {
  readonly anchor: Position;
  readonly active: Position;

  constructor(anchor: vscode.Position, active: vscode.Position);
  constructor(anchorLine: number, anchorCharacter: number, activeLine: number, activeCharacter: number);
  constructor(from: vscode.Position | number, to: vscode.Position | number, line = 0, character = 0) {
    const [anchor, active] = ends(from, to, line, character);
    super(anchor, active);
    [this.anchor, this.active] = [anchor, active];
  }

  get isReversed(): boolean {
    return this.anchor.isAfter(this.active);
  }
}

function ends(from: vscode.Position | number, to: vscode.Position | number, line: number, character: number) {
  if (typeof from === 'number' || typeof to === 'number') {
    return [new Position(Number(from), Number(to)), new Position(line, character)] as const;
  }
  return [new Position(from.line, from.character), new Position(to.line, to.character)] as const;
}

export class Location implements vscode.Location {
  range: vscode.Range;

  constructor(
    public uri: vscode.Uri,
    rangeOrPosition: vscode.Range | vscode.Position,
  ) {
    this.range = 'start' in rangeOrPosition ? rangeOrPosition : new Range(rangeOrPosition, rangeOrPosition);
  }
}

export class Diagnostic implements vscode.Diagnostic {
  source?: string;
  code?: string | number | { value: string | number; target: vscode.Uri };
  relatedInformation?: vscode.DiagnosticRelatedInformation[];
  tags?: vscode.DiagnosticTag[];

  constructor(
    public range: vscode.Range,
    public message: string,
    public severity: vscode.DiagnosticSeverity = DiagnosticSeverity.Error,
  ) {}
}

export interface DocumentOptions {
  readonly isDirty?: boolean;
  readonly languageId?: string;
}

/** A buffer as the editor keeps it: lines, and one line ending for all of them. */
export class TextDocument implements vscode.TextDocument {
  readonly encoding = 'utf8';
  readonly eol: vscode.EndOfLine;
  readonly languageId: string;
  version = 1;
  isDirty: boolean;
  isClosed = false;
  #lines: readonly string[];

  constructor(
    readonly uri: vscode.Uri,
    text: string,
    { isDirty = false, languageId = 'plaintext' }: DocumentOptions = {},
  ) {
    this.#lines = text.split(/\r\n|\r|\n/);
    this.eol = text.includes('\r\n') ? EndOfLine.CRLF : EndOfLine.LF;
    this.isDirty = isDirty;
    this.languageId = languageId;
  }

  get fileName(): string {
    return this.uri.fsPath;
  }

  get isUntitled(): boolean {
    return this.uri.scheme === 'untitled';
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  /** What a person types: the whole text anew. */
  change(text: string): void {
    this.#lines = text.split(/\r\n|\r|\n/);
    this.version += 1;
    this.isDirty = true;
  }

  save(): Promise<boolean> {
    this.isDirty = false;
    return Promise.resolve(true);
  }

  lineAt(at: number | vscode.Position): vscode.TextLine {
    const line = typeof at === 'number' ? at : at.line;
    const text = this.#lines[line];
    if (text === undefined) throw new Error('Illegal value for `line`');
    const range = new Range(line, 0, line, text.length);
    const isLast = line === this.lineCount - 1;
    return {
      lineNumber: line,
      text,
      range,
      rangeIncludingLineBreak: isLast ? range : new Range(line, 0, line + 1, 0),
      firstNonWhitespaceCharacterIndex: /^\s*/.exec(text)?.[0].length ?? 0,
      isEmptyOrWhitespace: text.trim() === '',
    };
  }

  getText(range?: vscode.Range): string {
    const end = this.eol === EndOfLine.CRLF ? '\r\n' : '\n';
    if (range === undefined) return this.#lines.join(end);
    return this.getText().slice(this.offsetAt(range.start), this.offsetAt(range.end));
  }

  offsetAt(position: vscode.Position): number {
    const { line, character } = this.validatePosition(position);
    const before = this.#lines.slice(0, line).reduce((sum, text) => sum + text.length + this.#endLength(), 0);
    return before + character;
  }

  positionAt(offset: number): Position {
    let left = Math.max(0, offset);
    for (const [line, text] of this.#lines.entries()) {
      if (left <= text.length) return new Position(line, left);
      left = Math.max(0, left - text.length - this.#endLength());
    }
    return new Position(this.lineCount - 1, this.#lines.at(-1)?.length ?? 0);
  }

  getWordRangeAtPosition(position: vscode.Position, word = /\w+/g): Range | undefined {
    const { line, character } = this.validatePosition(position);
    const flags = word.flags.includes('g') ? word.flags : `${word.flags}g`;
    for (const found of (this.#lines[line] ?? '').matchAll(new RegExp(word.source, flags))) {
      const end = found.index + found[0].length;
      if (found.index <= character && character <= end) return new Range(line, found.index, line, end);
    }
    return undefined;
  }

  validateRange({ start, end }: vscode.Range): Range {
    return new Range(this.validatePosition(start), this.validatePosition(end));
  }

  validatePosition({ line, character }: vscode.Position): Position {
    if (line >= this.lineCount) return new Position(this.lineCount - 1, this.#lines.at(-1)?.length ?? 0);
    return new Position(line, Math.min(character, this.#lines[line]?.length ?? 0));
  }

  #endLength(): number {
    return this.eol === EndOfLine.CRLF ? 2 : 1;
  }
}

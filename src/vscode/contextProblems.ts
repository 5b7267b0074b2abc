import * as vscode from 'vscode';
import { pathOf } from './contextFiles.js';
import { sendable, type Attachment } from './contextAttachment.js';

type Problems = readonly (readonly [vscode.Uri, readonly vscode.Diagnostic[]])[];

const SEVERITIES = ['error', 'warning', 'information', 'hint'];

/** Each with its file, line and column, as compilers write them. */
export function problemsAttachment(problems: Problems, who: string): Attachment {
  const lines = problems.flatMap(([uri, found]) => found.map((problem) => lineOf(uri, problem)));
  if (lines.length === 0) return { label: 'Problems (none of what was attached is reported any more)' };
  return { label: 'Problems', text: sendable(lines.join('\n'), who) };
}

function lineOf(uri: vscode.Uri, { range, severity, source = '', code, message }: vscode.Diagnostic): string {
  const { line, character } = range.start;
  const number = typeof code === 'object' ? code.value : code;
  const by = number === undefined ? source : `${source}(${number})`;
  const kind = [SEVERITIES[severity] ?? 'problem', by].filter((word) => word !== '').join(' ');
  const text = message.replace(/\r\n|[\r\n]/g, '\n  ');
  return `${pathOf(uri)}:${line + 1}:${character + 1}: ${kind}: ${text}`;
}

/** An id as the editor makes it: file, owner, least severity, line and column, each empty where it does not matter. */
const ID = /^(.*):([^:]*):(\d*):(\d*):(\d*)$/s;
/** The numbers that the editor has inside for what extensions know by others. */
const MARKER_SEVERITIES = new Map([
  ['8', vscode.DiagnosticSeverity.Error],
  ['4', vscode.DiagnosticSeverity.Warning],
  ['2', vscode.DiagnosticSeverity.Information],
  ['1', vscode.DiagnosticSeverity.Hint],
]);

/**
 * The problems that an attachment with this id means, out of what is reported now. To an extension without the proposal
 * `chatReferenceDiagnostic` the editor gives every such attachment as an empty list; the id still says which.
 */
export function problemsOfId(id: string): Problems | undefined {
  const [, file, , severity = '', line = '', column = ''] = ID.exec(id) ?? [];
  if (file === undefined) return undefined;
  const least = MARKER_SEVERITIES.get(severity) ?? vscode.DiagnosticSeverity.Hint;
  const isMeant = ({ range: { start }, severity: its }: vscode.Diagnostic) =>
    its <= least &&
    (line === '' || start.line + 1 === Number(line)) &&
    (column === '' || start.character + 1 === Number(column));
  const all = vscode.languages.getDiagnostics().filter(([uri]) => file === '' || uri.toString() === file);
  return all.map(([uri, found]) => [uri, found.filter(isMeant)] as const);
}

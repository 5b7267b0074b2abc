import * as vscode from 'vscode';
import { fence } from '../selectors/markdown.js';
import { ContextFiles, linesOf, tooMuch } from './contextFiles.js';
import { ATTACHMENTS_LIMIT, ContextRefused, named, sendable, type Attachment } from './contextAttachment.js';
import { problemsAttachment, problemsOfId } from './contextProblems.js';

export { ContextRefused, type Attachment } from './contextAttachment.js';

/**
 * What was attached to a prompt, as text. Throws `ContextRefused` where anything of it can't be given to an agent; nothing
 * is left out or cut.
 */
export async function readContext(
  references: readonly vscode.ChatPromptReference[],
  toolReferences: readonly vscode.ChatLanguageModelToolReference[],
): Promise<readonly Attachment[]> {
  const files = new ContextFiles();
  const distinct = new Map<string, vscode.ChatPromptReference>();
  for (const reference of references.filter(isAttached)) {
    const key = keyOf(reference);
    if (!distinct.has(key)) distinct.set(key, reference);
  }
  const results = await Promise.allSettled([
    ...toolReferences.map(refuseTool),
    ...[...distinct.values()].map((reference) => attachmentOf(reference, files)),
  ]);
  const refusals = results.flatMap((result) => (result.status === 'rejected' ? refusalIn(result.reason) : []));
  if (refusals.length > 0) throw new ContextRefused(inOneMessage(refusals));
  const attachments = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const bytes = attachments.reduce((sum, { text = '' }) => sum + Buffer.byteLength(text), 0);
  if (bytes > ATTACHMENTS_LIMIT) throw new ContextRefused(inOneMessage([tooMuch().message]));
  return attachments;
}

/** The prompt comes first, so that a conversation is still known, and an agent's command still found, by its beginning. */
export function promptWithContext(prompt: string, attachments: readonly Attachment[]): string {
  if (attachments.length === 0) return prompt;
  const blocks = attachments.map(({ label, text, language }) =>
    text === undefined ? label : `${label}:\n\n${fence(text, language)}`,
  );
  return [prompt, '---', 'Context that the user attached to this message:', ...blocks].join('\n\n');
}

/**
 * What the editor adds by itself to every prompt for its own agent: the instructions that it found (AGENTS.md and such),
 * which an agent reads on its own, and an index of them written for its own tools. Instructions that a person picks come
 * under the same ids; their files are told by their names.
 */
function isAttached({ id }: vscode.ChatPromptReference): boolean {
  if (id.startsWith('vscode.customizations.')) return false;
  return !id.startsWith('vscode.instructions.') || id.endsWith('.instructions.md');
}

/** The same for what is sent once: a file, certain lines of it, a text. */
function keyOf({ id, value }: vscode.ChatPromptReference): string {
  if (value instanceof vscode.Uri) return `file ${value.toString()}`;
  if (value instanceof vscode.Location) return `file ${value.uri.toString()} ${linesOf(value.range)}`;
  return typeof value === 'string' ? `text ${id} ${value}` : `other ${id}`;
}

/** How the editor's own attachments are called; those that a person makes are files. */
const NOUNS = new Map([
  ['vscode.implicit.selection', 'Selection in'],
  ['vscode.implicit.viewport', 'Visible part of'],
  ['vscode.implicit.file', 'Active file'],
]);

async function attachmentOf(reference: vscode.ChatPromptReference, files: ContextFiles): Promise<Attachment> {
  const { id, value } = reference;
  const noun = NOUNS.get(id) ?? 'File';
  if (value instanceof vscode.Uri) return files.read(value, undefined, noun);
  if (value instanceof vscode.Location) return files.read(value.uri, value.range, noun);
  const who = named(nameOf(reference));
  if (typeof value === 'string') return { label: `Text ${who}`, text: sendable(value, who) };
  if (isProblems(value)) {
    const problems = value.diagnostics.length > 0 ? value.diagnostics : problemsOfId(id);
    if (problems) return problemsAttachment(problems, who);
  }
  if (isBinary(value)) {
    const kind = value.mimeType.startsWith('image/') ? 'an image' : 'binary';
    throw new ContextRefused(`${who} is ${kind}, and an agent is given text only. Remove it and send again.`);
  }
  throw new ContextRefused(
    `${who} is no file, text or problem, so it can't be given to an agent. Remove it and send again.`,
  );
}

/** Async, so that what it refuses is refused together with all else. */
function refuseTool({ name }: vscode.ChatLanguageModelToolReference): Promise<readonly Attachment[]> {
  const message = `${named(`#${name}`)} is a tool of the editor, and an agent has its own. Remove it and send again.`;
  return Promise.reject(new ContextRefused(message));
}

/** The editor gives each attachment the name that a person sees, though the stable API does not say so. */
function nameOf(reference: vscode.ChatPromptReference): string {
  const { name } = reference as { readonly name?: unknown };
  return typeof name === 'string' && name.trim() !== '' ? name : reference.id;
}

// By their shape: these classes are of proposals that need not be there.

function isProblems(value: unknown): value is { readonly diagnostics: [vscode.Uri, vscode.Diagnostic[]][] } {
  return typeof value === 'object' && value !== null && 'diagnostics' in value && Array.isArray(value.diagnostics);
}

function isBinary(value: unknown): value is { readonly mimeType: string } {
  return typeof value === 'object' && value !== null && 'mimeType' in value && typeof value.mimeType === 'string';
}

function refusalIn(reason: unknown): string {
  if (reason instanceof ContextRefused) return reason.message;
  throw reason;
}

const LISTED = 8;

function inOneMessage(refusals: readonly string[]): string {
  const distinct = [...new Set(refusals)];
  const [only, ...others] = distinct;
  if (others.length === 0) return `Nothing was sent. ${only ?? ''}`;
  const left = distinct.length - LISTED;
  const lines = [...distinct.slice(0, LISTED), ...(left > 0 ? [`And ${left} more.`] : [])];
  return ['Nothing was sent.', ...lines.map((line) => `- ${line}`)].join('\n');
}

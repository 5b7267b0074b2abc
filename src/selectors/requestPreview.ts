import type { JsonObject, RequestBody } from '../protocol/requests.js';
import { cutText, PART_LIMIT, prettyJson, revealedTitle } from './bounds.js';
import { filesOfDiff } from './diffFiles.js';
import { distinctLabel, fieldsOf, omittedFields, type Field } from './elicitation.js';
import type { AnswerChoice } from './parts.js';
import { reveal } from './sanitise.js';

type Approval = Extract<RequestBody, { kind: 'approval' }>;
type Elicitation = Extract<RequestBody, { kind: 'elicitation' }>;

/**
 * What a request is about, in plain text of at most PART_LIMIT UTF-16 units: all of what is decided on, and where that is
 * too much, how much is missing. Undefined where the runtime supplied nothing. Source: frontend.v2 §8.1.
 */
export function previewOf(body: RequestBody): string | undefined {
  const preview =
    body.kind === 'approval'
      ? approvalPreview(body)
      : body.kind === 'elicitation'
        ? elicitationPreview(body)
        : shown(body.preview, PART_LIMIT);
  return preview === '' ? undefined : cutText(preview, PART_LIMIT);
}

/** One line that names what is asked for, of at most TITLE_LIMIT UTF-16 units. */
export function titleOf(body: RequestBody): string {
  if (body.kind === 'other') return 'The runtime asks';
  if (body.kind === 'elicitation') return revealedTitle(firstLine(body.message)) || 'The runtime asks';
  const tool = revealedTitle(body.tool, NAME_LIMIT) || 'tool';
  const agent = body.childAgent === null ? '' : ` (agent ${revealedTitle(body.childAgent, NAME_LIMIT)})`;
  const about = aboutOf(body);
  return revealedTitle(about === '' ? `${tool}${agent}` : `${tool}${agent}: ${about}`);
}

const NAME_LIMIT = 80;

function aboutOf({ tool, subject, args }: Approval): string {
  const patch = formOf(tool) === 'apply_patch' ? (textIn(args, 'patch', 'input') ?? subject) : null;
  const files = patch === null ? [] : filesOfDiff(patch);
  if (files.length > 0) return files.join(', ');
  return [subject ?? '', commandIn(args) ?? '', pathIn(args) ?? ''].map(firstLine).find((line) => line !== '') ?? '';
}

/** The first line that says something, marked where there are more. */
function firstLine(text: string): string {
  const start = text.slice(0, PART_LIMIT).trimStart();
  const end = start.search(/[\r\n]/);
  if (end === -1) return revealedTitle(start);
  const line = revealedTitle(start.slice(0, end));
  return start.slice(end).trim() === '' ? line : `${line} …`;
}

/** `Edit`, `edit` and `edit_file` are one tool to a reader. */
const formOf = (tool: string) => tool.toLowerCase().replace(/_file$/, '');

function approvalPreview({ tool, subject, args }: Approval): string {
  const known = previewOfForm(formOf(tool), subject, args);
  if (known !== undefined) return known;
  if (args === null || Object.keys(args).length === 0) return shown(subject ?? '', PART_LIMIT);
  const path = pathIn(args);
  return joined(path === undefined ? [] : [path, ''], prettyJson(args, PART_LIMIT));
}

function previewOfForm(form: string, subject: string | null, args: JsonObject | null): string | undefined {
  switch (form) {
    case 'bash':
      return commandPreview(commandIn(args) ?? subject, args);
    case 'edit':
      return editPreview(args);
    case 'write': {
      const [path, content] = [pathIn(args), textIn(args, 'content')];
      if (path === undefined || content === undefined) return undefined;
      return joined([path, ''], content === '' ? '(empty)' : shown(content, PART_LIMIT));
    }
    case 'apply_patch': {
      const patch = textIn(args, 'patch', 'input') ?? subject;
      return patch === null ? undefined : shown(patch, PART_LIMIT);
    }
    default:
      return undefined;
  }
}

/** Room that a long main text leaves for what is said beside it. */
const ASIDE_LIMIT = 4096;

function commandPreview(command: string | null, args: JsonObject | null): string | undefined {
  if (command === null) return undefined;
  const directory = textIn(args, 'cwd', 'workdir');
  const reason = textIn(args, 'justification', 'reason');
  const escapes =
    args?.['with_escalated_permissions'] === true ||
    args?.['dangerouslyDisableSandbox'] === true ||
    args?.['sandbox_permissions'] === 'require_escalated';
  const asides = [
    ...(directory === undefined ? [] : [`In: ${directory}`]),
    ...(escapes ? ['Asks to run outside the sandbox.'] : []),
    ...(reason === undefined ? [] : [`Reason: ${reason}`]),
  ];
  if (asides.length === 0) return shown(command, PART_LIMIT);
  const aside = shown(asides.join('\n'), ASIDE_LIMIT);
  return `${shown(command, PART_LIMIT - aside.length - 2)}\n\n${aside}`;
}

function editPreview(args: JsonObject | null): string | undefined {
  const path = pathIn(args);
  const [before, after] = [textIn(args, 'old_string'), textIn(args, 'new_string')];
  if (path === undefined || before === undefined || after === undefined) return undefined;
  const all = args?.['replace_all'] === true ? ['(every occurrence)'] : [];
  // Half of the room each: however much is replaced, what replaces it is seen.
  const room = (PART_LIMIT - ASIDE_LIMIT) / 2;
  const end = before.endsWith('\n') && after.endsWith('\n') ? -1 : undefined;
  const changes = [signed(before.slice(0, end), '-', room), signed(after.slice(0, end), '+', room)];
  return joined([path, ...all], changes.filter(Boolean).join('\n'));
}

function signed(text: string, sign: string, limit: number): string {
  if (text === '') return '';
  const lines = reveal(text.slice(0, limit)).replaceAll('\n', `\n${sign}`);
  return cutText(sign + lines, limit, Math.max(0, text.length - limit));
}

/** Lines of which each is a name or a short remark, above the main text, both within the bound. */
function joined(heads: readonly string[], main: string): string {
  const head = heads.map((line) => `${shown(line, ASIDE_LIMIT / 2)}\n`).join('');
  return head + cutText(main, PART_LIMIT - head.length);
}

/** `text` with nothing hidden, within the bound; of a huge one no more than the bound is read. */
function shown(text: string, limit: number): string {
  return cutText(reveal(text.slice(0, limit)), limit, Math.max(0, text.length - limit));
}

function elicitationPreview({ message, schema }: Elicitation): string {
  const omitted = omittedFields(schema);
  const blocks = [
    message === '' ? '' : shown(message, PART_LIMIT / 2),
    fieldsOf(schema).map(fieldText).join('\n'),
    omitted === 0 ? '' : `… (${omitted.toLocaleString('en-US')} more questions)`,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function fieldText({ title, description, options, multi, required }: Field): string {
  const remarks = [multi ? 'several answers' : '', required ? '' : 'optional'].filter(Boolean).join(', ');
  const heading = `${title}${remarks === '' ? '' : ` (${remarks})`}${description === undefined ? '' : `: ${description}`}`;
  const choices = options.map((option) =>
    option.description === undefined ? `  - ${option.label}` : `  - ${option.label}: ${option.description}`,
  );
  return [heading, ...choices].join('\n');
}

const CHOICES_LIMIT = 32;
const DECISIONS = ['allow', 'allow_for_session', 'deny'];

/** Exactly what may be answered, in the runtime's order, each label once. Source: frontend.v2 §8.3. */
export function answersOf(id: number, body: RequestBody): readonly AnswerChoice[] {
  if (body.kind === 'approval') return decisionsOf(id, body.decisions ?? DECISIONS);
  const { kind } = body;
  const answer = (label: string, action: 'accept' | 'decline' | 'cancel'): AnswerChoice => ({
    label,
    response: { kind, request_id: id, action, content: null },
  });
  const asks = kind === 'elicitation' && fieldsOf(body.schema).length > 0;
  return [answer(asks ? 'Answer…' : 'Accept', 'accept'), answer('Decline', 'decline'), answer('Cancel', 'cancel')];
}

function decisionsOf(id: number, decisions: readonly string[]): readonly AnswerChoice[] {
  const offered = [...new Set(decisions)];
  const choices = offered.slice(0, CHOICES_LIMIT);
  // Whatever else there is no room for, a person can say no.
  if (offered.includes('deny') && !choices.includes('deny')) choices.splice(-1, 1, 'deny');
  const taken = new Set<string>();
  return choices.map((decision) => ({
    label: distinctLabel(humanised(decision), taken),
    response: { kind: 'approval', request_id: id, decision },
  }));
}

/** `allow_for_session` → `Allow for session`, `acceptEdits` → `Accept edits`. */
function humanised(decision: string): string {
  const words = decision
    .slice(0, PART_LIMIT)
    .replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
    .replace(/[_\s]+/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function textIn(args: JsonObject | null, ...names: readonly string[]): string | undefined {
  return names.map((name) => args?.[name]).find((value) => typeof value === 'string');
}

const pathIn = (args: JsonObject | null) => textIn(args, 'path', 'file_path', 'notebook_path');

/** A command as one string or as a program and its arguments. */
function commandIn(args: JsonObject | null): string | undefined {
  const command = args?.['command'];
  if (!Array.isArray(command) || command.length === 0) return textIn(args, 'command', 'cmd');
  return command
    .map((word) => (typeof word === 'string' && /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ');
}

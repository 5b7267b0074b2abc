import type { JsonObject, RequestBody } from '../protocol/requests.js';
import { cutText, PART_LIMIT, prettyJson, revealedText, revealedTitle } from './bounds.js';
import { filesOfDiff } from './diffFiles.js';
import { fieldsOf, omittedFields, type Field } from './elicitation.js';

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
        : revealedText(body.preview, PART_LIMIT);
  return preview === '' ? undefined : preview;
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
export const formOf = (tool: string) => tool.toLowerCase().replace(/_file$/, '');

function approvalPreview({ tool, subject, args }: Approval): string {
  const known = previewOfForm(formOf(tool), subject, args ?? {});
  if (known !== undefined) return known;
  if (args === null || Object.keys(args).length === 0) return revealedText(subject ?? '', PART_LIMIT);
  const path = pathIn(args);
  return composed(path === undefined ? [] : [path, ''], (room) => prettyJson(args, room));
}

function previewOfForm(form: string, subject: string | null, args: JsonObject): string | undefined {
  switch (form) {
    case 'bash':
      return commandPreview(commandIn(args) ?? subject, args);
    case 'edit':
      return editPreview(args);
    case 'write': {
      const [path, content] = [pathIn(args), textIn(args, 'content')];
      if (path === undefined || content === undefined) return undefined;
      const rest = restOf(args, [...PATH_NAMES, 'content']);
      return composed([path, ''], (room) => (content === '' ? '(empty)' : revealedText(content, room)), rest);
    }
    case 'apply_patch': {
      const patch = textIn(args, 'patch', 'input') ?? subject;
      const rest = restOf(args, ['patch', 'input']);
      return patch === null ? undefined : composed([], (room) => revealedText(patch, room), rest);
    }
    default:
      return undefined;
  }
}

const COMMAND_NAMES = [
  'command',
  'cmd',
  'cwd',
  'workdir',
  'justification',
  'reason',
  'description',
  'timeout',
  'timeout_ms',
];
const ESCAPES = ['with_escalated_permissions', 'dangerouslyDisableSandbox'];

function commandPreview(command: string | null, args: JsonObject): string | undefined {
  if (command === null) return undefined;
  const directory = textIn(args, 'cwd', 'workdir');
  const reason = textIn(args, 'justification', 'reason');
  const asides = [
    ...(directory === undefined ? [] : [`In: ${directory}`]),
    ...(ESCAPES.some((name) => args[name] === true) ? ['Asks to run outside the sandbox.'] : []),
    ...(reason === undefined ? [] : [`Reason: ${reason}`]),
  ];
  const rest = restOf(args, [...COMMAND_NAMES, ...ESCAPES]);
  return composed([], (room) => revealedText(command, room), [...asides, ...rest]);
}

function editPreview(args: JsonObject): string | undefined {
  const path = pathIn(args);
  const [before, after] = [textIn(args, 'old_string'), textIn(args, 'new_string')];
  if (path === undefined || before === undefined || after === undefined) return undefined;
  const all = args['replace_all'] === true ? ['(every occurrence)'] : [];
  const end = before.endsWith('\n') && after.endsWith('\n') ? -1 : undefined;
  // Half of the room each: however much is replaced, what replaces it is seen.
  const changes = (room: number) =>
    [signed(before.slice(0, end), '-', room / 2 - 1), signed(after.slice(0, end), '+', room / 2 - 1)].filter(Boolean);
  const rest = restOf(args, [...PATH_NAMES, 'old_string', 'new_string', 'replace_all']);
  return composed([path, ...all], (room) => changes(room).join('\n'), rest);
}

function signed(text: string, sign: string, limit: number): string {
  if (text === '') return '';
  return revealedText(text, Math.floor(limit), (shown) => sign + shown.replaceAll('\n', `\n${sign}`));
}

/** Arguments that a form has no words for: a person allows them too. */
function restOf(args: JsonObject, known: readonly string[]): readonly string[] {
  const rest = Object.entries(args).filter(([name]) => !known.includes(name));
  return rest.length === 0 ? [] : [`With: ${prettyJson(Object.fromEntries(rest), ASIDE_LIMIT / 2)}`];
}

/** Room for all that is said beside the main text, and half of it for each line above. */
const ASIDE_LIMIT = 4096;

/** Names and remarks above the main text, others below; the main text has what room they leave. */
function composed(above: readonly string[], main: (room: number) => string, below: readonly string[] = []): string {
  const head = above.map((line) => `${revealedText(line, ASIDE_LIMIT / 2)}\n`).join('');
  const tail = below.length === 0 ? '' : `\n\n${revealedText(below.join('\n'), ASIDE_LIMIT)}`;
  return head + main(PART_LIMIT - head.length - tail.length) + tail;
}

function elicitationPreview({ message, schema }: Elicitation): string {
  const omitted = omittedFields(schema);
  const blocks = [
    message === '' ? '' : revealedText(message, PART_LIMIT / 2),
    fieldsOf(schema).map(fieldText).join('\n'),
    omitted === 0 ? '' : `… (${omitted.toLocaleString('en-US')} more questions)`,
  ];
  return cutText(blocks.filter((block) => block !== '').join('\n\n'), PART_LIMIT);
}

function fieldText({ title, description, options, multi, required }: Field): string {
  const remarks = [multi ? 'several answers' : '', required ? '' : 'optional'].filter(Boolean).join(', ');
  const heading = `${title}${remarks === '' ? '' : ` (${remarks})`}${description === undefined ? '' : `: ${description}`}`;
  const choices = options.map((option) =>
    option.description === undefined ? `  - ${option.label}` : `  - ${option.label}: ${option.description}`,
  );
  return [heading, ...choices].join('\n');
}

export function textIn(args: JsonObject | null, ...names: readonly string[]): string | undefined {
  return names.map((name) => args?.[name]).find((value) => typeof value === 'string');
}

const PATH_NAMES = ['path', 'file_path', 'notebook_path'];
export const pathIn = (args: JsonObject | null) => textIn(args, ...PATH_NAMES);

/** A command as one string or as a program and its arguments. */
function commandIn(args: JsonObject | null): string | undefined {
  const command = args?.['command'];
  if (!Array.isArray(command) || command.length === 0) return textIn(args, 'command', 'cmd');
  return command
    .map((word) => (typeof word === 'string' && /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ');
}

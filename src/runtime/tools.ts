import { messageOf } from '../protocol/messageOf.js';
import { InvalidArguments, optionalNumber, optionalString, stringField } from './arguments.js';
import { Command } from './commands.js';
import { applyPatch, isPatch } from './patch.js';
import { elicitationFor, outcomeOf, parseQuestions } from './questions.js';
import type { RequestBroker } from './requests.js';
import { ToolFailure, type Workspace } from './workspace.js';

export interface ToolContext {
  readonly workspace: Workspace;
  readonly broker: RequestBroker;
  readonly signal: AbortSignal;
}

export type Arguments = Record<string, unknown>;

interface Tool {
  /** The one argument that a decision about the call is about (§8.1, `subject`). */
  readonly subject?: string;
  run(args: Arguments, context: ToolContext): Promise<string>;
}

const BASH_TIMEOUT_MS = 120_000;
const READ_LIMIT_BYTES = 400_000;

export const TOOLS: Readonly<Record<string, Tool>> = {
  bash: { subject: 'command', run: runBash },
  read_file: { subject: 'path', run: readFile },
  write_file: { subject: 'path', run: writeFile },
  edit_file: { subject: 'path', run: editFile },
  apply_patch: {
    subject: 'patch',
    run: (args, { workspace }) => applyPatch(stringField(args, 'patch'), workspace),
  },
  ask_user: { run: askUser },
};

/** The tools above and the four that see to background jobs. */
export const toolCount = Object.keys(TOOLS).length + 4;

export const toolNamed = (name: string): Tool | undefined => (Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined);

export const subjectOf = (name: string, args: Arguments): string | null => {
  const subject = toolNamed(name)?.subject;
  const value = subject === undefined ? undefined : args[subject];
  return typeof value === 'string' ? value : null;
};

/** Calls that are asked about even where nothing else is: who wants out of the sandbox, or hides what it touches. */
export const mustAsk = (name: string, args: Arguments): boolean =>
  args['with_escalated_permissions'] === true ||
  (name === 'apply_patch' && typeof args['patch'] === 'string' && !isPatch(args['patch']));

/** What a failed tool tells the model. */
export const complaintOf = (tool: string, error: unknown): string => {
  if (error instanceof InvalidArguments) return `Error: invalid arguments for tool \`${tool}\`: ${error.message}`;
  const message = messageOf(error);
  return `Error: tool \`${error instanceof ToolFailure ? (error.tool ?? tool) : tool}\` failed: ${message}`;
};

async function runBash(args: Arguments, { workspace, signal }: ToolContext): Promise<string> {
  const line = stringField(args, 'command');
  const timeoutMs = optionalNumber(args, 'timeout_ms') ?? BASH_TIMEOUT_MS;
  const command = new Command(line, workspace.root);
  const kill = (): void => {
    command.kill();
  };
  const timer = setTimeout(kill, timeoutMs);
  signal.addEventListener('abort', kill, { once: true });
  try {
    await command.finished;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  }
  signal.throwIfAborted();
  if (command.killed) throw new ToolFailure(`command timed out after ${duration(timeoutMs)}`);
  return `exit code: ${command.exitCode ?? -1}\n${command.output === '' ? '(no output)' : command.output}`;
}

const duration = (ms: number): string => (ms % 1000 === 0 && ms > 0 ? `${ms / 1000}s` : `${ms}ms`);

async function readFile(args: Arguments, { workspace }: ToolContext): Promise<string> {
  const text = await workspace.read(stringField(args, 'path'));
  const offset = optionalNumber(args, 'offset');
  const limit = optionalNumber(args, 'limit');
  if (offset !== undefined || limit !== undefined) {
    const start = Math.max(0, (offset ?? 1) - 1);
    return lines(text)
      .slice(start, limit === undefined ? undefined : start + limit)
      .join('\n');
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= READ_LIMIT_BYTES) return text;
  const head = text.slice(0, READ_LIMIT_BYTES);
  const shown = head.slice(0, head.lastIndexOf('\n') + 1) || head;
  const count = shown.split('\n').length - 1;
  return `[read_file: file is ${bytes} bytes; showing first ${Buffer.byteLength(shown)} bytes (${count} lines). Pass offset/limit to read more.]\n${shown}`;
}

const lines = (text: string): string[] => (text.endsWith('\n') ? text.slice(0, -1) : text).split(/\r?\n/);

async function writeFile(args: Arguments, { workspace }: ToolContext): Promise<string> {
  const path = stringField(args, 'path');
  const content = stringField(args, 'content');
  await workspace.write(path, content);
  return `Wrote ${Buffer.byteLength(content)} bytes to ${workspace.shown(workspace.absolute(path))}`;
}

async function editFile(args: Arguments, { workspace }: ToolContext): Promise<string> {
  const path = stringField(args, 'path');
  const wanted = optionalString(args, 'old_string');
  const replacement = optionalString(args, 'new_string');
  if (wanted === '') throw new ToolFailure('old_string must not be empty');
  const original = await workspace.read(path);
  const parts = original.split(wanted);
  const count = parts.length - 1;
  if (count === 0) throw new ToolFailure('old_string not found in file');
  if (count > 1 && args['replace_all'] !== true) {
    throw new ToolFailure(`old_string occurs ${count} times; pass replace_all or add more context`);
  }
  await workspace.write(path, parts.join(replacement));
  return `Replaced ${count} occurrence(s) in ${workspace.shown(workspace.absolute(path))}`;
}

async function askUser(args: Arguments, { broker, signal }: ToolContext): Promise<string> {
  const questions = parseQuestions(args);
  const response = await Promise.race([broker.ask('elicitation', elicitationFor(questions)), interrupted(signal)]);
  return outcomeOf(questions, response);
}

/** Unlike an approval, a question does not hold an interrupted turn. */
const interrupted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => {
      reject(new DOMException('The turn was interrupted.', 'AbortError'));
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });

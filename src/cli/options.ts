import { resolve } from 'node:path';
import { messageOf } from '../protocol/messageOf.js';
import type { ConnectionTarget, Permission } from '../protocol/handover.js';
import { permissionsIn, handoverFromEnvironment } from '../services/node/environment.js';
import type { Policy } from '../store/permissions.js';
import { parseArguments } from './arguments.js';
import { NotAttached, UsageError } from './exitCodes.js';

export const CHAT_HELP = `supercode-chat: chat with a coding agent's runtime in the terminal

Usage: supercode-chat [options]

Where to (flags beat the environment; without either, a demo runtime is started):
  --url URL               the runtime's address, http://127.0.0.1:PORT
  --client-id ID          the client that the credential was made for
  --credential-file FILE  the private file with the credential
  --permissions LIST      of observe, interact, approve, terminate; joined by commas

  In the environment: SUPERCODE_FRONTEND_URL, SUPERCODE_FRONTEND_CLIENT_ID,
  SUPERCODE_FRONTEND_CREDENTIAL_FILE, SUPERCODE_FRONTEND_PERMISSIONS.

What to do:
  --prompt TEXT           run one turn and end; - reads the prompt from standard input
  --answer HOW            who answers the agent's requests: ask, allow, session or deny
                          (ask on a terminal, deny otherwise; all but ask decline its questions)
  --history               show the conversation so far first
  --record FILE           write every action to a new log, for supercode-replay
  --json                  one JSON object a line on standard output, all else on standard error
  --help, --version

Without --prompt it asks for prompts until /quit; without a terminal it runs one turn of the demo
runtime that shows text, a tool, an approval and a diff.

Ctrl-C stops the turn; a second Ctrl-C leaves at once.

Exit code: 0 succeeded, 1 failed, 2 bad usage, 3 could not attach, 130 interrupted.
`;

/** What the command line of supercode-chat asks for. */
export type ChatCommand =
  { readonly kind: 'help' } | { readonly kind: 'version' } | { readonly kind: 'chat'; readonly options: ChatOptions };

export interface ChatOptions {
  /** Absent: the embedded runtime. */
  readonly where?: { readonly origin: 'flags' | 'environment'; readonly target: ConnectionTarget };
  /** `null`: all that the credential grants. For the embedded runtime; a target names its own. */
  readonly permissions: readonly Permission[] | null;
  readonly prompt?: string;
  readonly answer?: Policy;
  readonly history: boolean;
  readonly record?: string;
  readonly json: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws `UsageError` and, where the environment says that there is no runtime, `NotAttached`. */
export function chatCommand(argv: readonly string[], env: Environment): ChatCommand {
  const { values } = parseArguments('supercode-chat', {
    args: [...argv],
    options: {
      url: { type: 'string' },
      'client-id': { type: 'string' },
      'credential-file': { type: 'string' },
      permissions: { type: 'string' },
      prompt: { type: 'string' },
      answer: { type: 'string' },
      history: { type: 'boolean' },
      record: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
    },
  });
  if (values.help === true) return { kind: 'help' };
  if (values.version === true) return { kind: 'version' };

  const { prompt, answer, record, history = false, json = false } = values;
  if (prompt?.trim() === '') throw new UsageError('The prompt is empty. Give --prompt some text, or - to read it.');
  if (record === '') throw new UsageError('--record needs the name of a file that does not exist yet.');
  const permissions = values.permissions === undefined ? null : permissionsNamed(values.permissions);
  const where = whereTo(values, permissions, env);
  return {
    kind: 'chat',
    options: {
      ...(where === undefined ? {} : { where }),
      permissions,
      ...(prompt === undefined ? {} : { prompt }),
      ...(answer === undefined ? {} : { answer: policyNamed(answer) }),
      history,
      ...(record === undefined ? {} : { record }),
      json,
    },
  };
}

interface TargetFlags {
  readonly url?: string | undefined;
  readonly 'client-id'?: string | undefined;
  readonly 'credential-file'?: string | undefined;
}

function whereTo(
  { url, 'client-id': clientId, 'credential-file': file }: TargetFlags,
  permissions: readonly Permission[] | null,
  env: Environment,
): ChatOptions['where'] {
  const flags = { '--url': url, '--client-id': clientId, '--credential-file': file };
  const missing = Object.entries(flags).filter(([, value]) => value === undefined || value === '');
  if (url && clientId && file) {
    const credential = { kind: 'file', path: resolve(file) } as const;
    return { origin: 'flags', target: { baseUrl: url, clientId, credential, permissions } };
  }
  if (Object.values(flags).some((value) => value !== undefined)) {
    const names = missing.map(([name]) => name).join(' and ');
    throw new UsageError(`--url, --client-id and --credential-file belong together; give ${names} too.`);
  }
  return fromEnvironment(permissions, env);
}

function fromEnvironment(permissions: readonly Permission[] | null, env: Environment): ChatOptions['where'] {
  const handover = handoverIn(env);
  if (handover === undefined) return undefined;
  if ('unavailable' in handover) throw new NotAttached(handover.unavailable);
  const { target } = handover;
  return { origin: 'environment', target: permissions === null ? target : { ...target, permissions } };
}

function handoverIn(env: Environment) {
  try {
    return handoverFromEnvironment(env);
  } catch (error) {
    const why = messageOf(error);
    throw new UsageError(`${why} Set all four SUPERCODE_FRONTEND_* variables, none, or give the flags.`);
  }
}

function permissionsNamed(list: string): readonly Permission[] {
  try {
    return permissionsIn(list, '--permissions');
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

const POLICIES: readonly Policy[] = ['ask', 'allow', 'session', 'deny'];

function policyNamed(name: string): Policy {
  const policy = POLICIES.find((each) => each === name);
  if (policy !== undefined) return policy;
  throw new UsageError(`--answer can't be ${JSON.stringify(name)}; it is one of ${POLICIES.join(', ')}.`);
}

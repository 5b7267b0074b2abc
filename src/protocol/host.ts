import * as v from 'valibot';
import { PERMISSIONS, type ConnectionTarget } from './handover.js';
import { toHistory } from './hostHistory.js';
import type { HistoryMessage } from './frontend-v2.js';

/** What a conversation runs on; "" is the harness's own default, and as a harness: nobody has chosen. */
export interface Selection {
  readonly harness: string;
  readonly model: string;
  readonly effort: string;
}

/** One entry of a harness's list of models; the first has the id "" and is the harness's default. */
export interface ModelChoice {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** As the harness spells and orders them; null where an older host says nothing of them. */
  readonly efforts: readonly string[] | null;
}

export type HostPermission = 'ask' | 'autoApprove';

/** One conversation of the host's catalogue. */
export interface HostConversation {
  readonly id: string;
  readonly selection: Selection;
  /** Where the harness keeps it; null until that was bound. */
  readonly identity: string | null;
  readonly title: string;
  /** Epoch ms. */
  readonly created: number;
  /** How it starts; it asks where the host says nothing. */
  readonly defaultPermission: HostPermission;
  readonly runtimePolicy: 'default' | 'yolo' | null;
}

export interface HostHarness {
  readonly id: string;
  readonly name: string;
  /** False: it starts by an explicit choice only. */
  readonly autoStart: boolean;
  readonly description: string | null;
}

/** What really runs; each is "" where nothing names one. */
export interface Effective {
  readonly model: string;
  readonly modelName: string;
  readonly effort: string;
}

export type SetupKind = 'login' | 'install';

export interface SetupAction {
  readonly kind: SetupKind;
  readonly harness: string;
  readonly name: string;
  /** To be read, never to be run. */
  readonly command: string;
}

export interface SetupAgent {
  readonly harness: string;
  readonly name: string;
  readonly provider: string | null;
  readonly installed: boolean;
  readonly signedIn: boolean;
  readonly account: string | null;
}

export interface HostSetup {
  /** A runtime is handed over; not: every agent is signed in. */
  readonly ready: boolean;
  readonly actions: readonly SetupAction[];
  /** Null where an older host lists none: the actions tell then. */
  readonly agents: readonly SetupAgent[] | null;
  readonly reason: string | null;
  readonly cwd: string;
}

/** All that a host says of itself. Source: host-controls §4; null stands for what an older host does not say. */
export interface HostSnapshot {
  readonly selection: Selection;
  readonly activeSession: string | null;
  readonly openSessionCommand: string | null;
  readonly revealReadySessionCommand: string | null;
  readonly sessions: readonly HostConversation[];
  /** What the runtime last named as its model. */
  readonly actualModel: string | null;
  /** Where the runtime of the active conversation is; null where there is none. */
  readonly connection: ConnectionTarget | null;
  readonly busy: boolean;
  readonly harnesses: readonly HostHarness[];
  readonly models: readonly ModelChoice[];
  readonly modelsByHarness: Readonly<Record<string, readonly ModelChoice[]>>;
  readonly effective: Effective | null;
  readonly effectiveByHarness: Readonly<Record<string, Effective | null>>;
  readonly configurable: boolean;
  readonly newChatPermission: HostPermission | null;
  readonly setup: HostSetup | null;
}

/** The answer to `/open`: `history` stands in where the runtime itself has no prompt saved. */
export interface OpenedConversation {
  readonly snapshot: HostSnapshot;
  readonly history: readonly HistoryMessage[];
  readonly historyTruncated: boolean;
}

/** The one exact command of a setup step; `program` is run with `arguments`, with no shell. Source: host-controls §8. */
export interface SetupStep {
  readonly kind: SetupKind;
  readonly harness: string;
  readonly name: string;
  readonly command: string;
  readonly cwd: string;
  readonly program: string;
  readonly arguments: readonly string[];
  /** Set over the terminal's own; null where the host sets nothing. */
  readonly env: Readonly<Record<string, string>> | null;
}

const text = v.string();
const flag = v.fallback(v.boolean(), false);
const optionalText = v.fallback(v.nullish(text, null), null);

/** A text that is as wanted. Told by what is loaded anyway: each further part of valibot is a part of every window. */
const textThat = (isWanted: (text: string) => boolean) =>
  v.pipe(
    text,
    v.transform((read) => (isWanted(read) ? read : undefined)),
    text,
  );
const someText = textThat((read) => read !== '');

/** By harness; `of` never fails. */
const byHarness = <const S extends v.GenericSchema>(of: S) =>
  v.fallback(
    v.pipe(
      v.looseObject({}),
      v.transform((members): Readonly<Record<string, v.InferOutput<S>>> =>
        Object.fromEntries(Object.entries(members).map(([name, member]) => [name, v.parse(of, member)])),
      ),
    ),
    {},
  );

const permission = v.picklist(['ask', 'autoApprove']);

/** A list in which an entry that can't be read is left out: one of them must not hide the others. */
const listOf = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.array(v.fallback(v.nullish(schema, null), null)),
    v.transform((entries) => entries.filter((entry): entry is NonNullable<typeof entry> => entry !== null)),
  );

const selection = v.object({ harness: text, model: v.fallback(text, ''), effort: v.fallback(text, '') });
const models = v.fallback(
  listOf(
    v.object({
      id: text,
      name: text,
      description: optionalText,
      efforts: v.fallback(v.nullish(v.array(text), null), null),
    }),
  ),
  [],
);
const effective = v.fallback(
  v.nullish(
    v.object({ model: v.fallback(text, ''), modelName: v.fallback(text, ''), effort: v.fallback(text, '') }),
    null,
  ),
  null,
);

/** It becomes the authority of a URI. */
const conversationId = textThat((read) => /^[a-zA-Z0-9-]{1,80}$/.test(read));

const conversation = v.object({
  id: conversationId,
  selection,
  identity: optionalText,
  title: v.fallback(text, ''),
  created: v.pipe(v.number(), v.finite()),
  defaultPermission: v.fallback(permission, 'ask'),
  runtimePolicy: v.fallback(v.nullish(v.picklist(['default', 'yolo']), null), null),
});

const harness = v.object({ id: text, name: text, autoStart: flag, description: optionalText });

const setup = v.object({
  ready: flag,
  actions: v.fallback(
    listOf(
      v.object({ kind: v.picklist(['login', 'install']), harness: text, name: text, command: v.fallback(text, '') }),
    ),
    [],
  ),
  agents: v.fallback(
    v.nullish(
      listOf(
        v.object({
          harness: text,
          name: text,
          provider: optionalText,
          installed: flag,
          signedIn: flag,
          account: optionalText,
        }),
      ),
      null,
    ),
    null,
  ),
  reason: optionalText,
  cwd: v.fallback(text, ''),
});

/** The environment's handover once more (§3). Half of one fails the whole answer: absent would mean that there is none. */
const connection = v.pipe(
  v.object({
    SUPERCODE_FRONTEND_URL: someText,
    SUPERCODE_FRONTEND_CLIENT_ID: someText,
    SUPERCODE_FRONTEND_CREDENTIAL_FILE: someText,
    SUPERCODE_FRONTEND_PERMISSIONS: text,
  }),
  v.transform((wire): ConnectionTarget => {
    const named = wire.SUPERCODE_FRONTEND_PERMISSIONS.split(',').map((name) => name.trim());
    return {
      baseUrl: wire.SUPERCODE_FRONTEND_URL,
      clientId: wire.SUPERCODE_FRONTEND_CLIENT_ID,
      credential: { kind: 'file', path: wire.SUPERCODE_FRONTEND_CREDENTIAL_FILE },
      permissions: PERMISSIONS.filter((each) => each === 'observe' || named.includes(each)),
    };
  }),
);

/** What every door answers with but `/setup`. Unknown members are dropped. */
export const hostSnapshotSchema: v.GenericSchema<unknown, HostSnapshot> = v.object({
  selection,
  activeSession: v.nullish(conversationId, null),
  openSessionCommand: optionalText,
  revealReadySessionCommand: optionalText,
  sessions: listOf(conversation),
  actualModel: optionalText,
  connection: v.nullish(connection, null),
  busy: flag,
  harnesses: v.fallback(listOf(harness), []),
  models,
  modelsByHarness: byHarness(models),
  effective,
  effectiveByHarness: byHarness(effective),
  configurable: flag,
  newChatPermission: v.fallback(v.nullish(permission, null), null),
  setup: v.fallback(v.nullish(setup, null), null),
});

/** What `/open` adds to it. */
export const openedSchema = v.object({
  history: v.pipe(
    v.fallback(v.array(v.unknown()), []),
    v.transform((members) => toHistory(members)),
  ),
  historyTruncated: flag,
});

const environment = v.pipe(
  v.looseObject({}),
  v.transform((members) => Object.entries(members).map(([name, value]) => ({ name, value }))),
  v.array(v.object({ name: text, value: text })),
  v.transform((entries) => Object.fromEntries(entries.map(({ name, value }) => [name, value]))),
);

export const setupStepSchema: v.GenericSchema<unknown, SetupStep> = v.object({
  kind: v.picklist(['login', 'install']),
  harness: text,
  name: v.fallback(text, ''),
  command: v.fallback(text, ''),
  cwd: text,
  program: someText,
  arguments: v.array(text),
  env: v.nullish(environment, null),
});

/** Whether two connections are one attachment: only if all that was handed over is the same (§3). */
export function isSameTarget(one: ConnectionTarget, other: ConnectionTarget): boolean {
  const named = ({ baseUrl, clientId, credential, permissions }: ConnectionTarget) =>
    JSON.stringify([
      baseUrl,
      clientId,
      credential.kind === 'file' ? credential.path : { secret: credential.key },
      permissions,
    ]);
  return named(one) === named(other);
}

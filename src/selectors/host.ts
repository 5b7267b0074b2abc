import type {
  Effective,
  HostConversation,
  HostPermission,
  HostSnapshot,
  ModelChoice,
  SetupAgent,
} from '../protocol/host.js';
import type { ConnectionId } from '../store/connections.js';
import type { HostOperation, HostState, OperationId } from '../store/hostState.js';
import type { RootState } from '../store/state.js';
import { title } from './bounds.js';

/** One conversation of the host's catalogue, as a list shows it. */
export interface ConversationRow {
  readonly id: string;
  readonly title: string;
  /** Epoch ms, and true. */
  readonly created: number;
  readonly harness: string;
  /** "" where it runs on the harness's own default. */
  readonly model: string;
  readonly effort: string;
  readonly isActive: boolean;
  /** Whether the host will find it again. */
  readonly isBound: boolean;
}

/** A coding agent, as it stands. */
export interface AgentRow extends SetupAgent {
  /** Can be chosen now. */
  readonly startable: boolean;
  /** What the host offers to do for it. */
  readonly offers: 'login' | 'install' | null;
}

/** Only a host that says nothing of efforts has these; Source: host-controls §3. */
const EFFORTS_OF_OLDER_HOSTS = ['low', 'medium', 'high'];
const DEFAULT_CHOICE: readonly ModelChoice[] = [{ id: '', name: 'Default', description: null, efforts: [] }];

/** What was made of a value, for as long as the value is the same object. */
function memoised<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

const rowOf = (isActive: boolean) =>
  memoised(({ id, title: named, created, identity, selection }: HostConversation): ConversationRow => ({
    id,
    title: title(named),
    created,
    ...selection,
    isActive,
    isBound: identity !== null,
  }));
const activeRow = rowOf(true);
const otherRow = rowOf(false);

const rowsOf = memoised(({ sessions, activeSession }: HostSnapshot): readonly ConversationRow[] =>
  sessions
    .map((session) => (session.id === activeSession ? activeRow(session) : otherRow(session)))
    .sort((one, other) => other.created - one.created),
);

const agentsOf = memoised(({ setup, harnesses }: HostSnapshot): readonly AgentRow[] => {
  const offered = (harness: string) => setup?.actions.find((action) => action.harness === harness)?.kind ?? null;
  const startable = (harness: string) => harnesses.some(({ id }) => id === harness);
  const listed = setup?.agents ?? agentsOfOlderHosts(setup?.actions ?? [], harnesses);
  return listed.map((agent) => ({
    ...agent,
    name: title(agent.name),
    startable: startable(agent.harness),
    offers: offered(agent.harness),
  }));
});

type Listed = Pick<HostSnapshot, 'harnesses'>['harnesses'];

/** From what can start and what is offered, where nothing lists them. */
function agentsOfOlderHosts(
  actions: readonly { readonly kind: string; readonly harness: string; readonly name: string }[],
  harnesses: Listed,
): readonly SetupAgent[] {
  const unknown = { provider: null, account: null };
  const able = harnesses.map(({ id, name, autoStart }) => ({
    ...unknown,
    harness: id,
    name,
    installed: true,
    signedIn: autoStart && !actions.some(({ kind, harness }) => kind === 'login' && harness === id),
  }));
  const missing = actions
    .filter(({ harness }) => !able.some((agent) => agent.harness === harness))
    .map(({ kind, harness, name }) => ({ ...unknown, harness, name, installed: kind !== 'install', signedIn: false }));
  return [...able, ...missing];
}

const NO_ROWS: readonly ConversationRow[] = [];
const NO_AGENTS: readonly AgentRow[] = [];

/** The catalogue, the newest conversation first; a row that did not change is the same object. */
export function selectConversationRows({ host }: RootState): readonly ConversationRow[] {
  return host.snapshot ? rowsOf(host.snapshot) : NO_ROWS;
}

/** The agents that the host lists, and no others. */
export function selectAgents({ host }: RootState): readonly AgentRow[] {
  return host.snapshot ? agentsOf(host.snapshot) : NO_AGENTS;
}

/** The models of one agent; the default alone where its list is not known. An exact id may always be given. */
export function selectModels({ host }: RootState, harness: string): readonly ModelChoice[] {
  const { snapshot } = host;
  const listed = snapshot?.modelsByHarness[harness] ?? (snapshot?.selection.harness === harness ? snapshot.models : []);
  return listed.length === 0 ? DEFAULT_CHOICE : listed;
}

/** The levels of reasoning of a model, exactly as its harness has them; none where it takes none. */
export function effortsOf({ efforts }: ModelChoice): readonly string[] {
  return efforts ?? EFFORTS_OF_OLDER_HOSTS;
}

/** What the active conversation really runs on; undefined where the host does not name it, and nothing is made up. */
export function selectEffective({ host }: RootState): Effective | undefined {
  return named(host.snapshot?.effective);
}

/** What a new chat with an agent's defaults would run on; undefined as above. */
export function selectEffectiveOf({ host }: RootState, harness: string): Effective | undefined {
  return named(host.snapshot?.effectiveByHarness[harness]);
}

function named(effective: Effective | null | undefined): Effective | undefined {
  return effective && (effective.model !== '' || effective.modelName !== '') ? effective : undefined;
}

/** Whether there is a host, and whether it still answers. */
export function selectHostPhase({ host }: RootState): HostState['phase'] {
  return host.phase;
}

/** Undefined before the first answer: that nothing is known yet is not that nothing is ready. */
export function selectIsReady({ host }: RootState): boolean | undefined {
  return host.snapshot ? isReady(host.snapshot) : undefined;
}

/** Whether a connection is one of the host's conversations, which nobody but the host ends. */
export function selectIsManaged(root: RootState, connection: ConnectionId): boolean {
  return selectConversation(root, connection) !== undefined;
}

export function selectConversation({ host }: RootState, id: string): HostConversation | undefined {
  return host.snapshot?.sessions.find((session) => session.id === id);
}

/** How a conversation of the host starts; undefined for one that is none of its. */
export function selectDefaultPermission(root: RootState, id: string): HostPermission | undefined {
  return selectConversation(root, id)?.defaultPermission;
}

/** What the picker of a new chat shows first. */
export function selectNewChatPermission({ host }: RootState): HostPermission {
  return host.snapshot?.newChatPermission ?? 'ask';
}

export function selectOperation({ host }: RootState, operation: OperationId): HostOperation | undefined {
  return host.operations[operation];
}

/** What a person is told where a conversation could not be saved although its prompt was sent; undefined otherwise. */
export function selectUnsavedNotice({ identity }: RootState, connection: ConnectionId): string | undefined {
  const unsaved = identity[connection]?.unsaved;
  return unsaved === undefined || unsaved === null ? undefined : `${SUBMITTED} (${title(unsaved, REASON_LIMIT)})`;
}

const REASON_LIMIT = 500;
const SUBMITTED =
  'Your prompt was submitted and the agent has it. Only this conversation’s place in the list could not be saved yet: ' +
  'keep this chat open, and do not send the prompt again.';

export function isReady({ setup, connection }: HostSnapshot): boolean {
  return setup ? setup.ready : connection !== null;
}

/** Whether the inventory shows what a step of the setup was for. Nothing else proves it. */
export function isSeen(snapshot: HostSnapshot, { step, harness }: NonNullable<HostState['outstanding']>): boolean {
  const agent = agentsOf(snapshot).find((each) => each.harness === harness);
  return (step === 'login' ? agent?.signedIn : agent?.installed) === true;
}

const SOON_MS = 1_000;
const LATER_MS = 5_000;

/** How long after an answer the host is asked again by itself, in ms; undefined where it is not. */
export function selectPause({ host }: RootState): number | undefined {
  if (!host.watched || host.phase.name !== 'joined') return undefined;
  if (host.outstanding) return SOON_MS;
  return host.snapshot && isReady(host.snapshot) ? undefined : LATER_MS;
}

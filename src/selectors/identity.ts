import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { title } from './bounds.js';

/** Who answers in a conversation, in names that a person knows. */
export interface Identity {
  readonly harness: string;
  /** Undefined where the runtime names none. */
  readonly model: string | undefined;
  /** The editor's icon of the provider (a codicon's name); undefined where it has none. */
  readonly icon: string | undefined;
}

/** The product's own name stands for its own agent, and for one that is not known yet. */
export const PRODUCT_NAME = 'Volter Harness';

/** Source: frontend.v2 §5.1, `source_harness`. */
const HARNESSES: Readonly<Record<string, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'OpenCode',
  pi: 'pi',
  grok: 'Grok',
  gemini: 'Gemini CLI',
  goose: 'Goose',
  openclaw: 'OpenClaw',
  hermes: 'Hermes',
  supercode: PRODUCT_NAME,
};

const ICONS: Readonly<Record<string, string>> = { 'claude-code': 'claude', codex: 'openai' };

export function selectIdentity(root: RootState, connection: ConnectionId | undefined): Identity {
  const descriptor = connection === undefined ? undefined : root.connections[connection]?.descriptor;
  const source = descriptor?.sourceHarness ?? null;
  const harness = source === null ? PRODUCT_NAME : (HARNESSES[source] ?? (title(source) || PRODUCT_NAME));
  // A hosted runtime gives its harness for a model.
  const model = descriptor === undefined || descriptor.model === source ? '' : title(descriptor.model);
  return { harness, model: model === '' ? undefined : model, icon: ICONS[source ?? ''] };
}

/** What a conversation is called where several may be meant: by whoever handed it over, else by who answers in it. */
export function selectConnectionName(root: RootState, connection: ConnectionId): string {
  return title(root.connections[connection]?.label ?? '') || selectIdentityLabel(root, connection);
}

/** One line that names the agent and its model. */
export function selectIdentityLabel(root: RootState, connection: ConnectionId | undefined): string {
  const { harness, model } = selectIdentity(root, connection);
  return model === undefined ? harness : `${harness} · ${model}`;
}

import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Running, type Session } from './host/running.js';
import { listen, Refused, type Door } from './host/transport.js';

export interface Row {
  id: string;
  selection: { harness: string; model: string; effort: string };
  identity: string | null;
  title: string;
  created: number;
  defaultPermission?: 'ask' | 'autoApprove';
}

export interface Agent {
  readonly harness: string;
  readonly name: string;
  readonly provider: string | null;
  installed: boolean;
  /** `unknown`: neither signed in nor refused; it starts by an explicit choice only. */
  auth: 'ready' | 'unknown' | 'missing';
}

/** What the next request of a door meets, in the order in which they were said. */
export interface Step {
  /** Waits for this in front of all else. */
  readonly wait?: Promise<unknown>;
  /** Refuses with this text, where the door has done nothing yet. */
  readonly refuse?: string;
  /** `/select` and `/open`: refuses once the runtime has started and the row is active; there is no connection then. */
  readonly refuseAfterStart?: string;
  /** Does what is asked, and drops the socket in place of the answer. */
  readonly reset?: boolean;
  /** Merged over the answer. */
  readonly with?: object;
}

export const CODEX = (): Agent => ({
  harness: 'codex',
  name: 'Codex',
  provider: 'openai',
  installed: true,
  auth: 'ready',
});
export const CLAUDE = (): Agent => ({
  harness: 'claude-code',
  name: 'Claude Code',
  provider: 'anthropic',
  installed: true,
  auth: 'ready',
});

const LISTING_LIMIT = 500;
const HISTORY_LIMIT = 120;
const CONFIGURABLE = new Set(['claude-code', 'codex']);
const NOBODY = { harness: '', model: '', effort: '' };

/**
 * A lifecycle host over HTTP (host-controls), with embedded runtimes in place of its harnesses. It does what the contract
 * says, traps included; a test says what the next request of a door meets, and edits the state as it likes.
 */
export class HostDouble {
  readonly secret = randomBytes(32).toString('hex');
  readonly cwd: string;
  readonly credentialFile: string;
  url = '';
  agents: Agent[] = [CODEX(), CLAUDE()];
  rows: Row[] = [];
  active: string | null = null;
  running: Running | undefined;
  /** What the harnesses have of their sessions, by native id. */
  readonly store = new Map<string, Session>();
  /** Entries of a listing that are of no interest here: they only fill it. */
  otherSessions = 0;
  newChatPermission: 'ask' | 'autoApprove' | undefined = 'autoApprove';
  tooLong: 'answer' | 'reset' = 'reset';
  /** Each request of a door, with its body. */
  readonly calls: { readonly door: Door; readonly body: unknown }[] = [];
  /** How often the agents were looked for, and runtimes started. */
  inventoryReads = 0;
  starts = 0;
  /** How long it takes to look for the agents. */
  inventory: () => Promise<void> = () => Promise.resolve();
  /** Of what an answer holds at last. */
  edit: (answer: Record<string, unknown>) => Record<string, unknown> = (answer) => answer;
  private readonly folder: string;
  private readonly steps = new Map<Door, Step[]>();
  private server: Server | undefined;
  private lastUsed = NOBODY;
  private outstanding: { readonly kind: string; readonly harness: string } | undefined;
  private reading: Promise<void> | undefined;
  private starting: Promise<void> | undefined;
  private isSelecting = false;
  private handovers = 0;

  private constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'host-double-'));
    chmodSync(this.folder, 0o700);
    this.cwd = realpathSync(mkdtempSync(join(tmpdir(), 'host-project-')));
    this.credentialFile = join(this.folder, 'host-credential');
    writeFileSync(this.credentialFile, this.secret, { mode: 0o600 });
  }

  static async start(): Promise<HostDouble> {
    const host = new HostDouble();
    const { server, url } = await listen({
      secret: host.secret,
      tooLong: () => host.tooLong,
      answer: (door, body, reset) => host.answer(door, body, reset),
    });
    host.server = server;
    host.url = url;
    return host;
  }

  get environment(): Readonly<Record<string, string>> {
    return {
      SUPERCODE_FRONTEND_HOST_URL: this.url,
      SUPERCODE_FRONTEND_HOST_CREDENTIAL_FILE: this.credentialFile,
    };
  }

  /** The next request of this door that finds no other step meets this one. */
  next(door: Door, step: Step): void {
    this.steps.set(door, [...(this.steps.get(door) ?? []), step]);
  }

  count(door: Door): number {
    return this.calls.filter((call) => call.door === door).length;
  }

  /** A conversation that was had before: saved by its harness, and in the catalogue. */
  saved(more: Partial<Row> = {}, history: Session['history'] = [{ role: 'user', content: 'before' }]): Row {
    const nativeId = randomUUID();
    const row: Row = {
      id: randomUUID(),
      selection: { ...NOBODY, harness: 'codex' },
      identity: identityOf('codex', nativeId),
      title: 'before',
      created: 1_791_412_345_678,
      ...more,
    };
    this.rows.push(row);
    this.store.set(nativeId, { nativeId, harness: row.selection.harness, cwd: this.cwd, title: row.title, history });
    return row;
  }

  row(id = this.active): Row {
    const row = this.rows.find((each) => each.id === id);
    if (!row) throw new Refused('This conversation is not known.');
    return row;
  }

  /** A new credential for the runtime that goes on. */
  async replaceCredential(): Promise<void> {
    await this.running?.handOver(++this.handovers);
  }

  /** Nothing listens any more; the runtime lives on, as one does whose host crashed. */
  crash(): void {
    this.server?.closeAllConnections();
    this.server?.close();
  }

  async close(): Promise<void> {
    this.crash();
    await this.running?.stop();
    for (const folder of [this.folder, this.cwd]) rmSync(folder, { recursive: true, force: true });
  }

  private async answer(door: Door, body: unknown, reset: () => void): Promise<unknown> {
    this.calls.push({ door, body });
    const step = this.steps.get(door)?.shift() ?? {};
    await step.wait;
    if (step.refuse !== undefined) throw new Refused(step.refuse);
    const answer = await this.do(door, body, step);
    if (step.reset === true) reset();
    return { ...this.edit(answer), ...step.with };
  }

  private do(door: Door, body: unknown, step: Step): Promise<Record<string, unknown>> {
    switch (door) {
      case 'state':
        return this.state();
      case 'select':
        return this.select(body, step);
      case 'open':
        return this.open(body, step);
      case 'remember':
        return this.remember(body);
      case 'setup':
        return this.setup(body);
    }
  }

  private async state(): Promise<Record<string, unknown>> {
    await this.starting?.catch(() => undefined);
    if (!this.running || this.outstanding) await this.readInventory();
    if (!this.running && !this.isSelecting) {
      this.starting ??= this.startByItself().finally(() => (this.starting = undefined));
      await this.starting;
    }
    return this.snapshot();
  }

  /** Whatever starts without anybody's choice: what was open, what was signed in to, what was used last, the only one. */
  private async startByItself(): Promise<void> {
    const known = this.rows.find(({ id }) => id === this.active);
    const able = this.agents
      .filter(({ installed, auth }) => installed && auth === 'ready')
      .map(({ harness }) => harness);
    if (known && able.includes(known.selection.harness)) {
      await this.run(known, this.sessionOf(known));
      return;
    }
    const named = [this.outstanding?.kind === 'login' ? this.outstanding.harness : '', this.lastUsed.harness, ...able];
    const harness = named.find((each) => able.includes(each));
    if (harness === undefined || this.active !== null) return;
    const selection = harness === this.lastUsed.harness ? this.lastUsed : { ...NOBODY, harness };
    await this.run(this.newRow(selection));
  }

  private async select(body: unknown, step: Step): Promise<Record<string, unknown>> {
    const selection = checkedSelection(body);
    if (this.isSelecting) throw new Refused('A selection is already being applied.');
    this.isSelecting = true;
    try {
      await this.refuseWhileBusy();
      if (
        !this.agents.some(
          ({ harness, installed, auth }) => harness === selection.harness && installed && auth !== 'missing',
        )
      ) {
        throw new Refused('This agent can’t start now: sign in to it first.');
      }
      await this.stopRunning();
      await this.run(this.newRow(selection), undefined, step.refuseAfterStart);
      this.lastUsed = selection;
      return await this.snapshot();
    } finally {
      this.isSelecting = false;
    }
  }

  private async open(body: unknown, step: Step): Promise<Record<string, unknown>> {
    const id = member(body, 'id', /^[a-zA-Z0-9-]{1,80}$/);
    const row = this.row(id);
    if (row.id === this.active && this.running)
      return { ...(await this.snapshot()), ...historyOf(this.sessionOf(row)) };
    await this.refuseWhileBusy();
    let session = this.sessionOf(row);
    if (row.identity !== null && !session) {
      // Only a complete listing proves that it is gone.
      if (this.listed(row.selection.harness).length + this.otherSessions >= LISTING_LIMIT) {
        throw new Refused('The history of this conversation is not available.');
      }
      row.identity = null;
      session = undefined;
    }
    const replaced = async () => {
      await this.stopRunning();
      await this.run(row, session, step.refuseAfterStart);
    };
    // A reading in the gap waits behind the replacement, and starts nothing by itself.
    this.starting = replaced().finally(() => (this.starting = undefined));
    await this.starting;
    return { ...(await this.snapshot()), ...historyOf(session) };
  }

  private async remember(body: unknown): Promise<Record<string, unknown>> {
    const id = member(body, 'id', /^/);
    const nativeId = member(body, 'nativeId', /^.{1,200}$/);
    if (id !== this.active || this.isSelecting) throw new Refused('This conversation is not the active one.');
    const row = this.row(id);
    await this.save();
    const session = this.store.get(nativeId);
    if (session?.harness !== row.selection.harness || session.cwd !== this.cwd) {
      throw new Refused('The agent has not saved this conversation yet.');
    }
    const identity = identityOf(session.harness, nativeId);
    if (row.identity !== null && row.identity !== identity && this.sessionOf(row)) {
      throw new Refused('This conversation is bound to another session.');
    }
    Object.assign(row, { identity, title: session.title });
    return this.snapshot();
  }

  private async setup(body: unknown): Promise<Record<string, unknown>> {
    const kind = member(body, 'kind', /^(?:login|install)$/);
    const harness = member(body, 'harness', /^[a-z0-9-]{1,60}$/);
    await this.readInventory();
    const action = this.actions().find((each) => each.kind === kind && each.harness === harness);
    if (!action) throw new Refused('This step is no longer offered.');
    this.outstanding = { kind, harness };
    return {
      ...action,
      cwd: this.cwd,
      program: '/opt/supercode',
      arguments: ['harness', kind, harness],
      env: { PATH: kind === 'install' ? '/opt/bin' : '/opt/agents/bin:/opt/bin' },
    };
  }

  /** Starts the row's harness and hands it over. The row is active from the start on, whatever becomes of the rest. */
  private async run(row: Row, session?: Session, refusal?: string): Promise<void> {
    this.starts += 1;
    const running = await Running.start(row.selection.harness, this.cwd, this.folder, session);
    if (!this.rows.includes(row)) this.rows.push(row);
    this.active = row.id;
    if (refusal !== undefined) {
      await running.stop();
      throw new Refused(refusal);
    }
    this.running = running;
    await running.handOver(++this.handovers);
    this.outstanding = undefined;
  }

  private newRow(selection: Row['selection']): Row {
    const title = selection.model === '' ? selection.harness : selection.model;
    const created = Date.now();
    return { id: randomUUID(), selection, identity: null, title, created, defaultPermission: 'autoApprove' };
  }

  private async stopRunning(): Promise<void> {
    await this.save();
    const { running } = this;
    this.running = undefined;
    await running?.stop();
  }

  /** The harness wrote down what it has, because of the first prompt. */
  private async save(): Promise<void> {
    const session = await this.running?.session(this.cwd);
    if (session) this.store.set(session.nativeId, session);
  }

  private sessionOf({ identity, selection }: Row): Session | undefined {
    return this.listed(selection.harness).find(({ harness, nativeId }) => identityOf(harness, nativeId) === identity);
  }

  private listed(harness: string): readonly Session[] {
    return [...this.store.values()].filter((session) => session.harness === harness && session.cwd === this.cwd);
  }

  private async refuseWhileBusy(): Promise<void> {
    if ((await this.running?.isBusy()) === true) throw new Refused('Finish or cancel the current turn first.');
  }

  private readInventory(): Promise<void> {
    if (!this.reading) {
      this.inventoryReads += 1;
      this.reading = this.inventory().finally(() => (this.reading = undefined));
    }
    return this.reading;
  }

  private actions() {
    const step = (kind: string, { harness, name }: Agent) => {
      return { kind, harness, name, command: `'/opt/supercode' harness ${kind} ${harness}` };
    };
    return [
      ...this.agents
        .filter(({ installed, auth }) => installed && auth === 'missing')
        .map((agent) => step('login', agent)),
      ...this.agents.filter(({ installed }) => !installed).map((agent) => step('install', agent)),
    ];
  }

  private async snapshot(): Promise<Record<string, unknown>> {
    const busy = (await this.running?.isBusy()) ?? false;
    // What follows is of one moment.
    const active = this.rows.find(({ id }) => id === this.active);
    const selection = active?.selection ?? this.lastUsed;
    const startable = this.agents.filter(({ installed, auth }) => installed && auth !== 'missing');
    const byHarness = <T>(value: (harness: string) => T) =>
      Object.fromEntries(startable.map(({ harness }) => [harness, value(harness)]));
    return {
      selection,
      activeSession: this.active,
      openSessionCommand: 'volter.chat.openSession',
      revealReadySessionCommand: 'volter.chat.revealReadySession',
      sessions: this.rows.map((row) => ({ ...row })),
      actualModel: null,
      ...(this.running?.connection ? { connection: this.running.connection } : {}),
      busy,
      harnesses: startable.map(({ harness, name, auth }) => ({
        id: harness,
        name,
        autoStart: auth === 'ready',
        ...(auth === 'unknown' ? { description: 'Authentication unverified' } : {}),
      })),
      models: modelsOf(selection.harness),
      modelsByHarness: byHarness(modelsOf),
      effective: null,
      effectiveByHarness: byHarness(() => null),
      configurable: CONFIGURABLE.has(selection.harness),
      ...(this.newChatPermission === undefined ? {} : { newChatPermission: this.newChatPermission }),
      setup: {
        ready: this.running !== undefined,
        actions: this.actions(),
        agents: this.agents.map(({ harness, name, provider, installed, auth }) => {
          return { harness, name, provider, installed, signedIn: installed && auth === 'ready', account: null };
        }),
        reason: this.running ? null : 'No coding agent was automatically selected.',
        cwd: this.cwd,
      },
    };
  }
}

function historyOf(session: Session | undefined) {
  const history = session?.history ?? [];
  return { history: history.slice(-HISTORY_LIMIT), historyTruncated: history.length > HISTORY_LIMIT };
}

function identityOf(harness: string, nativeId: string): string {
  return `v1:${harness}:${nativeId}`;
}

function modelsOf(harness: string) {
  const efforts = CONFIGURABLE.has(harness) ? ['low', 'medium', 'high'] : [];
  return [{ id: '', name: 'Harness default', efforts }];
}

function member(body: unknown, name: string, pattern: RegExp): string {
  const value = (body as Readonly<Record<string, unknown>> | null)?.[name];
  if (typeof value !== 'string' || !pattern.test(value)) throw new Refused(`The request has no valid ${name}.`);
  return value;
}

function checkedSelection(body: unknown): Row['selection'] {
  const harness = member(body, 'harness', /^[a-z0-9-]{1,60}$/);
  const model = member(body, 'model', /^[^\u0000-\u001f]{0,160}$/);
  const effort = member(body, 'effort', /^(?:[a-z]{1,16})?$/);
  if (!CONFIGURABLE.has(harness) && (model !== '' || effort !== '')) {
    throw new Refused('This agent takes no model and no effort.');
  }
  return { harness, model, effort };
}

/** What a lifecycle host answers, as the wire has it: one signed-in agent, a live conversation and a saved one. */
export const READY = {
  selection: { harness: 'codex', model: '', effort: '' },
  activeSession: 'live-1',
  openSessionCommand: 'volter.chat.openSession',
  revealReadySessionCommand: 'volter.chat.revealReadySession',
  sessions: [
    {
      id: 'live-1',
      selection: { harness: 'codex', model: '', effort: '' },
      identity: null,
      title: 'codex',
      created: 1791500000000,
      defaultPermission: 'autoApprove',
    },
    {
      id: 'saved-2',
      selection: { harness: 'claude-code', model: 'opus', effort: 'xhigh' },
      identity: 'v1:claude-code:9f2c',
      title: 'Repair the lap timer',
      created: 1791412345678,
    },
  ],
  actualModel: null,
  connection: {
    SUPERCODE_FRONTEND_URL: 'http://127.0.0.1:1',
    SUPERCODE_FRONTEND_CLIENT_ID: 'volter-editor-4711-9c1e77aa',
    SUPERCODE_FRONTEND_CREDENTIAL_FILE: '/home/ada/.volter/runtime/frontend-4711/frontend-credential',
    SUPERCODE_FRONTEND_PERMISSIONS: 'observe,interact,approve',
  },
  busy: false,
  harnesses: [
    { id: 'codex', name: 'Codex', autoStart: true },
    { id: 'claude-code', name: 'Claude Code', autoStart: false, description: 'Authentication unverified' },
  ],
  models: [{ id: '', name: 'Harness default', efforts: ['low', 'medium', 'high'] }],
  modelsByHarness: {
    codex: [
      { id: '', name: 'Harness default', efforts: ['low', 'medium', 'high'] },
      { id: 'gpt-6.1-sol', name: 'GPT-6.1-Sol', efforts: ['low', 'medium', 'high', 'xhigh'] },
    ],
    'claude-code': [
      { id: '', name: 'Harness default', efforts: ['low', 'max'] },
      { id: 'opus', name: 'Claude Opus', description: 'Latest model of this name', efforts: [] },
    ],
  },
  effective: { model: 'gpt-6.1-sol', modelName: 'GPT-6.1-Sol', effort: 'medium' },
  effectiveByHarness: {
    codex: { model: 'gpt-6.1-sol', modelName: 'GPT-6.1-Sol', effort: 'medium' },
    'claude-code': { model: 'claude-opus-5-5', modelName: 'Claude Opus 5.5', effort: '' },
  },
  configurable: true,
  newChatPermission: 'autoApprove',
  setup: {
    ready: true,
    actions: [
      { kind: 'login', harness: 'claude-code', name: 'Claude Code', command: "'/opt/x' harness login claude-code" },
    ],
    agents: [
      { harness: 'codex', name: 'Codex', provider: 'openai', installed: true, signedIn: true, account: null },
      {
        harness: 'claude-code',
        name: 'Claude Code',
        provider: 'anthropic',
        installed: true,
        signedIn: false,
        account: null,
      },
    ],
    reason: null,
    cwd: '/home/ada/race',
  },
};

/** The first start, with nothing installed. */
export const NOTHING_READY = {
  selection: { harness: '', model: '', effort: '' },
  activeSession: null,
  sessions: [],
  actualModel: null,
  busy: false,
  harnesses: [],
  models: [{ id: '', name: 'Harness default', efforts: [] }],
  modelsByHarness: {},
  effective: null,
  effectiveByHarness: {},
  configurable: false,
  setup: {
    ready: false,
    actions: [
      { kind: 'install', harness: 'codex', name: 'Codex', command: "'/usr/bin/npm' install -g @openai/codex" },
      { kind: 'install', harness: 'claude-code', name: 'Claude Code', command: "'/usr/bin/npm' install -g x" },
    ],
    agents: [
      { harness: 'codex', name: 'Codex', provider: 'openai', installed: false, signedIn: false, account: null },
      {
        harness: 'claude-code',
        name: 'Claude Code',
        provider: 'anthropic',
        installed: false,
        signedIn: false,
        account: null,
      },
    ],
    reason: 'No coding agent was automatically selected.',
    cwd: '/home/ada/race',
  },
};

/** `value` without one of its members. */
export function lacking<T extends object>(value: T, ...names: readonly (keyof T)[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name as keyof T)));
}

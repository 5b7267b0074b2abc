import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { hostSnapshotSchema, isSameTarget, openedSchema, setupStepSchema } from '../../src/protocol/host.js';
import { toHistory } from '../../src/protocol/hostHistory.js';
import { lacking, NOTHING_READY, READY } from '../support/hostAnswers.js';

const snapshot = (answer: object) => v.parse(hostSnapshotSchema, answer);
const isRefused = (answer: object) => !v.safeParse(hostSnapshotSchema, answer).success;

describe('the snapshot of a host', () => {
  it('is read with everything that it holds, under our names', () => {
    const read = snapshot(READY);
    expect(read.connection).toEqual({
      baseUrl: 'http://127.0.0.1:1',
      clientId: 'volter-editor-4711-9c1e77aa',
      credential: { kind: 'file', path: '/home/ada/.volter/runtime/frontend-4711/frontend-credential' },
      permissions: ['observe', 'interact', 'approve'],
    });
    expect(read.sessions[0]).toEqual({ ...READY.sessions[0], runtimePolicy: null });
    expect(read.sessions[1]?.created).toBe(1791412345678);
    expect(read.modelsByHarness['codex']?.[1]).toEqual({
      id: 'gpt-6.1-sol',
      name: 'GPT-6.1-Sol',
      description: null,
      efforts: ['low', 'medium', 'high', 'xhigh'],
    });
    expect(read.effectiveByHarness['claude-code']).toEqual(READY.effectiveByHarness['claude-code']);
    expect(read.setup).toEqual(READY.setup);
    expect(read.harnesses.map(({ autoStart, description }) => [autoStart, description])).toEqual([
      [true, null],
      [false, 'Authentication unverified'],
    ]);
  });

  it('is read on the first start, with no connection and nobody chosen', () => {
    expect(snapshot(NOTHING_READY)).toMatchObject({
      connection: null,
      activeSession: null,
      selection: { harness: '' },
      openSessionCommand: null,
      revealReadySessionCommand: null,
      newChatPermission: null,
      setup: { ready: false, agents: [{ installed: false }, { installed: false }] },
    });
  });

  it('F18: unknown members, an unknown harness, no provider and no account are taken', () => {
    const strange = {
      harness: 'new-agent',
      name: 'New',
      provider: null,
      installed: true,
      signedIn: true,
      account: null,
    };
    const read = snapshot({
      ...READY,
      more: { deep: [1] },
      harnesses: [{ id: 'new-agent', name: 'New', autoStart: true, glow: 1 }],
      setup: { ...READY.setup, agents: [strange], starterPrompts: ['x'] },
    });
    expect(read).not.toHaveProperty('more');
    expect(read.setup?.agents).toEqual([strange]);
    expect(read.harnesses[0]?.id).toBe('new-agent');
  });

  it('of an older host is read: no setup, no agents, no effective model, no commands', () => {
    const earliest = lacking(
      { ...READY, harnesses: [{ id: 'codex', name: 'Codex' }] },
      'setup',
      'effective',
      'effectiveByHarness',
      'openSessionCommand',
      'revealReadySessionCommand',
      'actualModel',
      'newChatPermission',
      'modelsByHarness',
    );
    expect(snapshot(earliest)).toMatchObject({
      setup: null,
      effective: null,
      effectiveByHarness: {},
      modelsByHarness: {},
      newChatPermission: null,
      harnesses: [{ autoStart: false }],
    });
    expect(snapshot({ ...READY, setup: lacking(READY.setup, 'agents') }).setup?.agents).toBeNull();
  });

  it('tells a list of no efforts from none at all, and keeps their spelling and order', () => {
    const choice = (more: object) =>
      snapshot({ ...READY, models: [{ id: 'm', name: 'M', ...more }] }).models[0]?.efforts;
    expect([choice({}), choice({ efforts: [] }), choice({ efforts: ['low', 'xhigh', 'max'] })]).toEqual([
      null,
      [],
      ['low', 'xhigh', 'max'],
    ]);
  });

  it('F17: a conversation without a default of its own asks, whatever stands at the top or is for new chats', () => {
    const read = snapshot({ ...READY, defaultPermission: 'autoApprove' });
    expect(read.sessions.map(({ defaultPermission }) => defaultPermission)).toEqual(['autoApprove', 'ask']);
    expect(read.newChatPermission).toBe('autoApprove');
    expect(read).not.toHaveProperty('defaultPermission');
  });

  it('one row, agent or model that can’t be read does not hide the others', () => {
    const [row] = READY.sessions;
    const bad = [null, 7, {}, { ...row, id: '../x' }, { ...row, created: 'today' }, { ...row, selection: null }];
    expect(snapshot({ ...READY, sessions: [...bad, row] }).sessions.map(({ id }) => id)).toEqual(['live-1']);
    expect(snapshot({ ...READY, models: [{}, ...READY.models, 'x'] }).models).toHaveLength(1);
    expect(
      snapshot({ ...READY, setup: { ...READY.setup, agents: [1, ...READY.setup.agents] } }).setup?.agents,
    ).toHaveLength(2);
  });

  it('is not read with half a connection, or with a conversation that can be no address: that is not “no runtime”', () => {
    for (const name of Object.keys(READY.connection)) {
      expect(isRefused({ ...READY, connection: lacking(READY.connection, name as never) }), name).toBe(true);
    }
    for (const wrong of [
      { connection: 'x' },
      { activeSession: '../x' },
      { activeSession: 7 },
      { sessions: undefined },
      { selection: undefined },
    ]) {
      expect(isRefused({ ...READY, ...wrong }), JSON.stringify(wrong)).toBe(true);
    }
    expect(isRefused([])).toBe(true);
    expect(snapshot({ ...READY, connection: null }).connection).toBeNull();
  });

  it('always asks to observe, and for no permission that it does not know', () => {
    const permissions = (list: string) =>
      snapshot({ ...READY, connection: { ...READY.connection, SUPERCODE_FRONTEND_PERMISSIONS: list } }).connection
        ?.permissions;
    expect([permissions(''), permissions('approve, fly'), permissions('interact,observe')]).toEqual([
      ['observe'],
      ['observe', 'approve'],
      ['observe', 'interact'],
    ]);
  });

  it('holds the same connection only where all that was handed over is the same', () => {
    const target = (more: object = {}) => {
      const read = snapshot({ ...READY, connection: { ...READY.connection, ...more } }).connection;
      if (!read) throw new Error('no connection');
      return read;
    };
    expect(isSameTarget(target(), target())).toBe(true);
    for (const name of Object.keys(READY.connection))
      expect(isSameTarget(target(), target({ [name]: 'observe' })), name).toBe(false);
  });
});

describe('the history that a host keeps', () => {
  it('is read as messages, without instructions', () => {
    const history = toHistory([
      { role: 'system', content: 'Be kind.' },
      { role: 'developer', content: 'Be kinder.' },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      { role: 'assistant', text: 'Hi.' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'bash', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: '' },
    ]);
    expect(history.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: Hello',
      'assistant: Hi.',
      'assistant: ',
      'tool: ',
    ]);
    expect(history[2]?.toolCalls).toEqual([{ id: 'c', name: 'bash', arguments: '{}' }]);
  });

  it('keeps what is no message as a preview, and nobody’s words', () => {
    const long = { type: 'thing', payload: 'x'.repeat(100_000) };
    const history = toHistory([7, null, 'words', { role: 5 }, { role: 'user', content: { odd: true } }, long]);
    expect(history.map(({ role }) => role)).toEqual(Array(6).fill('tool'));
    expect(history.map(({ text }) => text.slice(0, 40))).toEqual([
      '7',
      'null',
      '"words"',
      '{"role":5}',
      '{"role":"user","content":{"odd":true}}',
      '{"type":"thing","payload":"xxxxxxxxxxxxx',
    ]);
    expect(history.at(-1)?.text.length).toBeLessThan(2100);
  });

  it('is looked at as far as a host gives it, and is empty where it is none', () => {
    expect(toHistory(Array(500).fill({ role: 'user', content: 'x' }))).toHaveLength(120);
    expect(v.parse(openedSchema, READY)).toEqual({ history: [], historyTruncated: false });
    expect(v.parse(openedSchema, { history: {}, historyTruncated: true })).toEqual({
      history: [],
      historyTruncated: true,
    });
  });
});

describe('a step of the setup', () => {
  const step = {
    kind: 'login',
    harness: 'codex',
    name: 'Codex',
    command: 'x',
    cwd: '/home/ada',
    program: '/opt/supercode',
    arguments: ['harness', 'login'],
  };

  it('is the exact program with its arguments, and the environment of this very answer', () => {
    expect(v.parse(setupStepSchema, step)).toEqual({ ...step, env: null });
    const withPath = { ...step, env: { PATH: '/opt/bin' }, more: 1 };
    expect(v.parse(setupStepSchema, withPath)).toEqual({ ...step, env: { PATH: '/opt/bin' } });
  });

  it('is none without a program, or with arguments that are not text', () => {
    for (const wrong of [
      { program: '' },
      { program: undefined },
      { arguments: 'a b' },
      { arguments: [1] },
      { kind: 'x' },
    ]) {
      expect(v.safeParse(setupStepSchema, { ...step, ...wrong }).success, JSON.stringify(wrong)).toBe(false);
    }
  });
});

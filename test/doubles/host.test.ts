import { request } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRuntimeClient } from '../../src/services/runtime.js';
import { readCredentialFile } from '../../src/services/node/credentialFile.js';
import { CLAUDE, CODEX, HostDouble } from './host.js';

const WRONG = 'f'.repeat(64);

async function startHost(): Promise<HostDouble> {
  const host = await HostDouble.start();
  onTestFinished(() => host.close());
  return host;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** By hand, because `fetch` would not send every header. */
function ask(host: HostDouble, path: string, { method, headers, body }: Asked = {}): Promise<[number, unknown]> {
  return new Promise((resolve, reject) => {
    const sent = request(
      host.url,
      {
        // As it stands: a URL would drop an empty query.
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { authorization: `Bearer ${host.secret}`, connection: 'close', ...headers },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (text += piece));
        response.on('end', () => {
          resolve([response.statusCode ?? 0, JSON.parse(text)]);
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const post = (host: HostDouble, path: string, body: object | string) =>
  ask(host, path, { body: typeof body === 'string' ? body : JSON.stringify(body) });
const select = (host: HostDouble, more: object = {}) =>
  post(host, '/select', { harness: 'codex', model: '', effort: '', ...more });
const REFUSAL = [400, { error: expect.any(String) as string }];

/** As a frontend reaches the runtime that was handed over. */
async function runtimeOf(host: HostDouble) {
  const { connection } = host.running ?? {};
  const file = connection?.['SUPERCODE_FRONTEND_CREDENTIAL_FILE'] ?? '';
  const { token } = await readCredentialFile(file);
  const runtime = createRuntimeClient({
    target: {
      baseUrl: connection?.['SUPERCODE_FRONTEND_URL'] ?? '',
      clientId: connection?.['SUPERCODE_FRONTEND_CLIENT_ID'] ?? '',
      credential: { kind: 'file', path: file },
      permissions: null,
    },
    readCredential: () => Promise.resolve(token),
  });
  return { runtime, file };
}

/** A prompt, and the end of its turn. A runtime works only while somebody listens. */
async function say(host: HostDouble, prompt: string) {
  const { runtime } = await runtimeOf(host);
  const stream = await runtime.openEvents();
  onTestFinished(() => {
    stream.close();
  });
  await runtime.takeControl();
  await runtime.sendInput(prompt);
  for await (const { events } of stream.chunks) {
    if (events.some(({ kind }) => kind === 'turn_succeeded' || kind === 'request')) break;
  }
  return runtime;
}

describe('the double of a lifecycle host', () => {
  it('H1: a request without the secret, with another, without its scheme, or with an origin is forbidden', async () => {
    const host = await startHost();
    const forbidden = [403, { error: 'Forbidden' }];
    for (const authorization of ['', `Bearer ${WRONG}`, host.secret, `bearer ${host.secret}`, 'Bearer']) {
      expect(await ask(host, '/state', { headers: { authorization } }), authorization).toEqual(forbidden);
    }
    expect(await ask(host, '/state', { headers: { origin: 'http://localhost:3000' } })).toEqual(forbidden);
    // In front of method and path.
    expect(await ask(host, '/nowhere', { headers: { authorization: '' } })).toEqual(forbidden);
    expect(host.calls).toEqual([]);
    expect(readFileSync(host.credentialFile, 'utf8')).toBe(host.secret);
  });

  it('H2: another method or path is not found', async () => {
    const host = await startHost();
    for (const [method, path] of [
      ['GET', '/select'],
      ['POST', '/state'],
      ['GET', '/state?'],
      ['GET', '/state?x=1'],
      ['GET', '/state/'],
      ['GET', '/'],
    ] as const) {
      expect(await ask(host, path, { method }), `${method} ${path}`).toEqual([404, {}]);
    }
    expect(host.calls).toEqual([]);
  });

  it('H3: 4096 UTF-16 units are taken, and with one more the socket is reset, or it is refused', async () => {
    const host = await startHost();
    const body = (length: number) => JSON.stringify({ harness: 'codex', model: '', effort: '' }).padEnd(length);
    expect((await post(host, '/select', body(4096)))[0]).toBe(200);
    await expect(post(host, '/select', body(4097))).rejects.toThrow('ECONNRESET');
    host.tooLong = 'answer';
    expect(await post(host, '/select', body(4097))).toEqual(REFUSAL);
    // Units, not bytes.
    const wide = { harness: 'codex', model: 'é'.repeat(150), effort: '', more: '€'.repeat(3000) };
    expect((await post(host, '/select', wide))[0]).toBe(200);
  });

  it.each([
    { harness: 'Codex' },
    { harness: '' },
    { harness: 'x'.repeat(61) },
    { effort: 'x-high' },
    { effort: 'x'.repeat(17) },
    { model: 'a\nb' },
    { model: 'm'.repeat(161) },
    { model: undefined },
    { harness: 'opencode', model: 'm' },
    { harness: 'nobody' },
  ])('H4, H5: %j can’t be selected, and changes nothing', async (more) => {
    const host = await startHost();
    await select(host);
    const before = await ask(host, '/state');
    expect(await select(host, more)).toEqual(REFUSAL);
    expect(await ask(host, '/state')).toEqual(before);
    expect(host.starts).toBe(1);
  });

  it('H4: no JSON and no object are refused', async () => {
    const host = await startHost();
    for (const body of ['', '{', 'null', '[]', '"x"']) expect(await post(host, '/select', body), body).toEqual(REFUSAL);
  });

  it('H6: of two selections at once one is refused', async () => {
    const host = await startHost();
    const answers = await Promise.all([select(host), select(host)]);
    expect(answers.map(([status]) => status).toSorted()).toEqual([200, 400]);
    expect(host.rows).toHaveLength(1);
  });

  it('H7: nothing is selected, and no other conversation opened, while a request waits', async () => {
    const host = await startHost();
    const other = host.saved();
    await select(host);
    await say(host, '/demo tour');
    const before = { active: host.active, connection: host.running?.connection };
    expect(await select(host)).toEqual(REFUSAL);
    expect(await post(host, '/open', { id: other.id })).toEqual(REFUSAL);
    expect({ active: host.active, connection: host.running?.connection }).toEqual(before);
    expect(await ask(host, '/state')).toMatchObject([200, { busy: true }]);
  });

  it('H8, H9: a conversation is bound once its harness has saved it, and while it is the active one', async () => {
    const host = await startHost();
    const other = host.saved();
    await select(host);
    const id = host.active;
    const nativeId = host.running?.nativeId;
    expect(await post(host, '/remember', { id, nativeId })).toEqual(REFUSAL);
    await say(host, 'hello');
    expect(await post(host, '/remember', { id: other.id, nativeId })).toEqual(REFUSAL);
    expect(await post(host, '/remember', { id, nativeId: 'another' })).toEqual(REFUSAL);
    expect(host.row(id).identity).toBeNull();
    const [status, answer] = await post(host, '/remember', { id, nativeId });
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      sessions: [{ id: other.id }, { id, identity: `v1:codex:${String(nativeId)}`, title: 'hello' }],
    });
  });

  it('H8: a row bound to a session that the harness no longer lists is bound anew; one bound to another is not', async () => {
    const host = await startHost();
    await select(host);
    await say(host, 'hello');
    const row = host.row();
    const bind = () => post(host, '/remember', { id: row.id, nativeId: host.running?.nativeId });
    row.identity = host.saved().identity;
    expect(await bind()).toEqual(REFUSAL);
    row.identity = 'v1:codex:gone';
    expect((await bind())[0]).toBe(200);
  });

  it('H10: a step of the setup that is not offered is refused', async () => {
    const host = await startHost();
    host.agents = [
      { ...CODEX(), auth: 'missing' },
      { ...CLAUDE(), installed: false },
    ];
    const login = { kind: 'login', harness: 'codex' };
    expect(await post(host, '/setup', login)).toMatchObject([200, { program: '/opt/supercode', cwd: host.cwd }]);
    expect(await post(host, '/setup', { kind: 'login', harness: 'claude-code' })).toEqual(REFUSAL);
    host.agents = [CODEX()];
    expect(await post(host, '/setup', login)).toEqual(REFUSAL);
  });

  it('H11: ten at once look for the agents once, and start one runtime', async () => {
    const host = await startHost();
    host.agents = [];
    // Until all of them are there.
    host.inventory = async () => {
      while (host.count('state') % 10 !== 0) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    await Promise.all(Array.from({ length: 10 }, () => ask(host, '/state')));
    expect([host.inventoryReads, host.starts]).toEqual([1, 0]);
    host.agents = [CODEX()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(host, '/state')));
    expect([host.inventoryReads, host.starts, host.rows.length]).toEqual([2, 1, 1]);
    expect(answers.every(([, answer]) => (answer as { setup: { ready: boolean } }).setup.ready)).toBe(true);
  });

  it('an agent of unknown sign-in starts by choice only', async () => {
    const host = await startHost();
    host.agents = [{ ...CODEX(), auth: 'unknown' }];
    expect(await ask(host, '/state')).toMatchObject([200, { harnesses: [{ autoStart: false }], activeSession: null }]);
    expect((await select(host))[0]).toBe(200);
  });

  it('a selection that fails after the start leaves its row, active and without a connection', async () => {
    const host = await startHost();
    await select(host);
    host.next('select', { refuseAfterStart: 'No credential.' });
    expect(await select(host)).toEqual([400, { error: 'No credential.' }]);
    expect(host.rows).toHaveLength(2);
    expect(host.active).toBe(host.rows[1]?.id);
    expect(host.running).toBeUndefined();
  });

  it('a new credential is in a new file; the old file is gone and what it held is worth nothing', async () => {
    const host = await startHost();
    await select(host);
    const { runtime, file } = await runtimeOf(host);
    await runtime.describe();
    await host.replaceCredential();
    expect(existsSync(file)).toBe(false);
    await expect(runtime.describe()).rejects.toMatchObject({ reason: 'unauthenticated' });
    await (await runtimeOf(host)).runtime.describe();
  });

  it('a saved conversation is resumed with its history; open already, nothing starts', async () => {
    const host = await startHost();
    const saved = host.saved();
    const open = () => post(host, '/open', { id: saved.id });
    const [, answer] = await open();
    expect(answer).toMatchObject({
      activeSession: saved.id,
      history: [{ role: 'user', content: 'before' }],
      historyTruncated: false,
    });
    const { connection } = answer as { connection: unknown };
    expect((await open())[1]).toMatchObject({ connection });
    expect(host.starts).toBe(1);
    expect(await post(host, '/open', { id: 'nobody' })).toEqual(REFUSAL);
    expect(await post(host, '/open', { id: 'no body' })).toEqual(REFUSAL);
  });

  it('a conversation that is gone starts afresh under its id, where a complete list shows that it is gone', async () => {
    const host = await startHost();
    const gone = host.saved({ identity: 'v1:codex:gone' });
    host.otherSessions = 500;
    expect(await post(host, '/open', { id: gone.id })).toEqual(REFUSAL);
    expect([gone.identity, host.starts]).toEqual(['v1:codex:gone', 0]);
    host.otherSessions = 0;
    expect((await post(host, '/open', { id: gone.id }))[1]).toMatchObject({ activeSession: gone.id, history: [] });
    expect([gone.identity, host.rows.length, host.starts]).toEqual([null, 1, 1]);
  });

  it('a conversation in which nothing was said is opened again under its id', async () => {
    const host = await startHost();
    await select(host, { harness: 'claude-code', model: 'opus', effort: 'high' });
    const [first] = host.rows;
    await select(host);
    const [, answer] = await post(host, '/open', { id: first?.id });
    expect(answer).toMatchObject({ activeSession: first?.id, selection: { model: 'opus' }, history: [] });
    expect(host.rows).toHaveLength(2);
  });
});

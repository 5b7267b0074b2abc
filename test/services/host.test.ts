import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HostGone, HostRefused } from '../../src/protocol/hostRefusal.js';
import { CredentialRefused, TransportFault } from '../../src/protocol/refusal.js';
import { createHostClient, type HostClient, type HostClientOptions } from '../../src/services/host.js';
import { hostFromEnvironment, nodeHostClient } from '../../src/services/node/host.js';
import { HostDouble } from '../doubles/host.js';
import { NOTHING_READY, READY } from '../support/hostAnswers.js';
import { answerJson, errorOf, startPeer, TOKEN, type Handler } from './peer.js';

const none = () => undefined;
const STEP = { kind: 'login', harness: 'codex', name: 'Codex', command: 'x', cwd: '/', program: '/p', arguments: [] };
const SELECTION = { harness: 'codex', model: '', effort: '' };

const CALLS = {
  state: (client: HostClient): Promise<unknown> => client.state(),
  select: (client: HostClient): Promise<unknown> => client.select(SELECTION),
  open: (client: HostClient): Promise<unknown> => client.open('saved-2'),
  remember: (client: HostClient): Promise<unknown> => client.remember('live-1', 'native'),
  setup: (client: HostClient): Promise<unknown> => client.setup('login', 'codex'),
};

function clientAt(baseUrl: string, more: Partial<HostClientOptions> = {}): HostClient {
  return createHostClient({ baseUrl, readCredential: () => Promise.resolve(TOKEN), ...more });
}

function credentialFile(content: string, mode = 0o600): string {
  const folder = mkdtempSync(join(tmpdir(), 'host-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const path = join(folder, 'credential');
  writeFileSync(path, content, { mode });
  chmodSync(path, mode);
  return path;
}

const answering =
  (status: number, value: unknown): Handler =>
  (response) => {
    answerJson(response, status, value);
  };

const good: Handler = (response, { url }) => {
  answerJson(response, 200, url === '/setup' ? STEP : { ...READY, history: [], historyTruncated: false });
};

describe('the calls of a host', () => {
  it('go to exactly its doors, with the secret as a bearer and no origin', async () => {
    const peer = await startPeer(good);
    const client = clientAt(`${peer.url}/`);
    for (const call of Object.values(CALLS)) await call(client);
    expect(peer.seen.map(({ method, url, body }) => `${method} ${url} ${body}`.trim())).toEqual([
      'GET /state',
      'POST /select {"harness":"codex","model":"","effort":""}',
      'POST /open {"id":"saved-2"}',
      'POST /remember {"id":"live-1","nativeId":"native"}',
      'POST /setup {"kind":"login","harness":"codex"}',
    ]);
    for (const { headers } of peer.seen) {
      expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
      expect(headers.origin ?? '').toBe('');
      expect(headers.connection).toBe('close');
    }
  });

  it('are refused in the host’s words, bounded and without the secret', async () => {
    const peer = await startPeer((response) => {
      answerJson(response, 400, { error: `Bearer ${TOKEN} ${'x'.repeat(5000)}` });
    });
    for (const call of Object.values(CALLS)) {
      const error = (await errorOf(call(clientAt(peer.url)))) as Error;
      expect(error).toBeInstanceOf(HostRefused);
      expect(error.message).toHaveLength(2000);
      expect(error.message).toContain('Bearer [credential] xxx');
    }
  });

  it.each([[{}], [{ error: 7 }], [{ error: ' ' }], [null], ['x']])(
    'a refusal with %j says that it says nothing',
    async (body) => {
      const peer = await startPeer((response) => {
        answerJson(response, 400, body);
      });
      const error = (await errorOf(clientAt(peer.url).state())) as Error;
      expect([error.name, error.message]).toEqual(['HostRefused', 'The host refused this without saying why.']);
    },
  );

  it('longer than 4096 UTF-16 units are not sent', async () => {
    const peer = await startPeer(good);
    const client = clientAt(peer.url);
    const frame = JSON.stringify({ id: '' }).length;
    await client.open('x'.repeat(4096 - frame));
    expect(peer.seen).toHaveLength(1);
    expect(await errorOf(client.open('x'.repeat(4097 - frame)))).toBeInstanceOf(HostRefused);
    expect(await errorOf(client.remember('é'.repeat(4096), ''))).toBeInstanceOf(HostRefused);
    expect(peer.seen).toHaveLength(1);
  });

  it('with a socket that is reset are refused, if they change something, and no news if not', async () => {
    const peer = await startPeer((_response, _request, raw) => raw.socket.resetAndDestroy());
    const { state, ...mutations } = CALLS;
    for (const call of Object.values(mutations))
      expect(await errorOf(call(clientAt(peer.url)))).toBeInstanceOf(HostRefused);
    expect(await errorOf(state(clientAt(peer.url)))).toMatchObject({
      name: 'TransportFault',
      kind: 'network',
    });
  });

  it('[defect P29] meet no host where it does not know us or nothing listens', async () => {
    for (const status of [401, 403]) {
      const peer = await startPeer((response) => {
        answerJson(response, status, { error: 'Forbidden' });
      });
      for (const call of Object.values(CALLS)) expect(await errorOf(call(clientAt(peer.url)))).toBeInstanceOf(HostGone);
    }
    const host = await HostDouble.start();
    await host.close();
    for (const call of Object.values(CALLS)) expect(await errorOf(call(clientAt(host.url)))).toBeInstanceOf(HostGone);
  });

  it.each<[string, Handler]>([
    ['no JSON', (response) => response.end('<html>')],
    ['half a snapshot', answering(200, { selection: SELECTION })],
    ['404', answering(404, {})],
    ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['500', answering(500, READY)],
    ['more than is read', (response) => response.writeHead(200, { 'content-length': 17 * 1024 * 1024 }).end()],
  ])('bring no news with %s', async (_what, handler) => {
    const peer = await startPeer(handler);
    const error = (await errorOf(clientAt(peer.url).state())) as TransportFault;
    expect([error.name, error.kind]).toEqual(['TransportFault', 'protocol']);
  });

  it('have as long as a harness may take to start, and no longer', async () => {
    const peer = await startPeer(none);
    const timed = async (call: (client: HostClient) => Promise<unknown>, start: number, other: number) => {
      const error = await errorOf(call(clientAt(peer.url, { timeouts: { start, call: other } })));
      return error instanceof TransportFault && error.kind === 'timeout' ? error.message : error;
    };
    for (const name of ['state', 'select', 'open'] as const) {
      expect(await timed(CALLS[name], 30, 60_000), name).toBe('The host did not answer within 0.03 s.');
    }
    for (const name of ['remember', 'setup'] as const) {
      expect(await timed(CALLS[name], 60_000, 30), name).toBe('The host did not answer within 0.03 s.');
    }
  });

  it('read what the double says, and open what it keeps', async () => {
    const host = await HostDouble.start();
    onTestFinished(() => host.close());
    const saved = host.saved();
    const handover = hostFromEnvironment(host.environment);
    if (!handover) throw new Error('no host');
    const client = nodeHostClient(handover, { log: none });
    expect(await client.state()).toMatchObject({ setup: { ready: true }, connection: { permissions: { length: 3 } } });
    const { snapshot, history } = await client.open(saved.id);
    expect([snapshot.activeSession, history[0]?.text]).toEqual([saved.id, 'before']);
    expect(await errorOf(client.remember(saved.id, 'x'.repeat(4000)))).toBeInstanceOf(HostRefused);
  });
});

describe('F14, in front of any request', () => {
  it.each([
    'http://10.0.0.5:80',
    'https://127.0.0.1',
    'https://127.0.0.1:1',
    'http://127.0.0.1',
    'http://user@127.0.0.1:1',
    'x',
  ])('the address %s is refused, by the host’s name', async (baseUrl) => {
    const sent: URL[] = [];
    const fetch = (url: URL) => {
      sent.push(url);
      return Promise.reject(new Error());
    };
    const client = clientAt(baseUrl, { fetch });
    for (const call of Object.values(CALLS)) {
      const error = (await errorOf(call(client))) as Error;
      expect(error).toBeInstanceOf(CredentialRefused);
      expect(error.message).toContain('The address of the host');
    }
    expect(sent).toEqual([]);
  });

  it.each([
    ['can be read by others', () => credentialFile(TOKEN, 0o644)],
    ['is a byte too long', () => credentialFile(`${TOKEN}\n`)],
    ['is a byte too short', () => credentialFile(TOKEN.slice(1))],
    ['is no hexadecimal number', () => credentialFile(TOKEN.toUpperCase())],
    ['is not there', () => '/nowhere/credential'],
  ])('[defect F93] a credential file that %s is refused', async (_what, file) => {
    const peer = await startPeer(good);
    const client = nodeHostClient({ baseUrl: peer.url, credentialFile: file() }, { log: none });
    for (const call of Object.values(CALLS)) expect(await errorOf(call(client))).toBeInstanceOf(CredentialRefused);
    expect(peer.connections()).toBe(0);
  });

  it('a credential that a reader gives, and that is none, is refused unseen', async () => {
    for (const readCredential of [
      () => Promise.resolve(`${TOKEN}\r\n`),
      () => Promise.reject(new Error(`could not decrypt ${TOKEN}`)),
    ]) {
      const error = await errorOf(clientAt('http://127.0.0.1:1', { readCredential }).state());
      expect(error).toBeInstanceOf(CredentialRefused);
      expect(inspect(error)).not.toContain(TOKEN.slice(0, 8));
    }
  });
});

it.each<[string, Handler]>([
  ['a refusal', answering(400, { error: TOKEN })],
  ['an odd answer', answering(200, { ...NOTHING_READY, sessions: TOKEN, [TOKEN]: TOKEN })],
  ['a status', (response) => response.writeHead(418, `No ${TOKEN}`, { 'x-token': TOKEN }).end(TOKEN)],
  ['no HTTP', (_response, _request, raw) => raw.socket.end(`HTTP/1.1 ${TOKEN}\r\n\r\n`)],
])('the secret is in no error of any call: %s', async (_what, handler) => {
  const peer = await startPeer(handler);
  for (const call of Object.values(CALLS)) {
    const error = (await errorOf(call(clientAt(peer.url)))) as Error;
    for (const text of [error.message, error.stack ?? '', inspect(error, { depth: 10, showHidden: true })]) {
      expect(text).not.toContain(TOKEN.slice(0, 8));
    }
  }
});

describe('the host in the environment', () => {
  it('is one with both of its variables, none with neither, and an error with one', () => {
    const url = { SUPERCODE_FRONTEND_HOST_URL: 'http://127.0.0.1:1' };
    const file = { SUPERCODE_FRONTEND_HOST_CREDENTIAL_FILE: '/c' };
    expect(hostFromEnvironment({ ...url, ...file })).toEqual({ baseUrl: 'http://127.0.0.1:1', credentialFile: '/c' });
    expect(hostFromEnvironment({ SUPERCODE_FRONTEND_URL: 'x', SUPERCODE_FRONTEND_HOST_URL: '' })).toBeUndefined();
    expect(() => hostFromEnvironment(url)).toThrow('SUPERCODE_FRONTEND_HOST_CREDENTIAL_FILE');
    expect(() => hostFromEnvironment(file)).toThrow('SUPERCODE_FRONTEND_HOST_URL');
  });
});

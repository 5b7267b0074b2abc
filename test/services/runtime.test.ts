import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CredentialRefused, isFinal, RuntimeRefusal, TransportFault } from '../../src/protocol/refusal.js';
import {
  answerJson,
  CALLS,
  clientAt,
  DESCRIPTOR,
  errorOf,
  goodResult,
  SNAPSHOT,
  startPeer,
  startRuntime,
  targetAt,
  TOKEN,
  type Handler,
} from './peer.js';

const MIB = 1024 * 1024;

afterEach(() => {
  vi.useRealTimers();
});

describe('a call', () => {
  it('goes out with the wire names and the headers of the contract', async () => {
    const peer = await startRuntime(goodResult);
    const client = clientAt(peer.url);
    for (const call of Object.values(CALLS)) await call(client);

    expect(peer.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(Object.keys(CALLS).map(() => 'POST /rpc'));
    for (const { headers, body } of peer.seen) {
      expect(headers).toMatchObject({
        authorization: `Bearer ${TOKEN}`,
        'x-supercode-client-id': 'editor-1',
        'x-supercode-permissions': 'observe,interact,approve',
        'content-length': String(Buffer.byteLength(body)),
      });
      expect(headers['transfer-encoding']).toBeUndefined();
    }
    const bodies = peer.seen.map(({ body }) => JSON.parse(body) as { id: number; method: string; params: unknown });
    expect(bodies.map(({ method }) => method)).toEqual(Object.keys(CALLS).map((name) => `frontend.v2.${name}`));
    expect(new Set(bodies.map(({ id }) => id)).size).toBe(bodies.length);
    expect(bodies.map(({ params }) => params).filter((params) => JSON.stringify(params) !== '{}')).toEqual([
      { limit: 200 },
      { prompt: 'hello' },
      { prompt: 'left' },
      { response: { kind: 'approval', request_id: 1, decision: 'allow' } },
    ]);
  });

  it('comes back in our own words', async () => {
    const peer = await startRuntime(goodResult);
    const client = clientAt(peer.url);
    expect(await client.describe()).toMatchObject({ sessionId: 's-1', turnState: 'idle' });
    expect(await client.attach()).toMatchObject({ history: [], historyCursor: 0, replay: [], malformed: 0 });
    expect(await client.interrupt()).toBe(true);
    expect(await client.heartbeat()).toEqual({ controller: { clientId: 'editor-1' }, ttlMs: 30_000 });
  });

  it('leaves the prompt as the person wrote it', async () => {
    const peer = await startRuntime(goodResult);
    const prompt = '  /greet\tnow \r\n\u2028 <b> "q" \\ \u{1f600} e\u0301 \u0000 \ud800 ';
    await clientAt(peer.url).sendInput(prompt, ['data:image/png;base64,AA==']);
    const { params } = JSON.parse(peer.seen[0]?.body ?? '') as { params: unknown };
    expect(params).toEqual({ prompt, image_urls: ['data:image/png;base64,AA=='] });
  });

  it('narrows nothing when the target asks for the whole grant, and everything when it asks for nothing', async () => {
    const peer = await startRuntime(goodResult);
    await clientAt(peer.url, { target: targetAt(peer.url, { permissions: null }) }).describe();
    await clientAt(peer.url, { target: targetAt(peer.url, { permissions: [] }) }).describe();
    expect(peer.seen.map(({ headers }) => headers['x-supercode-permissions'])).toEqual([undefined, '']);
  });

  it('asks for a fresh connection each time and gets one', async () => {
    const peer = await startRuntime(goodResult);
    const client = clientAt(peer.url);
    for (let n = 0; n < 5; n += 1) await client.heartbeat();
    await Promise.all([client.lease(), client.lease(), client.lease()]);
    expect(peer.seen.map(({ headers }) => headers.connection)).toEqual(peer.seen.map(() => 'close'));
    expect(peer.connections()).toBe(8);
    await vi.waitFor(() => {
      expect(peer.openConnections()).toBe(0);
    });
  });

  it('reads the credential once for all calls of a client, and again after it could not be read', async () => {
    const peer = await startRuntime(goodResult);
    const readCredential = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new CredentialRefused('not yet'));
    readCredential.mockResolvedValue(TOKEN);
    const client = clientAt(peer.url, { readCredential });
    expect(await errorOf(client.describe())).toEqual(new CredentialRefused('not yet'));
    await Promise.all([client.describe(), client.lease(), client.attach()]);
    expect(readCredential).toHaveBeenCalledTimes(2);
    expect(peer.seen).toHaveLength(3);
  });

  it.each([
    ['a line end', `${TOKEN}\r\nx-evil: 1`],
    ['nothing', ''],
    ['a blank', 'a b'],
    ['a letter outside ASCII', 'schlüssel'],
  ])('is not made with a credential that holds %s', async (_what, token) => {
    const peer = await startRuntime(goodResult);
    const error = await errorOf(clientAt(peer.url, { readCredential: () => Promise.resolve(token) }).describe());
    expect(error).toBeInstanceOf(CredentialRefused);
    expect(peer.connections()).toBe(0);
  });

  it.each(['', 'a b', 'x'.repeat(129), 'a\r\nb', 'ä'])('is not made as the client %j', async (clientId) => {
    const peer = await startRuntime(goodResult);
    const error = await errorOf(clientAt(peer.url, { target: targetAt(peer.url, { clientId }) }).describe());
    expect(error).toBeInstanceOf(CredentialRefused);
    expect(peer.connections()).toBe(0);
  });

  it('that is larger than the runtime takes is not sent', async () => {
    const peer = await startRuntime(goodResult);
    const error = await errorOf(clientAt(peer.url).sendInput('\u00e4'.repeat(8 * MIB)));
    expect(error).toMatchObject({ name: 'RuntimeRefusal', reason: 'invalid_argument' });
    expect(peer.connections()).toBe(0);
    await clientAt(peer.url).sendInput('\u00e4'.repeat(8 * MIB - 100));
    expect(peer.seen).toHaveLength(1);
  });
});

describe('a refusal', () => {
  it('keeps the reason, the permission and the holder', async () => {
    const error = { code: -32032, name: 'controller_required', message: 'no', holder: 'editor-2', expiresAtMs: 5 };
    const peer = await startPeer((response, { body }) => {
      answerJson(response, 200, { id: (JSON.parse(body) as { id: number }).id, error });
    });
    const refusal = await errorOf(clientAt(peer.url).sendInput('x'));
    expect(refusal).toBeInstanceOf(RuntimeRefusal);
    expect(refusal).toMatchObject({ refusal: { reason: 'controller_required', message: 'no', holder: 'editor-2' } });
  });

  it('of a call that the runtime could not even read is one too', async () => {
    const peer = await startPeer((response) => {
      answerJson(response, 200, { id: null, error: { code: -32700, message: 'parse error' } });
    });
    expect(await errorOf(clientAt(peer.url).describe())).toMatchObject({ reason: 'invalid_request' });
  });

  it('has a bounded message', async () => {
    const peer = await startPeer((response, { body }) => {
      const message = 'x'.repeat(500_000);
      answerJson(response, 200, { id: (JSON.parse(body) as { id: number }).id, error: { code: -32002, message } });
    });
    const error = await errorOf(clientAt(peer.url).describe());
    expect(error).toMatchObject({ reason: 'execution' });
    expect((error as Error).message).toHaveLength(2000);
  });

  it.each(recordedRefusals())('recorded as HTTP %i %s says what to do', async (status, body, reason, permission) => {
    const peer = await startPeer((response) => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
    });
    for (const error of [await errorOf(clientAt(peer.url).lease()), await errorOf(clientAt(peer.url).openEvents())]) {
      expect(error).toBeInstanceOf(RuntimeRefusal);
      expect(isFinal(error)).toBe(true);
      expect((error as RuntimeRefusal).refusal).toMatchObject({ reason, ...(permission && { permission }) });
      expect((error as Error).message).toMatch(/[Cc]onnect/);
    }
  });

  it('of the client id says that a minted credential belongs to one', async () => {
    const peer = await startPeer((response) => {
      answerJson(response, 400, { error: 'invalid runtime client id' });
    });
    expect((await errorOf(clientAt(peer.url).lease())) as Error).toMatchObject({
      message: expect.stringMatching(/only with the client id that it was made for/) as string,
    });
  });
});

describe('an answer that is no answer', () => {
  const protocol: readonly (readonly [string, Handler])[] = [
    ['[fault 15] HTML', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['[fault 15] 204 without a body', (response) => response.writeHead(204).end()],
    ['[fault 15] a redirect', (response) => response.writeHead(307, { location: '/elsewhere' }).end()],
    [
      '404',
      (response) => {
        answerJson(response, 404, { error: 'not found' });
      },
    ],
    ['500 with HTML', (response) => response.writeHead(500).end('<html>')],
    ['400 that is not about a header', (response) => response.writeHead(400).end('<html>Bad Request')],
    ['an empty 200', (response) => response.end()],
    ['half a JSON text', (response) => response.end('{"id":1,"resu')],
    [
      'another call’s id',
      (response) => {
        answerJson(response, 200, { id: 999, result: DESCRIPTOR });
      },
    ],
    [
      'another call’s error',
      (response) => {
        answerJson(response, 200, { id: 999, error: { code: -1 } });
      },
    ],
    [
      'the id as a string',
      (response) => {
        answerJson(response, 200, { id: '1', result: DESCRIPTOR });
      },
    ],
    [
      'no id',
      (response) => {
        answerJson(response, 200, { result: DESCRIPTOR });
      },
    ],
    [
      'neither result nor error',
      (response) => {
        answerJson(response, 200, { id: 1 });
      },
    ],
    [
      'result and error',
      (response) => {
        answerJson(response, 200, { id: 1, result: DESCRIPTOR, error: {} });
      },
    ],
    [
      'a list',
      (response) => {
        answerJson(response, 200, [{ id: 1, result: DESCRIPTOR }]);
      },
    ],
    [
      'null',
      (response) => {
        answerJson(response, 200, null);
      },
    ],
    [
      'a null result',
      (response) => {
        answerJson(response, 200, { id: 1, result: null });
      },
    ],
    [
      'another schema version',
      (response) => {
        answerJson(response, 200, { id: 1, result: { ...DESCRIPTOR, schema_version: 3 } });
      },
    ],
  ];
  it.each(protocol)('%s: is a fault of the protocol', async (_what, handler) => {
    const peer = await startPeer(handler);
    const error = await errorOf(clientAt(peer.url).describe());
    expect(error).toBeInstanceOf(TransportFault);
    expect(error).toMatchObject({ kind: 'protocol' });
    expect(peer.seen).toHaveLength(1);
  });

  it('names the place that does not fit', async () => {
    const peer = await startRuntime(() => ({ ...SNAPSHOT, descriptor: { ...DESCRIPTOR, turn_state: 'asleep' } }));
    expect((await errorOf(clientAt(peer.url).attach())) as Error).toMatchObject({
      message: 'The answer to attach does not fit frontend.v2 (at descriptor.turn_state).',
    });
  });

  it.each([
    ['503 in seconds', 503, '7', 7000],
    ['429 in seconds', 429, '0', 0],
    ['429 at a date', 429, 'Thu, 01 Jan 1970 00:01:30 GMT', 30_000],
    ['429 at a date gone by', 429, 'Thu, 01 Jan 1970 00:00:30 GMT', 0],
    ['503 without a word', 503, undefined, undefined],
    ['503 with nonsense', 503, 'soon', undefined],
    ['503 for a million years', 503, '31536000000000', 3_600_000],
  ])('[fault 15] %s: says how long to wait', async (_what, status, retryAfter, expected) => {
    const peer = await startPeer((response) => {
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      response.writeHead(status).end('busy');
    });
    const client = clientAt(peer.url, { wall: () => 60_000 });
    for (const error of [await errorOf(client.describe()), await errorOf(client.openEvents())]) {
      expect(error).toBeInstanceOf(TransportFault);
      expect(error).toMatchObject({ kind: 'http', retryAfterMs: expected });
    }
  });

  it('[fault 15] 401 in mid-life: is final, and the credential is not asked for again', async () => {
    let known = true;
    const peer = await startPeer((response, { body }) => {
      if (!known) {
        answerJson(response, 401, { id: null, error: { code: -32030, name: 'unauthenticated', message: 'no' } });
        return;
      }
      known = false;
      answerJson(response, 200, { id: (JSON.parse(body) as { id: number }).id, result: DESCRIPTOR });
    });
    const readCredential = vi.fn(() => Promise.resolve(TOKEN));
    const client = clientAt(peer.url, { readCredential });
    await client.describe();
    const error = await errorOf(client.heartbeat());
    expect(error).toMatchObject({ name: 'RuntimeRefusal', reason: 'unauthenticated' });
    expect(isFinal(error)).toBe(true);
    expect(readCredential).toHaveBeenCalledTimes(1);
  });

  it('[fault 15] a redirect is not followed, so the bearer goes nowhere else', async () => {
    const elsewhere = await startPeer((response) => response.end('{}'));
    for (const status of [301, 302, 303, 307, 308]) {
      const peer = await startPeer((response) =>
        response.writeHead(status, { location: `${elsewhere.url}/rpc` }).end(),
      );
      expect(await errorOf(clientAt(peer.url).describe())).toMatchObject({ name: 'TransportFault' });
      expect(await errorOf(clientAt(peer.url).openEvents())).toMatchObject({ name: 'TransportFault' });
      expect(peer.seen).toHaveLength(2);
    }
    expect(elsewhere.connections()).toBe(0);
  });
});

describe('a broken line', () => {
  it('before an answer is a network fault with the system’s own code', async () => {
    const gone = await startPeer((response, _request, raw) => {
      raw.socket.destroy();
      response.destroy();
    });
    expect(await errorOf(clientAt(gone.url).describe())).toMatchObject({ name: 'TransportFault', kind: 'network' });
    const refused = await errorOf(clientAt(await closedPort()).describe());
    expect(refused).toMatchObject({
      kind: 'network',
      message: 'Nothing listens at the address of the runtime (ECONNREFUSED). Is it still running?',
    });
  });

  it('in the middle of an answer is one too', async () => {
    const peer = await startPeer((response, _request, raw) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"id":1');
      setTimeout(() => raw.socket.destroy(), 20);
    });
    expect(await errorOf(clientAt(peer.url).describe())).toMatchObject({ name: 'TransportFault', kind: 'network' });
  });

  it.each<[string, Handler]>([
    ['no headers', () => undefined],
    [
      'headers and no body',
      (response) => {
        response.writeHead(200, { 'content-length': 10 }).flushHeaders();
      },
    ],
    [
      'half a body',
      (response) => {
        response.writeHead(200, { 'content-length': 10 }).write('{');
      },
    ],
    [
      'a 403 without its body',
      (response) => {
        response.writeHead(403, { 'content-length': 10 }).flushHeaders();
      },
    ],
  ])('that brings %s ends in time, and the socket is given up', async (_what, handler) => {
    const peer = await startPeer(handler);
    const timeouts = { call: 80, attach: 80, prompt: 80 };
    const client = clientAt(peer.url, { timeouts });
    for (const call of [client.describe(), client.attach(), client.sendInput('x')]) {
      expect(await errorOf(call)).toMatchObject({ name: 'TransportFault', kind: 'timeout' });
    }
    await vi.waitFor(() => {
      expect(peer.openConnections()).toBe(0);
    });
  });

  const patience = { attach: 60, send_input: 60, steer: 60 };
  it.each(Object.keys(CALLS))('makes %s wait for its own time and no longer', async (name) => {
    vi.useFakeTimers();
    const seconds = (patience as Record<string, number>)[name] ?? 30;
    await expectEndsAfter(seconds, (client) => CALLS[name]?.(client));
  });

  it('makes the opening of a stream wait for 30 s and no longer', async () => {
    vi.useFakeTimers();
    await expectEndsAfter(30, (client) => client.openEvents());
  });

  it('leaves no timer behind', async () => {
    const peer = await startRuntime(goodResult);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await clientAt(peer.url).describe();
    await errorOf(clientAt('http://127.0.0.1:1').describe());
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the size of an answer', () => {
  const padded = (bytes: number) => {
    const text = (model: string) => JSON.stringify({ id: 1, result: { ...DESCRIPTOR, model } });
    return text('x'.repeat(bytes - text('').length));
  };

  it('is bounded at 1 MiB, counted in bytes', async () => {
    const fits = await startPeer((response) => response.end(padded(MIB)));
    expect((await clientAt(fits.url).describe()).model.length).toBeGreaterThan(MIB - 1000);
    const over = await startPeer((response) => response.end(padded(MIB + 1)));
    expect(await errorOf(clientAt(over.url).describe())).toMatchObject({ name: 'TransportFault', kind: 'protocol' });
    const wide = await startPeer((response) => response.end(padded(MIB / 2 + 10_000).replaceAll('x', 'ä')));
    expect(await errorOf(clientAt(wide.url).describe())).toMatchObject({ name: 'TransportFault', kind: 'protocol' });
  });

  it('that is too large for a snapshot has fewer messages asked for, and is not read', async () => {
    const asked: unknown[] = [];
    const picture = 'x'.repeat(3 * MIB);
    const runtime = await startPeer((response, request) => {
      const { id, params } = JSON.parse(request.body) as { id: number; params: { limit: number } };
      asked.push(params.limit);
      const history = Array.from({ length: params.limit / 4 }, () => ({ role: 'tool', content: picture }));
      const body = Buffer.from(JSON.stringify({ id, result: { ...SNAPSHOT, history } }));
      response.writeHead(200, { 'content-length': body.byteLength });
      response.end(body);
    });
    const { history } = await clientAt(runtime.url).attach();
    expect(asked).toEqual([200, 40]);
    expect(history).toHaveLength(10);
  });

  it('that stays too large is a fault in the end', async () => {
    let asked = 0;
    const hosted = await startPeer((response) => {
      asked += 1;
      response.writeHead(200, { 'content-length': String(64 * MIB + 1) });
      response.flushHeaders();
    });
    const error = await errorOf(clientAt(hosted.url).attach());
    expect(error).toMatchObject({ name: 'TransportFault', kind: 'protocol' });
    expect((error as Error).message).toContain('67108864');
    expect(asked).toBe(3);
    await vi.waitFor(() => {
      expect(hosted.openConnections()).toBe(0);
    });
  });

  it('is bounded for a snapshot at 64 MiB, and an endless one is not read to its end', async () => {
    const history = [{ role: 'user', content: 'x'.repeat(20 * MIB) }];
    const large = await startRuntime(() => ({ ...SNAPSHOT, history }));
    expect((await clientAt(large.url).attach()).history[0]?.text).toHaveLength(20 * MIB);

    let sent = 0;
    const piece = Buffer.alloc(MIB, ' ');
    const endless = await startPeer((response) => {
      const more = () => {
        while (!response.destroyed) {
          sent += 1;
          if (!response.write(piece)) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    expect(await errorOf(clientAt(endless.url).attach())).toMatchObject({ name: 'TransportFault', kind: 'protocol' });
    await vi.waitFor(() => {
      expect(endless.openConnections()).toBe(0);
    });
    expect(sent).toBeGreaterThanOrEqual(64);
    expect(sent).toBeLessThan(96);
  });
});

/** An address where nobody listens any more. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

function recordedRefusals(): [number, string, string, string | undefined][] {
  const folder = new URL('../fixtures/frontend-v2/', import.meta.url);
  const lines = ['errors.jsonl', 'hosted-errors.jsonl'].flatMap((name) =>
    readFileSync(new URL(name, folder), 'utf8').trimEnd().split('\n'),
  );
  const records = lines.map((line) => JSON.parse(line) as { status?: number; body?: unknown });
  const permissions = new Map([
    ['invalid runtime client id', 'client_id'],
    ['invalid runtime authorization grant', 'authorization'],
  ]);
  return records.flatMap(({ status, body }) => {
    if (status === 401) return [[status, JSON.stringify(body), 'unauthenticated', undefined]];
    if (status !== 400 && status !== 403) return [];
    const { error } = body as { error: string | { permission: string } };
    const permission = typeof error === 'string' ? permissions.get(error) : error.permission;
    return [[status, JSON.stringify(body), 'unauthorized', permission]];
  });
}

async function expectEndsAfter(
  seconds: number,
  call: (client: ReturnType<typeof clientAt>) => Promise<unknown> | undefined,
): Promise<void> {
  const client = clientAt('http://127.0.0.1:1', {
    fetch: (_url, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      }),
  });
  let error: unknown;
  call(client)?.catch((caught: unknown) => (error = caught));
  await vi.advanceTimersByTimeAsync(seconds * 1000 - 1);
  expect(error).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(error).toMatchObject({
    name: 'TransportFault',
    kind: 'timeout',
    message: expect.stringContaining(`${seconds} s`) as string,
  });
}

import { request as httpRequest } from 'node:http';
import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import type { Wire, WireError } from '../wire.js';

const DESCRIBE = JSON.stringify({ id: 1, method: 'frontend.v2.describe' });

export const envelopeRows = (rows: Rows): void => {
  const isNative = rows.kind === 'native';

  rows.row('S01 without a bearer the RPC door and the stream answer 401', async (bench) => {
    const peer = await bench.open();
    const anonymous = withoutToken(await bench.client(peer));
    for (const answer of [
      await anonymous.http('POST', '/rpc', DESCRIBE),
      await anonymous.http('GET', '/frontend/events'),
    ]) {
      expect(answer.status).toBe(401);
      expect(answer.headers.connection).toBe('close');
      expect(answer.json).toEqual(
        isNative
          ? {
              id: null,
              error: {
                code: -32030,
                name: 'unauthenticated',
                operation: null,
                message: 'SDK runtime authentication required',
              },
            }
          : { error: 'missing or invalid bearer token' },
      );
    }
  });

  rows.row('S02 a minted token serves only its own client id', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    for (const stranger of [client.as({ clientId: 'someone-else' }), withoutClientId(client)]) {
      const answer = await stranger.http('POST', '/rpc', DESCRIBE);
      expect(answer.status).toBe(isNative ? 403 : 400);
      expect(answer.json).toEqual(isNative ? forbidden('client_id') : { error: 'invalid runtime client id' });
    }
  });

  rows.row('S03 an unknown permission name refuses the request', async (bench) => {
    const peer = await bench.open();
    const client = (await bench.client(peer)).as({ permissions: 'observe,admin' });
    const answer = await client.http('POST', '/rpc', DESCRIBE);
    expect(answer.status).toBe(isNative ? 403 : 400);
    expect(answer.json).toEqual(
      isNative ? forbidden('authorization') : { error: 'invalid runtime authorization grant' },
    );
  });

  rows.row('S04 an empty permission header permits nothing', async (bench) => {
    const peer = await bench.open();
    const client = (await bench.client(peer)).as({ permissions: '' });
    for (const call of ['describe', 'attach', 'lease', 'heartbeat']) {
      expect(await client.refused(call)).toMatchObject({ code: -32031, name: 'unauthorized', permission: 'observe' });
    }
    expect((await client.open()).status).toBe(403);
  });

  rows.row('S05 a minted token is not accepted as a query parameter', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const answer = await withoutToken(client).http('POST', `/rpc?token=${client.identity.token ?? ''}`, DESCRIBE);
    expect(answer.status).toBe(401);
    const owner = bench.owner(peer);
    const asOwner = await withoutToken(owner).http('POST', `/rpc?token=${peer.ownerToken}`, DESCRIBE);
    expect(asOwner.status).toBe(200);
    const door = `/_supercode/frontend-credentials/mint?token=${peer.ownerToken}`;
    const minted = await withoutToken(owner).http('POST', door, '{"clientId":"a","grant":"observer"}');
    expect(minted.status).toBe(401);
  });

  rows.row('S06 a body that is no request answers HTTP 200 with a parse error and id null', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    for (const body of ['not json', '{"jsonrpc":"2.0","method":"frontend.v2.describe"}', '{"id":1}', '']) {
      const answer = await client.http('POST', '/rpc', body);
      expect(answer.status, body).toBe(200);
      expect(answer.json, body).toMatchObject({ id: null, error: { code: -32700 } });
    }
    const chunked = await postChunked(client, DESCRIBE);
    expect(chunked).toMatchObject({ status: 200, json: { id: null, error: { code: -32700 } } });
  });

  rows.row('S07 an id is echoed as it is', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    for (const id of ['text-id', 7, null, { deep: [1] }]) {
      const body = JSON.stringify({ id, method: 'frontend.v2.lease' });
      const answer = await client.http('POST', '/rpc', body, { connection: 'keep-alive' });
      expect(answer.headers.connection).toBe('keep-alive');
      expect(answer.json).toMatchObject({ id, result: { lease_ttl_ms: peer.leaseTtlMs } });
    }
  });

  rows.row('S08 unknown methods and malformed parameters are told apart', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    expect(await client.refused('unheard_of')).toEqual({
      code: -32601,
      message: 'unknown method `frontend.v2.unheard_of`',
    });
    const malformed: [string, unknown][] = [
      ['send_input', {}],
      ['send_input', { prompt: 5 }],
      ['send_input', { prompt: 'x', image_urls: ['file:///etc/hosts'] }],
      ['send_input', { prompt: 'x', image_urls: 'none' }],
      ['send_input', { prompt: 'x', image_urls: Array(5).fill('https://example.org/a.png') }],
      ['steer', {}],
      ['respond', {}],
      ['respond', { response: { kind: 'approval', request_id: 1, decision: 'maybe' } }],
      ['respond', { response: { kind: 'approval', request_id: -1, decision: 'allow' } }],
      ['invoke', {}],
      ['invoke', { operation: { kind: 'unheard_of', operation_id: 'x' } }],
    ];
    for (const [method, params] of malformed) {
      const error = await client.refused(method, params);
      expect(error.code, `${method} ${JSON.stringify(params)}`).toBe(-32602);
      expect(error.name).toBeUndefined();
    }
    // Nothing of this took control.
    expect(await client.controller()).toBeUndefined();
  });

  rows.row('S09 an unknown path is 404 after authentication and 401 before', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const wrong = [
      ['GET', '/rpc'],
      ['GET', '/nowhere'],
      ['POST', '/frontend/events'],
    ] as const;
    for (const [method, path] of wrong) {
      const answer = await client.http(method, path);
      expect(answer).toMatchObject({ status: 404, json: { error: 'not found' } });
      expect((await withoutToken(client).http(method, path)).status).toBe(401);
    }
  });

  rows.row('S10 a body over 16 MiB closes the connection without an answer', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    expect(await postHuge(client)).toBe('closed');
    expect(await client.lease()).toMatchObject({ controller: null });
  });

  rows.row('S11 asking for terminate does not widen an interactive grant', async (bench) => {
    const peer = await bench.open();
    const client = (await bench.client(peer)).as({ permissions: 'observe,interact,approve,terminate' });
    expect((await client.describe()).actions['close']).toBe(false);
    expect(await client.refused('close')).toMatchObject({ code: -32031, permission: 'terminate' });
  });

  rows.row('S12 the names from before v2 answer like their v2 names', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    for (const name of ['describe', 'attach', 'lease', 'heartbeat']) {
      const old = (await client.rpc(`frontend.${name}`)).result;
      expect(Object.keys(old as object)).toEqual(Object.keys((await client.ok(name)) as object));
    }
    expect((await client.rpc('interrupt')).result).toEqual({ interrupted: false });
    expect((await client.rpc('steer', { prompt: 'x' })).error).toMatchObject({ code: -32020 });
    expect((await client.rpc('respond', {})).error).toMatchObject({ code: -32602 });
    for (const never of [
      'describe',
      'lease',
      'frontend.submit',
      'frontend.steer',
      'toString',
      'frontend.v2.toString',
    ]) {
      expect((await client.rpc(never)).error, never).toMatchObject({ code: -32601 });
    }
    const status = await client.rpc('status');
    if (isNative) expect(status.result).toMatchObject({ busy: false, shutting_down: false });
    else expect(status.error).toMatchObject({ code: -32601 });
  });
};

const forbidden = (permission: string): { id: null; error: WireError } => ({
  id: null,
  error: {
    code: -32031,
    name: 'unauthorized',
    operation: null,
    message: `SDK runtime permission \`${permission}\` is required`,
    permission,
  },
});

const withoutToken = (client: Wire): Wire => {
  const { token: _token, ...identity } = client.identity;
  return client.being(identity);
};

const withoutClientId = (client: Wire): Wire => {
  const { clientId: _clientId, ...identity } = client.identity;
  return client.being(identity);
};

const postChunked = (client: Wire, body: string): Promise<{ status: number | undefined; json: unknown }> =>
  new Promise((resolve, reject) => {
    const headers = { ...client.headers(), 'transfer-encoding': 'chunked', connection: 'close' };
    const request = httpRequest(new URL('/rpc', client.url), { method: 'POST', agent: false, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode, json: JSON.parse(text) as unknown });
      });
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });

const postHuge = (client: Wire): Promise<'closed' | 'answered' | 'open'> =>
  new Promise((resolve) => {
    const headers = { ...client.headers(), 'content-length': 17 * 1024 * 1024 };
    const request = httpRequest(new URL('/rpc', client.url), { method: 'POST', agent: false, headers }, () => {
      resolve('answered');
    });
    request.on('error', () => {
      resolve('closed');
    });
    request.on('close', () => {
      resolve('closed');
    });
    request.write('x'.repeat(65_536));
    setTimeout(() => {
      resolve('open');
      request.destroy();
    }, 2000);
  });

import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import { pause, script, type HttpAnswer, type Wire } from '../wire.js';

const door = (wire: Wire, name: 'mint' | 'revoke', body: unknown): Promise<HttpAnswer> =>
  wire.http('POST', `/_supercode/frontend-credentials/${name}`, JSON.stringify(body));

export const credentialRows = (rows: Rows): void => {
  const isNative = rows.kind === 'native';

  rows.row('S80 mint answers 64 lowercase hexadecimal bytes without a newline', async (bench) => {
    const peer = await bench.open();
    const tokens = new Set<string>();
    for (const grant of ['interactive', 'observer']) {
      const answer = await door(bench.owner(peer), 'mint', { clientId: 'editor-1', grant });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/octet-stream');
      expect(answer.headers['content-length']).toBe('64');
      expect(answer.text).toMatch(/^[0-9a-f]{64}$/);
      tokens.add(answer.text);
    }
    expect(tokens.size).toBe(2);
  });

  rows.row('S81 a scoped token cannot mint, revoke or close; bad ids and grants are refused', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const owner = bench.owner(peer);
    const forbidden = { status: 403, json: { error: { code: -32031, permission: 'bootstrap' } } };
    expect(await door(client, 'mint', { clientId: 'more', grant: 'interactive' })).toMatchObject(forbidden);
    expect(await door(client, 'revoke', { clientId: 'editor-1' })).toMatchObject(forbidden);
    expect(await owner.http('GET', '/_supercode/frontend-credentials/mint')).toMatchObject(forbidden);
    expect(await client.refused('close')).toMatchObject({ code: -32031, permission: 'terminate' });
    const bad = async (name: 'mint' | 'revoke', body: unknown): Promise<unknown> => {
      const answer = await door(owner, name, body);
      expect(answer.status).toBe(400);
      return answer.json;
    };
    expect(await bad('mint', { clientId: 'bad id', grant: 'interactive' })).toEqual({
      error: 'invalid runtime client id',
    });
    expect(await bad('mint', { clientId: 'x'.repeat(129), grant: 'observer' })).toEqual({
      error: 'invalid runtime client id',
    });
    expect(await bad('mint', { clientId: 'ok', grant: 'owner' })).toEqual({
      error: 'grant must be observer or interactive',
    });
    expect(await bad('mint', { grant: 'observer' })).toEqual({ error: 'mint request omitted clientId' });
    expect(await bad('revoke', {})).toEqual({ error: 'revoke request omitted clientId' });
    const malformed = await owner.http('POST', '/_supercode/frontend-credentials/mint', 'not json');
    expect(malformed.status).toBe(400);
  });

  rows.row('S82 revoke ends the streams and invalidates the token', async (bench) => {
    const peer = await bench.open();
    const owner = bench.owner(peer);
    const client = await bench.client(peer, 'editor-2');
    const bystander = await bench.client(peer);
    const stream = await client.listen();
    const other = await bystander.listen();
    await client.ok('take_control');
    expect((await door(owner, 'revoke', { clientId: 'editor-2' })).json).toEqual({ revoked: true });
    if (isNative) await stream.ended;
    expect((await client.http('POST', '/rpc', '{"id":1,"method":"frontend.v2.describe"}')).status).toBe(401);
    expect(await bystander.lease()).toMatchObject({
      controller: null,
      observers: [{ client_id: 'editor-1' }],
    });
    expect(other.hasEnded).toBe(false);
    expect((await door(owner, 'revoke', { clientId: 'editor-2' })).json).toEqual({ revoked: false });
  });

  rows.row('S83 minting again keeps the older tokens of the client valid', async (bench) => {
    const peer = await bench.open();
    const first = await bench.client(peer);
    const second = await bench.client(peer);
    expect(first.identity.token).not.toBe(second.identity.token);
    await first.ok('take_control');
    expect(await second.controller()).toBe('editor-1');
    expect(await first.controller()).toBe('editor-1');
    await door(bench.owner(peer), 'revoke', { clientId: 'editor-1' });
    for (const client of [first, second]) {
      expect((await client.http('POST', '/rpc', '{"id":1,"method":"frontend.v2.lease"}')).status).toBe(401);
    }
  });

  rows.row(
    'S84 close in the middle of a turn: terminal event, end of the stream, connection refused',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(script({ repeat: { n: 300, text: 'w' }, delay: 20 }));
      await stream.until('text_delta');
      expect(await bench.owner(peer).ok('close')).toEqual({ closed: true });
      await stream.ended;
      expect(stream.events.at(-1)?.payload).toEqual({ type: 'turn_interrupted', schema_version: 1 });
      await pause(300);
      await expect(client.call('describe')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    },
    { only: 'native' },
  );

  rows.row(
    'S85 restart: sequences from 1, session and history kept, old credentials void',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send('remember the word heron');
      await stream.turnEnd(0);
      const before = await client.attach();
      await stream.close();
      const restarted = await peer.restart?.();
      if (restarted === undefined) throw new Error('this peer cannot restart');
      const stale = client.being(client.identity);
      const answer = await fetch(`${restarted.url}/rpc`, {
        method: 'POST',
        headers: stale.headers(),
        body: '{"id":1,"method":"frontend.v2.lease"}',
      });
      expect(answer.status).toBe(401);
      const again = await bench.client(restarted);
      const live = await again.listen();
      const after = await again.attach();
      expect(after.descriptor.session_id).toBe(before.descriptor.session_id);
      expect(after.history).toEqual(before.history);
      expect(after).toMatchObject({ history_cursor: 0, replay: [] });
      await again.send('which word');
      await live.turnEnd(0);
      expect(live.events[0]).toMatchObject({ sequence: 1, kind: 'user_message' });
      expect((await again.attach()).history).toHaveLength(5);
    },
    { only: 'native' },
  );
};

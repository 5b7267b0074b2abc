import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import { pause } from '../wire.js';

export const leaseRows = (rows: Rows): void => {
  rows.row('S70 a mutation claims a free lease; holder and expiry are reported when it is taken', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const rival = await bench.client(peer, 'editor-2');
    expect(await client.controller()).toBeUndefined();
    const stream = await client.listen();
    await client.send(peer.prompts.plain);
    const held = (await client.lease()).controller;
    expect(held).toMatchObject({ client_id: 'editor-1' });
    for (const [call, params] of [
      ['send_input', { prompt: 'from the rival' }],
      ['interrupt', {}],
      ['steer', { prompt: 'x' }],
      ['acquire_control', {}],
      ['invoke', { operation: { kind: 'context', operation_id: 'context:usage' } }],
    ] as const) {
      expect(await rival.refused(call, params)).toEqual({
        code: -32032,
        name: 'controller_required',
        operation: null,
        message: 'controller lease required',
        holder: 'editor-1',
        expiresAtMs: held?.expires_at_ms,
      });
    }
    await stream.turnEnd(0, peer.kind);
  });

  rows.row('S71 acquire never displaces a holder, take does', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const rival = await bench.client(peer, 'editor-2');
    expect((await client.lease('acquire_control')).controller?.client_id).toBe('editor-1');
    expect((await client.lease('acquire_control')).controller?.client_id).toBe('editor-1');
    expect(await rival.refused('acquire_control')).toMatchObject({ name: 'controller_required' });
    const taken = await rival.lease('take_control');
    expect(taken.controller?.client_id).toBe('editor-2');
    expect(taken.observers.map(({ client_id }) => client_id)).toEqual(['editor-1', 'editor-2']);
    expect(await client.refused('interrupt')).toMatchObject({ name: 'controller_required', holder: 'editor-2' });
    const left = await rival.lease('detach');
    expect(left.controller).toBeNull();
    expect(left.observers.map(({ client_id }) => client_id)).toEqual(['editor-1']);
    expect(await client.ok('interrupt')).toEqual({ interrupted: false });
  });

  rows.row('S72 an observer can neither mutate nor take control', async (bench) => {
    const peer = await bench.open();
    const watcher = await bench.client(peer, 'watcher-1', 'observer');
    for (const [call, params] of [
      ['send_input', { prompt: 'x' }],
      ['submit', { prompt: 'x' }],
      ['interrupt', {}],
      ['steer', { prompt: 'x' }],
      ['respond', { response: { kind: 'approval', request_id: 1, decision: 'allow' } }],
      ['acquire_control', {}],
      ['take_control', {}],
    ] as const) {
      expect(await watcher.refused(call, params), call).toMatchObject({ code: -32031, permission: 'interact' });
    }
    expect(await watcher.refused('close')).toMatchObject({ code: -32031, permission: 'terminate' });
    expect((await watcher.lease('heartbeat')).observers).toHaveLength(1);
  });

  rows.row('S73 a heartbeat renews only the lease of its holder', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const rival = await bench.client(peer, 'editor-2');
    const acquired = (await client.lease('acquire_control')).controller?.expires_at_ms ?? 0;
    await pause(30);
    const unchanged = await rival.lease('heartbeat');
    expect(unchanged.controller?.expires_at_ms).toBe(acquired);
    expect(unchanged.observers.map(({ client_id }) => client_id)).toEqual(['editor-1', 'editor-2']);
    for (const read of ['describe', 'attach', 'lease']) await client.ok(read);
    expect((await rival.lease()).controller?.expires_at_ms).toBe(acquired);
    const renewed = (await client.lease('heartbeat')).controller?.expires_at_ms ?? 0;
    expect(renewed).toBeGreaterThan(acquired);
    expect(renewed - Date.now()).toBeLessThanOrEqual(peer.leaseTtlMs);
  });

  rows.row(
    'S74 after expiry: no controller, heartbeat succeeds, mutation and acquire are refused, take works',
    async (bench) => {
      const peer = await bench.open({ leaseTtlMs: 200 });
      const client = await bench.client(peer);
      await client.ok('acquire_control');
      await pause(peer.leaseTtlMs + 100);
      expect((await client.lease()).controller).toBeNull();
      expect((await client.lease('heartbeat')).controller).toBeNull();
      const expired = { code: -32033, name: 'lease_expired', operation: null, message: 'controller lease expired' };
      expect(await client.refused('send_input', { prompt: 'expired' })).toEqual(expired);
      expect(await client.refused('acquire_control')).toEqual(expired);
      expect((await client.lease('take_control')).controller?.client_id).toBe('editor-1');
      await pause(peer.leaseTtlMs + 100);
      // A detach, or somebody else's claim, also ends the memory of it.
      await client.ok('detach');
      expect((await client.lease('acquire_control')).controller?.client_id).toBe('editor-1');
      await pause(peer.leaseTtlMs + 100);
      const rival = await bench.client(peer, 'editor-2');
      expect((await rival.lease('acquire_control')).controller?.client_id).toBe('editor-2');
      expect(await client.refused('acquire_control')).toMatchObject({ name: 'controller_required' });
    },
    { timeoutMs: 120_000 },
  );

  rows.row('S75 the lease moves in the middle of a turn, and its new holder answers', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const rival = await bench.client(peer, 'editor-2');
    const stream = await client.listen();
    await rival.listen();
    await client.send(peer.prompts.tool);
    const request = await stream.request(0);
    expect((await rival.respond(request, 'allow')).error).toMatchObject({ name: 'controller_required' });
    await rival.ok('take_control');
    expect((await client.respond(request, 'deny')).error).toMatchObject({ holder: 'editor-2' });
    expect((await client.lease('heartbeat')).controller?.client_id).toBe('editor-2');
    expect((await rival.respond(request, 'allow')).result).toEqual({ accepted: true });
    expect((await stream.turnEnd(0, peer.kind)).kind).toBe('turn_succeeded');
    // Losing control publishes nothing.
    expect(stream.kinds().filter((kind) => /lease|control/.test(kind))).toEqual([]);
  });

  rows.row('S76 respond needs interact, approve and the lease', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    await client.send(peer.prompts.tool);
    const request = await stream.request(0);
    const narrowed = async (permissions: string): Promise<unknown> =>
      (await client.as({ permissions }).respond(request, 'allow')).error;
    expect(await narrowed('observe,approve')).toMatchObject({ code: -32031, permission: 'interact' });
    expect(await narrowed('observe,interact')).toMatchObject({ code: -32031, permission: 'approve' });
    const rival = await bench.client(peer, 'editor-2');
    expect((await rival.respond(request, 'allow')).error).toMatchObject({ name: 'controller_required' });
    expect(await narrowed('observe,interact,approve')).toBeUndefined();
    await stream.turnEnd(0, peer.kind);
  });
};

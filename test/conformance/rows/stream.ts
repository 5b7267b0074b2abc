import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import { bash, pause, script, type WireEvent } from '../wire.js';

export const streamRows = (rows: Rows): void => {
  rows.row(
    'S30 the stream has data lines only, and a keep-alive comment at its interval',
    async (bench) => {
      const peer = await bench.open({ keepAliveMs: 150 });
      const client = await bench.client(peer);
      const opened = Date.now();
      const stream = await client.listen();
      expect(stream.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        connection: 'close',
      });
      expect(stream.headers).not.toHaveProperty('content-length');
      expect(stream.headers).not.toHaveProperty('transfer-encoding');
      await client.send(peer.prompts.plain);
      await stream.turnEnd(0, peer.kind);
      await stream.commented(2);
      const elapsed = Date.now() - opened;
      expect(elapsed).toBeGreaterThan(peer.keepAliveMs * 1.9);
      expect(elapsed).toBeLessThan(peer.keepAliveMs * 2 + 2000);
      expect(stream.comments).toEqual(['keep-alive', 'keep-alive']);
      expect(stream.strayLines).toEqual([]);
      for (const { kind, payload } of stream.events) expect(payload['type']).toBe(kind);
    },
    { timeoutMs: 60_000 },
  );

  rows.row('S31 what is published after the 200 is delivered', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    await client.send(peer.prompts.plain);
    await stream.turnEnd(0, peer.kind);
    expect(stream.events[0]).toMatchObject({ sequence: 1, kind: 'user_message' });
    expect(stream.events[0]?.payload['text']).toBe(peer.prompts.plain);
  });

  rows.row(
    'S32 sequences strictly increase; a native runtime skips two per request before each terminal event',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      const skips: number[] = [];
      for (const requests of [1, 2]) {
        const since = stream.mark;
        await client.send(
          script({ calls: requests === 1 ? [bash('printf a', 'a')] : [bash('printf b', 'b')] }, { text: 'Done.' }),
        );
        await client.respond(await stream.request(since), 'allow');
        await stream.turnEnd(since);
        skips.push(...gapsOf(stream.events).slice(skips.length));
      }
      // One request so far, then two: the second turn carries the first one's request along.
      expect(skips).toEqual([2, 4]);
      const atEnds = stream.events.filter(({ kind }) => kind === 'turn_succeeded').map(({ sequence }) => sequence);
      expect(positionsOfGaps(stream.events)).toEqual(atEnds);
    },
    { only: 'native' },
  );

  rows.row(
    'S32 hosted: sequences are contiguous from 1',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.tool);
      await client.respond(await stream.request(0), 'allow');
      await stream.turnEnd(0, 'hosted');
      expect(stream.events.map(({ sequence }) => sequence)).toEqual(stream.events.map((_, index) => index + 1));
    },
    { only: 'hosted' },
  );

  rows.row('S33 closing any stream of a client detaches it and frees its lease', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const watcher = await bench.client(peer, 'watcher-1', 'observer');
    const first = await client.listen();
    const second = await client.listen();
    await client.ok('take_control');
    expect((await watcher.lease()).observers.map(({ client_id }) => client_id)).toEqual(['editor-1']);
    await second.close();
    await expectSoon(async () => {
      expect(await watcher.lease()).toMatchObject({ controller: null, observers: [] });
    });
    expect(first.hasEnded).toBe(false);
    await client.ok('take_control');
    await first.close();
    await expectSoon(async () => {
      expect(await watcher.controller()).toBeUndefined();
    });
  });

  rows.row(
    'S34 a consumer more than 1024 events behind is let go without a marker; what it got is contiguous',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stalled = await client.listen();
      stalled.stall();
      const reader = await (await bench.client(peer, 'watcher-1', 'observer')).listen();
      // Enough for the stalled consumer's socket buffers (10 MB at most) and its queue, slow enough for the reader.
      const deltas = 2800;
      await client.send(script({ repeat: { n: deltas, text: 'y'.repeat(8000) }, delay: 1 }));
      await reader.until('turn_succeeded', { within: 90_000 });
      stalled.resume();
      await stalled.ended;
      const sequences = stalled.events.map(({ sequence }) => sequence);
      expect(sequences).toEqual(sequences.map((_, index) => index + 1));
      expect(sequences.length).toBeGreaterThan(0);
      expect(sequences.length).toBeLessThan(deltas);
      expect(stalled.kinds()).not.toContain('turn_succeeded');
      expect(reader.events).toHaveLength(deltas + 5);
    },
    { only: 'native', timeoutMs: 120_000 },
  );

  rows.row('S35 every observer receives every event, requests included', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const streams = [
      await client.listen(),
      await (await bench.client(peer, 'editor-2')).listen(),
      await (await bench.client(peer, 'watcher-1', 'observer')).listen(),
    ] as const;
    await client.send(peer.prompts.tool);
    for (const stream of streams) await stream.request(0);
    await client.respond(await streams[0].request(0), 'allow');
    for (const stream of streams) await stream.turnEnd(0, peer.kind);
    expect(streams[1].events).toEqual(streams[0].events);
    expect(streams[2].events).toEqual(streams[0].events);
  });
};

const gapsOf = (events: readonly WireEvent[]): number[] =>
  events.map(({ sequence }, index) => sequence - (events[index - 1]?.sequence ?? 0) - 1).filter((gap) => gap !== 0);

const positionsOfGaps = (events: readonly WireEvent[]): number[] =>
  events
    .filter(({ sequence }, index) => sequence !== (events[index - 1]?.sequence ?? 0) + 1)
    .map(({ sequence }) => sequence);

/** The server notices a closed stream a moment after the client closed it. */
export const expectSoon = async (check: () => Promise<void>, withinMs = 2000): Promise<void> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(20);
    }
  }
};

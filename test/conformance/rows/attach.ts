import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import { bash, pause, script, type WireEvent } from '../wire.js';

export const attachRows = (rows: Rows): void => {
  const isNative = rows.kind === 'native';

  rows.row('S20 the descriptor has schema 2 and actions masked by the effective permissions', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const full = await client.describe();
    expect(full).toMatchObject({
      schema_version: 2,
      turn_state: 'idle',
      connection_state: 'connected',
      display: { opaque_fallback: true },
    });
    expect(full.session_id).toMatch(/./);
    const on = { submit: true, interrupt: true, steer: true, respond: true, detach: true, close: false };
    const off = { submit: false, interrupt: false, steer: false, respond: false, detach: true, close: false };
    expect(full.actions).toEqual(on);
    const masked = async (permissions: string): Promise<unknown> =>
      (await client.as({ permissions }).describe()).actions;
    expect(await masked('observe')).toEqual(off);
    expect(await masked('observe,approve')).toEqual(off);
    expect(await masked('observe,interact')).toEqual({ ...on, respond: false });
    const watcher = await bench.client(peer, 'watcher-1', 'observer');
    expect((await watcher.describe()).actions).toEqual(off);
    // A hosted runtime cannot be closed here, not even by the owner (§1).
    expect((await bench.owner(peer).describe()).actions).toEqual({ ...on, close: isNative });
    expect((await client.attach()).descriptor).toEqual(full);
  });

  rows.row(
    'S21 the history limit defaults to 50 and is clamped to 1…200',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      for (let turn = 0; turn < 30; turn += 1) {
        const since = stream.mark;
        await client.send(script({ text: `turn ${turn}` }));
        await stream.turnEnd(since);
      }
      const lengthFor = async (limit: unknown): Promise<number> => (await client.attach({ limit })).history.length;
      const all = 61;
      expect((await client.attach({})).history).toHaveLength(50);
      expect(await lengthFor(0)).toBe(1);
      expect(await lengthFor(1)).toBe(1);
      expect(await lengthFor(2)).toBe(2);
      expect(await lengthFor(1000)).toBe(all);
      for (const junk of [-1, 'many', null, 1.5, true]) expect(await lengthFor(junk), String(junk)).toBe(50);
      const newest = (await client.attach({ limit: 1 })).history[0];
      expect(newest).toEqual({ role: 'assistant', content: 'turn 29' });
    },
    { only: 'native' },
  );

  rows.row('S22 the first attach of an idle runtime has cursor 0 and an empty replay', async (bench) => {
    const peer = await bench.open();
    const snapshot = await (await bench.client(peer)).attach();
    expect(snapshot).toMatchObject({ history_cursor: 0, replay: [], descriptor: { turn_state: 'idle' } });
    if (isNative) expect(snapshot.history).toMatchObject([{ role: 'system' }]);
    else expect(snapshot.history).toEqual([]);
  });

  rows.row(
    'S23 after a turn: cursor before the re-sequenced requests; replay = requests, answers, terminal event',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.tool);
      const request = await stream.request(0);
      await client.respond(request, 'allow');
      const end = await stream.turnEnd(0);
      const last = stream.events.at(-2);
      const snapshot = await client.attach();
      expect(snapshot.history_cursor).toBe(last?.sequence);
      expect(snapshot.replay.map(({ kind, sequence }) => [sequence - snapshot.history_cursor, kind])).toEqual([
        [1, 'request'],
        [2, 'request_resolved'],
        [3, 'turn_succeeded'],
      ]);
      expect(snapshot.replay[2]).toEqual(end);
      expect(snapshot.replay[0]?.payload).toEqual(request.payload);
      expect(snapshot.history.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
      expect(snapshot.history[2]?.tool_calls).toHaveLength(1);
      expect(snapshot.history[3]).toMatchObject({ content: 'exit code: 0\napproved', tool_call_id: 'call_1' });

      // Another turn carries them on, once each.
      const since = stream.mark;
      await client.send(peer.prompts.plain);
      const next = await stream.turnEnd(since);
      const later = await client.attach();
      expect(later.replay.map(({ kind }) => kind)).toEqual(['request', 'request_resolved', 'turn_succeeded']);
      expect(later.replay[2]).toEqual(next);
      expect(next.sequence - (stream.events.at(-2)?.sequence ?? 0)).toBe(3);
    },
    { only: 'native' },
  );

  rows.row(
    'S24 mid-turn: cursor at the previous turn, replay from there, descriptor busy',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.plain);
      const end = await stream.turnEnd(0);
      const since = stream.mark;
      await client.send(peer.prompts.slow);
      await stream.until('text_delta', { since });
      const snapshot = await client.attach();
      expect(snapshot.history_cursor).toBe(end.sequence - 1);
      expect(snapshot.descriptor.turn_state).toBe('busy');
      expect(snapshot.history.at(-1)).toMatchObject({ role: 'assistant' });
      expect(snapshot.replay.slice(0, 4).map(({ kind }) => kind)).toEqual([
        'turn_succeeded',
        'user_message',
        'turn_started',
        'text_delta',
      ]);
      expect(snapshot.replay[0]).toEqual(end);
      // Snapshot and live stream overlap, and together they are whole (§6.4).
      const seen = new Set([...snapshot.replay, ...stream.events].map(({ sequence }) => sequence));
      expect(Math.max(...seen)).toBe(seen.size);
      await client.ok('interrupt');
      await stream.turnEnd(since);
    },
    { only: 'native' },
  );

  rows.row('S25 after_sequence changes nothing', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    await client.send(peer.prompts.plain);
    await stream.turnEnd(0, peer.kind);
    const other = await bench.client(peer, 'editor-2');
    const late = await other.listen('?after_sequence=99999');
    const { descriptor: _descriptor, ...expected } = await client.attach();
    const { descriptor: _same, ...actual } = await client.attach({ limit: 1000, after_sequence: 99_999 });
    expect(actual).toEqual(expected);
    const since = stream.mark;
    await client.send(peer.prompts.plain);
    await stream.turnEnd(since, peer.kind);
    await late.turnEnd(0, peer.kind);
    expect(late.events).toEqual(stream.since(since));
  });

  rows.row(
    'S26 more than 4096 events since the boundary refuse attach; it works again after the turn',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      // In portions that end in a request each: one long burst could leave the reader itself behind (§6.4).
      const portion = (index: number): Record<string, unknown> => ({
        repeat: { n: 800, text: 'x' },
        calls: [bash(`printf ${index}`, `call_${index}`)],
      });
      const portions = [0, 1, 2, 3, 4, 5];
      await client.send(script(...portions.map(portion), { text: 'Long enough.' }));
      const requests: WireEvent[] = [];
      for (const index of portions) {
        const last = requests.at(-1);
        if (index > 0 && last !== undefined) await client.respond(last, 'allow');
        requests.push(await stream.request(0, requests));
      }
      const request = requests.at(-1) ?? missing();
      const error = await client.refused('attach', { limit: 1000 });
      expect(error).toMatchObject({ code: -32010, name: 'transport', operation: null });
      expect(error.message).toBe(
        `SDK event stream lost ${request.sequence - 4096} event(s); reattach for a fresh snapshot`,
      );
      await client.respond(request, 'deny');
      const end = await stream.turnEnd(0);
      const snapshot = await client.attach();
      expect(snapshot.replay.map(({ kind }) => kind)).toEqual([
        ...portions.flatMap(() => ['request', 'request_resolved']),
        'turn_succeeded',
      ]);
      expect(snapshot.replay.at(-1)).toEqual(end);
      expect(snapshot.history_cursor).toBe(end.sequence - 2 * portions.length - 1);
    },
    { only: 'native', timeoutMs: 60_000 },
  );

  rows.row(
    'S26 hosted: more than 4096 events since the host started refuse attach for good',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      while ((stream.events.at(-1)?.sequence ?? 0) <= 4100) {
        const since = stream.mark;
        await client.send('x');
        await stream.turnEnd(since, 'hosted');
      }
      for (let attempt = 0; attempt < 2; attempt += 1) {
        expect(await client.refused('attach')).toMatchObject({ code: -32010, name: 'transport' });
        const since = stream.mark;
        await client.send('x');
        await stream.turnEnd(since, 'hosted');
        await pause(50);
      }
    },
    { only: 'hosted', timeoutMs: 240_000 },
  );

  rows.row(
    'S27 hosted: cursor 0, the replay starts at 1, the limit is ignored',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      for (const prompt of [peer.prompts.plain, peer.prompts.fail]) {
        const since = stream.mark;
        await client.send(prompt);
        await stream.turnEnd(since, 'hosted');
      }
      for (const limit of [1, 1000]) {
        const snapshot = await client.attach({ limit });
        expect(snapshot.history_cursor).toBe(0);
        expect(snapshot.replay).toEqual(stream.events);
        expect(snapshot.replay[0]?.sequence).toBe(1);
      }
    },
    { only: 'hosted' },
  );
};

const missing = (): never => {
  throw new Error('no request came');
};

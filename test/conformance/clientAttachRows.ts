import { expect } from 'vitest';
import { attached } from '../../src/store/connections.js';
import { traffic } from '../support/traffic.js';
import { soon } from './clientLine.js';
import { slowPrompt, type ClientRows } from './clientRows.js';
import { bash, pause, script, type Descriptor, type Snapshot, type Stream, type WireError } from './wire.js';

/** What the runtime said, as one reader of the raw stream has it. */
export const textOf = (stream: Stream, since = 0): string =>
  stream
    .since(since)
    .map(({ kind, payload }) => (kind === 'text_delta' ? String(payload['text']) : ''))
    .join('');

export const attachRows = (rows: ClientRows): void => {
  rows.row('C01 opens the stream first, then attaches, and removes the overlap by sequence', async (bench) => {
    const peer = await bench.open();
    const other = await bench.wire(peer, 'editor-2');
    const raw = await other.listen();
    await other.send(slowPrompt(peer));
    const client = await bench.client(peer, { permissions: ['observe'] });
    const release = client.line.delay('attach');
    client.open();
    await soon('attach is asked', () => client.line.count('attach') === 1);
    const since = raw.mark;
    await soon('some events pass meanwhile', () => raw.mark > since + 1);
    release();
    await client.attached();
    expect(client.line.names.slice(0, 2)).toEqual(['events', 'attach']);
    await raw.turnEnd(0, peer.kind);
    await client.until('the end', () => client.ends.length === 1);
    const reach = client.actions.find(attached.match)?.payload.snapshot.replay.at(-1)?.sequence ?? 0;
    expect(client.events.filter(({ sequence }) => sequence <= reach)).not.toHaveLength(0);
    expect(client.text(slowPrompt(peer))).toBe(textOf(raw));
  });

  rows.row(
    'C02 a skip in front of a terminal event is no loss: nothing is asked again, nothing is thrown or said',
    async (bench) => {
      const peer = await bench.open();
      const client = await (await bench.client(peer)).attach();
      client.policy('allow');
      for (const count of [1, 2]) {
        const calls = Array.from({ length: count }, (_, at) => bash(`printf ${count}${at}`, `call_${count}${at}`));
        expect(await client.run(script({ calls }, { text: 'Done.' }))).toMatchObject({ outcome: 'succeeded' });
      }
      const skips = client.events
        .map(({ sequence, kind }, at) => [sequence - (client.events[at - 1]?.sequence ?? 0) - 1, kind] as const)
        .filter(([skipped]) => skipped > 0);
      expect(skips).toEqual([
        [2, 'turn_succeeded'],
        [6, 'turn_succeeded'],
      ]);
      expect(client.line.count('attach')).toBe(1);
      expect(client.kinds().filter((kind) => kind === 'notice' || kind === 'warning')).toEqual([]);
      expect(client.cursor).toBe(client.events.at(-1)?.sequence);
    },
    { only: 'native' },
  );

  rows.row('C03 a request that is seen again in a replay is drawn once', async (bench) => {
    const peer = await bench.open();
    const client = await (await bench.client(peer)).attach();
    await (await bench.wire(peer, 'watcher-1', 'observer')).listen();
    const turn = client.submit(peer.prompts.tool);
    await client.request();
    client.line.cut();
    await client.until('a second attachment', () => client.line.count('attach') === 2);
    await client.attached();
    expect(client.requests()).toHaveLength(1);
    client.answer(await client.request(), 'Allow');
    expect(await client.ended(turn)).toMatchObject({ outcome: 'succeeded' });
    client.line.cut();
    await client.until('a third attachment', () => client.line.count('attach') === 3);
    await client.attached();
    expect(client.requests()).toEqual([expect.objectContaining({ answers: [], unanswerable: 'Already answered.' })]);
    expect(client.line.count('respond')).toBe(1);
  });

  rows.row(
    'C03 a bare request of the past is not offered',
    async (bench) => {
      const peer = await bench.open();
      const first = await (await bench.client(peer)).attach();
      first.submit(peer.prompts.tool);
      await first.request();
      first.leave();
      const raw = await bench.wire(peer, 'watcher-1', 'observer');
      await soonIdle(() => raw.describe());
      const client = await (await bench.client(peer)).attach();
      const { replay } = await raw.attach();
      expect(replay.map(({ kind }) => kind)).toEqual(['request', 'turn_succeeded']);
      expect(client.requests()).toEqual([expect.objectContaining({ answers: [] })]);
      expect(client.waiting()).toEqual([]);
    },
    { only: 'native' },
  );

  rows.row('C05 a turn whose terminal event is in the replay is over, whatever the snapshot says', async (bench) => {
    const peer = await bench.open();
    const other = await bench.wire(peer, 'editor-2');
    const raw = await other.listen();
    await other.send(peer.prompts.plain);
    await raw.turnEnd(0, peer.kind);
    const client = await bench.client(peer);
    client.line.rewrite('attach', (snapshot) => {
      const { descriptor, ...rest } = snapshot as Snapshot;
      return { ...rest, descriptor: { ...descriptor, turn_state: 'busy' } };
    });
    await (await client.attach()).inControl();
    expect(client.turn.phase).toBe('idle');
    expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
  });

  rows.row('C05 a turn that was found running ends on its terminal event', async (bench) => {
    const peer = await bench.open();
    const other = await bench.wire(peer, 'editor-2');
    const raw = await other.listen();
    await other.send(slowPrompt(peer));
    await raw.until('text_delta');
    const client = await (await bench.client(peer, { permissions: ['observe'] })).attach();
    expect(client.turn.phase).toBe('running');
    await raw.turnEnd(0, peer.kind);
    await client.until('the end', () => client.turn.phase === 'idle');
    expect(client.ends).toEqual([expect.objectContaining({ outcome: 'succeeded', mine: false })]);
  });

  rows.row('C09 a stream that ends in mid-turn is opened again, and control is taken again', async (bench) => {
    const peer = await bench.open();
    const raw = await (await bench.wire(peer, 'watcher-1', 'observer')).listen();
    const client = await (await (await bench.client(peer)).attach()).inControl();
    const turn = client.submit(slowPrompt(peer));
    await raw.until('text_delta');
    const before = client.line.names.length;
    client.line.cut();
    expect(await client.ended(turn)).toMatchObject({ outcome: 'succeeded' });
    expect(client.line.names.slice(before, before + 3)).toEqual(['events', 'attach', 'take_control']);
    expect(client.lease?.phase).toBe('controlling');
    expect(client.line.count('send_input')).toBe(1);
    expect(client.text(slowPrompt(peer))).toBe(textOf(raw));
  });

  rows.row(
    'C09 a stream that the runtime closed on a slow reader is opened again, and nothing of the text is lost',
    async (bench) => {
      const peer = await bench.open();
      const raw = await (await bench.wire(peer, 'watcher-1', 'observer')).listen();
      const client = await (await (await bench.client(peer, { checks: false })).attach()).inControl();
      const resume = client.line.stall();
      const prompt = script({ repeat: { n: 2800, text: 'y'.repeat(8000) }, delay: 1 });
      const turn = client.submit(prompt);
      await raw.until('turn_succeeded', { within: 90_000 });
      resume();
      expect(await client.ended(turn, 60_000)).toMatchObject({ outcome: 'succeeded' });
      await client.until('a second attachment', () => client.line.count('events') > 1 && client.phase === 'attached');
      const shown = client.text(prompt) ?? '';
      expect(shown.length).toBe(textOf(raw).length);
      expect(shown === textOf(raw)).toBe(true);
    },
    { only: 'native', heavy: true, timeoutMs: 120_000 },
  );

  rows.row(
    'C09 a runtime that was killed in mid-turn is lost, and the conversation goes on with its successor',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer, { timings: { firstPause: 20, longestPause: 100 } });
      await client.attach();
      expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
      const turn = client.submit(slowPrompt(peer));
      await client.until('some text', () => (client.text(slowPrompt(peer)) ?? '') !== '');
      const successor = await peer.restart?.();
      expect(await client.ended(turn)).toMatchObject({ outcome: 'failed' });
      if (!successor) throw new Error('this peer cannot restart');
      await client.until('it is given up', () => client.phase === 'lost' || client.phase === 'refused');
      await client.attach({ url: successor.url, token: await successor.mint('editor-1') });
      expect(client.parts()).toContainEqual(expect.objectContaining({ kind: 'notice', text: RESTARTED }));
      const again = script({ text: 'Here again.' });
      expect(await client.run(again)).toMatchObject({ outcome: 'succeeded' });
      expect(client.text(again)).toBe('Here again.');
      expect(client.text(peer.prompts.plain)).toBe('The quick brown fox.');
      expect(client.ends).toHaveLength(3);
    },
    { only: 'native' },
  );

  rows.row(
    'C10 a refused replay keeps the live stream, says so, and is asked for again after the turn',
    async (bench) => {
      const peer = await bench.open({ approval: 'never' });
      const other = await bench.wire(peer, 'editor-2');
      const raw = await other.listen();
      // In portions that no reader falls behind with.
      const portions = Array.from({ length: 6 }, (_, at) => ({
        repeat: { n: 700, text: 'x' },
        calls: [bash('true', `call_${at}`)],
      }));
      const prompt = script(...portions, { first: 1_500, text: 'Long enough.' });
      await other.send(prompt);
      const last = portions.length - 1;
      await raw.until('tool_call_completed', { where: ({ payload }) => payload['id'] === `call_${last}` });
      const client = await bench.client(peer, { permissions: ['observe'], checks: false });
      await client.attach();
      expect(client.connection?.phase).toMatchObject({ name: 'attached', gap: expect.any(String) as string });
      expect(client.kinds()).toContain('warning');
      await raw.turnEnd(0);
      await client.until('the history', () => client.line.count('attach') === 2 && client.text(prompt) !== undefined);
      expect(client.connection?.phase).toMatchObject({ name: 'attached', gap: null });
      expect(client.line.count('events')).toBe(1);
      expect(client.text(prompt)).toBe(textOf(raw));
      expect(client.turn.phase).toBe('idle');
    },
    { only: 'native', timeoutMs: 60_000 },
  );

  rows.row(
    'C10 hosted: a refused replay, which never heals, leaves the live stream to go on with',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      client.line.refuse('attach', REPLAY_LOST);
      await (await client.attach()).inControl();
      expect(client.connection?.phase).toMatchObject({ name: 'attached', gap: REPLAY_LOST.message });
      for (let turn = 0; turn < 2; turn += 1) {
        expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
        expect(client.text(peer.prompts.plain)).toBe(`You said: ${peer.prompts.plain}`);
      }
      await pause(300);
      expect(client.line.count('events')).toBe(1);
      expect(client.line.count('attach')).toBe(1);
    },
    { only: 'hosted' },
  );

  rows.row('C12 a history without a user message is shown', async (bench) => {
    const peer = await bench.open();
    const { history } = compactedSnapshot();
    expect(history.map(({ role }) => role)).not.toContain('user');
    const client = await bench.client(peer);
    client.line.rewrite('attach', (snapshot) => ({ ...(snapshot as Snapshot), history }));
    await client.attach();
    expect(client.conversation().map(({ prompt }) => prompt)).toEqual([null]);
    expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
    expect(client.conversation().map(({ prompt }) => prompt)).toEqual([null, peer.prompts.plain]);
  });

  rows.row(
    'C15 2500 deltas in one turn are shown in order',
    async (bench) => {
      const peer = await bench.open();
      const client = await (await bench.client(peer, { checks: false })).attach();
      const prompt = script({ repeat: { n: 2500, text: 'w', pad: 4 } });
      expect(await client.run(prompt)).toMatchObject({ outcome: 'succeeded' });
      const words = Array.from({ length: 2500 }, (_, at) => `w${String(at).padStart(4, '0')} `);
      expect(client.text(prompt)).toBe(words.join(''));
      // A reader that falls 1,024 events behind loses its stream (§6.4); each stream takes one snapshot, and no more.
      expect(client.line.count('attach')).toBe(client.line.count('events'));
    },
    { only: 'native' },
  );

  rows.row('C16 a 401 after revocation is final', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer, { timings: { firstPause: 10, longestPause: 20 } });
    await (await client.attach()).inControl();
    const body = JSON.stringify({ clientId: 'editor-1' });
    await bench.owner(peer).http('POST', '/_supercode/frontend-credentials/revoke', body);
    // A hosted runtime leaves the stream of a revoked client open; the next call meets the refusal.
    if (bench.kind === 'hosted') client.submit(peer.prompts.plain);
    await client.until('refused', () => client.phase === 'refused');
    expect(client.connection?.phase).toMatchObject({ name: 'refused', refusal: { reason: 'unauthenticated' } });
    const { length } = client.line.calls;
    await pause(500);
    expect(client.line.calls).toHaveLength(length);
    expect(client.line.calls.filter(({ outcome }) => outcome === 401)).toHaveLength(1);
  });
};

const RESTARTED = 'The runtime was restarted. What was shown before is kept.';

const REPLAY_LOST: WireError = { code: -32010, name: 'transport', message: 'SDK event stream lost 4 event(s)' };

async function soonIdle(describe: () => Promise<Descriptor>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await describe()).turn_state !== 'idle') {
    if (Date.now() > deadline) throw new Error('the runtime stayed busy');
    await pause(20);
  }
}

/** A snapshot that was really taken after a compaction. */
function compactedSnapshot(): Snapshot {
  const snapshots = traffic('history-compacted').flatMap(({ direction, body }) => {
    const result = direction === 'in' && typeof body === 'object' ? (body.result as Partial<Snapshot> | undefined) : {};
    return result?.history ? [result as Snapshot] : [];
  });
  const last = snapshots.at(-1);
  if (!last) throw new Error('no snapshot in the recording');
  return last;
}

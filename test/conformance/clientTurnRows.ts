import { expect } from 'vitest';
import type { ClientBench, ClientRows } from './clientRows.js';
import type { Peer } from './peer.js';
import { pause, script } from './wire.js';

export const turnRows = (rows: ClientRows): void => {
  rows.row('C04 a whole turn that is over before its input is acknowledged is not lost', async (bench) => {
    const peer = await bench.open();
    const client = await (await bench.client(peer)).attach();
    const release = client.line.hold('send_input');
    const turn = client.submit(peer.prompts.plain);
    expect(await client.ended(turn)).toMatchObject({ outcome: 'succeeded', mine: true });
    expect(client.text(peer.prompts.plain)).toContain(bench.kind === 'native' ? 'quick brown fox' : 'You said');
    const before = client.actions.length;
    release();
    await client.until('the acknowledgement', () => client.actions.length > before);
    expect(client.turn.phase).toBe('idle');
    expect(client.ends).toHaveLength(1);
  });

  rows.row('C04 a resolution that comes before the answer is acknowledged is not lost', async (bench) => {
    const peer = await bench.open();
    const client = await (await bench.client(peer)).attach();
    const release = client.line.hold('respond');
    const turn = client.submit(peer.prompts.tool);
    client.answer(await client.request(), 'Allow');
    expect(await client.ended(turn)).toMatchObject({ outcome: 'succeeded' });
    release();
    await client.until('the acknowledgement', () => seen(client, 'requests/answerAcknowledged') === 1);
    expect(client.parts()).toContainEqual(expect.objectContaining({ kind: 'resolution', text: 'Allowed.' }));
    expect(client.requests()).toEqual([expect.objectContaining({ unanswerable: 'Already answered.' })]);
  });

  rows.row('C06 a completion without a name keeps the name that the call started with', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    if (bench.kind === 'native') {
      client.line.rewriteFrames(({ payload, ...event }) => ({ ...event, payload: { ...payload, ...unnamed(event) } }));
    }
    await client.attach();
    client.policy('allow');
    await client.run(peer.prompts.tool);
    expect(client.events).toContainEqual(expect.objectContaining({ kind: 'tool_call_completed', name: null }));
    const tools = client.pieces.filter((part) => part.kind === 'tool');
    const name = bench.kind === 'native' ? 'bash' : 'Bash';
    expect(tools.map((tool) => [tool.name, tool.phase])).toEqual([
      [name, 'started'],
      [name, 'completed'],
    ]);
  });

  rows.row('C07 the answers are those that the runtime can carry', async (bench) => {
    const peer = await bench.open();
    const client = await (await bench.client(peer)).attach();
    const turn = client.submit(peer.prompts.tool);
    const request = await client.request();
    expect(request.answers.map(({ label }) => label)).toEqual(
      bench.kind === 'native' ? ['Allow', 'Allow for session', 'Deny'] : ['Allow', 'Deny'],
    );
    client.answer(request, 'Deny');
    expect(await client.ended(turn)).toMatchObject({ outcome: 'succeeded' });
  });

  rows.row('C07 without the permissions for it nothing is offered, taken or sent', async (bench) => {
    const peer = await bench.open();
    const driver = await (await bench.client(peer, { clientId: 'editor-2' })).attach();
    const chatting = await (await bench.client(peer, { permissions: ['observe', 'interact'] })).attach();
    const watching = await (await bench.client(peer, { grant: 'observer', clientId: 'w', permissions: null })).attach();
    await driver.inControl();
    const turn = driver.submit(peer.prompts.tool);
    for (const client of [chatting, watching]) {
      await client.until('the request', () => client.requests().length === 1);
      expect(client.waiting()).toEqual([]);
      expect(client.requests()[0]?.unanswerable).toMatch(/may not answer|can't be answered from here/);
      client.policy('allow');
    }
    driver.answer(await driver.request(), 'Allow');
    expect(await driver.ended(turn)).toMatchObject({ outcome: 'succeeded' });
    expect(watching.line.count('take_control')).toBe(0);
    expect(chatting.line.count('respond') + watching.line.count('respond')).toBe(0);
  });

  rows.row('C08 controller_required: control is taken and the input sent once more', async (bench) => {
    const peer = await bench.open();
    const client = await (await (await bench.client(peer)).attach()).inControl();
    const other = await bench.wire(peer, 'editor-2');
    await other.ok('take_control');
    const before = client.line.calls.length;
    expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
    expect(client.line.calls.slice(before).map(({ name, outcome }) => [name, outcome])).toEqual([
      ['send_input', 'controller_required'],
      ['take_control', 200],
      ['send_input', 200],
    ]);
    expect(client.events.filter(({ kind }) => kind === 'user_message')).toHaveLength(1);
    expect(client.lease?.phase).toBe('controlling');
  });

  rows.row(
    'C08 lease_expired: control is taken and the input sent once more',
    async (bench) => {
      const peer = await bench.open({ leaseTtlMs: 300 });
      const client = await (await (await bench.client(peer)).attach()).inControl();
      client.line.break('heartbeat');
      await pause(peer.leaseTtlMs + 200);
      expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
      const calls = client.line.calls.filter(({ name }) => name !== 'heartbeat');
      expect(calls.slice(-3).map(({ name, outcome }) => [name, outcome])).toEqual([
        ['send_input', 'lease_expired'],
        ['take_control', 200],
        ['send_input', 200],
      ]);
      expect(client.events.filter(({ kind }) => kind === 'user_message')).toHaveLength(1);
    },
    { timeoutMs: 60_000 },
  );

  rows.row(
    'C11 provider_retry, model_changed and a kind of tomorrow are shown',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      client.line.rewriteFrames((event) =>
        event.kind === 'usage' ? { ...event, kind: 'tomorrow', payload: { type: 'tomorrow', news: 'good' } } : event,
      );
      await client.attach();
      await client.run(script({ text: 'Once.' }));
      expect(client.parts()).toContainEqual(
        expect.objectContaining({
          kind: 'opaque',
          eventKind: 'tomorrow',
          text: expect.stringContaining('good') as string,
        }),
      );
      await switchModel(bench, peer);
      const shown = (text: string) => client.parts().some((part) => 'text' in part && part.text.includes(text));
      await client.until('the switch of the model', () => shown('Model changed'));
      expect(await client.run(script({ status: 500 }), 30_000)).toMatchObject({ outcome: 'failed' });
      expect(shown('The model provider was asked again')).toBe(true);
    },
    { only: 'native', timeoutMs: 60_000 },
  );

  rows.row(
    'C11 hosted: what the harness says that has no portable form is shown',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      client.line.rewriteFrames((event) =>
        event.kind === 'turn_completed'
          ? { ...event, kind: 'native_event', payload: { type: 'native_event', kind: 'plan', raw: { step: 'one' } } }
          : event,
      );
      await client.attach();
      await client.run(peer.prompts.plain);
      await client.until('the harness’s event', () => client.kinds().includes('opaque'));
      expect(client.parts()).toContainEqual(
        expect.objectContaining({ kind: 'opaque', eventKind: 'plan', text: expect.stringContaining('one') as string }),
      );
    },
    { only: 'hosted' },
  );

  rows.row('C13 Stop while an approval waits interrupts, and denies what waits', async (bench) => {
    const peer = await bench.open();
    const client = await (await bench.client(peer)).attach();
    const turn = client.submit(peer.prompts.tool);
    await client.request();
    client.stop(turn);
    client.stop(turn);
    const end = await client.ended(turn);
    // The stand-in of a hosted harness tells its model of the denial and ends in good order.
    expect(end.outcome).toBe(bench.kind === 'native' ? 'interrupted' : 'succeeded');
    expect(client.line.count('interrupt')).toBe(1);
    expect(client.line.count('respond')).toBeLessThanOrEqual(1);
    expect(client.waiting()).toEqual([]);
    expect(client.events.filter(({ kind }) => kind === 'tool_call_completed')).toEqual([
      expect.objectContaining({ isError: true }),
    ]);
    expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
  });

  rows.row('C14 after its stream was closed a client takes control before its next mutation', async (bench) => {
    const peer = await bench.open();
    const other = await bench.wire(peer, 'editor-2');
    const client = await (await (await bench.client(peer)).attach()).inControl();
    client.line.cut();
    await client.until('a second attachment', () => client.line.count('take_control') === 2);
    await client.until('control', () => client.lease?.phase === 'controlling');
    expect(await other.controller()).toBe('editor-1');
    expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
    const mutations = client.line.names.filter((name) => name === 'take_control' || name === 'send_input');
    expect(mutations).toEqual(['take_control', 'take_control', 'send_input']);
  });

  rows.row(
    'C14 another stream of the same client that closes takes the control of all with it: it is taken again',
    async (bench) => {
      const peer = await bench.open({ leaseTtlMs: 900 });
      const other = await bench.wire(peer, 'editor-2');
      const client = await (await (await bench.client(peer)).attach()).inControl();
      const twin = await (await bench.wire(peer, 'editor-1')).listen();
      await twin.close();
      const deadline = Date.now() + 1_000;
      while ((await other.controller()) !== undefined && Date.now() < deadline) await pause(10);
      expect(await client.run(peer.prompts.plain)).toMatchObject({ outcome: 'succeeded' });
      expect(await other.controller()).toBe('editor-1');
      expect(client.events.filter(({ kind }) => kind === 'user_message')).toHaveLength(1);
    },
  );
};

const unnamed = ({ kind }: { readonly kind: string }): object => (kind === 'tool_call_completed' ? { name: null } : {});

const seen = (client: { readonly actions: readonly { readonly type: string }[] }, type: string): number =>
  client.actions.filter((action) => action.type === type).length;

async function switchModel(bench: ClientBench, peer: Peer): Promise<void> {
  const other = await bench.wire(peer, 'editor-2');
  await other.ok('take_control');
  await other.ok('invoke', { operation: { kind: 'model', operation_id: 'model:switch', model: 'scripted/other' } });
}

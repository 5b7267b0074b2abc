import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import { bash, pause, script, TERMINAL, type WireEvent } from '../wire.js';

export const turnRows = (rows: Rows): void => {
  const isNative = rows.kind === 'native';

  rows.row(
    'S40 the order of a text turn, a tool turn and a two-call turn',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      const run = async (prompt: string, approvals: number): Promise<string[]> => {
        const since = stream.mark;
        await client.send(prompt);
        const seen: WireEvent[] = [];
        while (seen.length < approvals) {
          const request = await stream.request(since, seen);
          seen.push(request);
          await client.respond(request, 'allow');
        }
        await stream.turnEnd(since);
        return squeezed(stream.kinds(since));
      };
      const start = ['user_message', 'turn_started'];
      const words = ['text_delta', 'usage', 'turn_completed'];
      const toolCall = ['tool_call_started', 'request', 'request_resolved', 'tool_call_completed'];
      expect(await run(peer.prompts.plain, 0)).toEqual([...start, ...words, 'turn_succeeded']);
      expect(await run(peer.prompts.tool, 1)).toEqual([...start, ...words, ...toolCall, ...words, 'turn_succeeded']);
      const two = script(
        { text: 'Two calls at once.', calls: [bash('printf A', 'call_a'), bash('printf B; exit 3', 'call_b')] },
        { text: 'Both ran.' },
      );
      const since = stream.mark;
      expect(await run(two, 2)).toEqual([...start, ...words, ...toolCall, ...toolCall, ...words, 'turn_succeeded']);
      const completed = stream.since(since).filter(({ kind }) => kind === 'tool_call_completed');
      expect(completed.map(({ payload }) => [payload['id'], payload['output'], payload['is_error']])).toEqual([
        ['call_a', 'exit code: 0\nA', false],
        // It tells whether the tool ran, not whether the command succeeded.
        ['call_b', 'exit code: 3\nB', false],
      ]);
      expect(stream.events.at(-1)?.payload).toEqual({
        type: 'turn_succeeded',
        schema_version: 1,
        reply: 'Both ran.',
      });
    },
    { only: 'native' },
  );

  rows.row(
    'S40 hosted: the order of a text turn and a tool turn; turn_completed follows the end',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      const start = ['user_message', 'turn_started'];
      const end = ['turn_succeeded', 'turn_completed'];
      await client.send(peer.prompts.plain);
      await stream.turnEnd(0, 'hosted');
      expect(stream.kinds()).toEqual([...start, 'text_delta', ...end]);
      const since = stream.mark;
      await client.send(peer.prompts.tool);
      await client.respond(await stream.request(since), 'allow');
      await stream.turnEnd(since, 'hosted');
      expect(stream.kinds(since)).toEqual([
        ...start,
        'text_delta',
        'tool_call_started',
        'request',
        'request_resolved',
        'tool_call_completed',
        'text_delta',
        ...end,
      ]);
      const completed = stream.since(since).find(({ kind }) => kind === 'tool_call_completed');
      expect(completed?.payload).toMatchObject({ name: null, output: 'hosted', is_error: false });
    },
    { only: 'hosted' },
  );

  rows.row('S41 exactly one terminal event per started turn', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    const { plain, fail, tool, slow } = peer.prompts;
    for (const prompt of [plain, fail, tool, slow]) {
      const since = stream.mark;
      await client.send(prompt);
      if (prompt === tool) await client.respond(await stream.request(since), 'deny');
      if (prompt === slow) {
        await stream.until('text_delta', { since });
        await client.ok('interrupt');
      }
      await stream.turnEnd(since, peer.kind);
    }
    await pause(100);
    const lifecycle = stream.kinds().filter((kind) => kind === 'turn_started' || TERMINAL.includes(kind));
    expect(lifecycle).toEqual([
      'turn_started',
      'turn_succeeded',
      'turn_started',
      'turn_failed',
      'turn_started',
      'turn_succeeded',
      'turn_started',
      isNative ? 'turn_interrupted' : 'turn_failed',
    ]);
  });

  rows.row(
    'S42 turn_completed and usage once per model round-trip',
    async (bench) => {
      const peer = await bench.open({ approval: 'never' });
      const client = await bench.client(peer);
      const stream = await client.listen();
      const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
      await client.send(
        script(
          { calls: [bash('printf 1', 'a')], usage },
          { calls: [bash('printf 2', 'b')] },
          { text: 'Three round-trips.' },
        ),
      );
      await stream.turnEnd(0);
      const count = (kind: string): number => stream.kinds().filter((each) => each === kind).length;
      expect(count('turn_completed')).toBe(3);
      expect(count('usage')).toBe(3);
      const first = stream.events.find(({ kind }) => kind === 'usage');
      expect(first?.payload).toEqual({ type: 'usage', ...usage, cached_tokens: null });
    },
    { only: 'native' },
  );

  rows.row('S43 a second input while busy is refused', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    await client.send(peer.prompts.slow);
    await stream.until('text_delta');
    const error = await client.refused('send_input', { prompt: 'too early' });
    expect(error).toEqual({
      code: -32000,
      name: 'busy',
      operation: 'input',
      message: 'a turn is already in progress',
    });
    await client.ok('interrupt');
    await stream.turnEnd(0, peer.kind);
    expect(stream.kinds().filter((kind) => kind === 'user_message')).toHaveLength(1);
  });

  rows.row('S44 interrupt while idle says that nothing was interrupted', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    expect(await client.ok('interrupt')).toEqual({ interrupted: false });
    // It was a mutation all the same, and claimed the lease.
    expect(await client.controller()).toBe('editor-1');
  });

  rows.row(
    'S45 interrupt mid-text, before the first token and during a tool',
    async (bench) => {
      const peer = await bench.open({ approval: 'never' });
      const client = await bench.client(peer);
      const stream = await client.listen();
      const cases: [string, string][] = [
        [peer.prompts.slow, 'text_delta'],
        [script({ hang: true }), 'turn_started'],
        [script({ calls: [bash('sleep 30', 'call_sleep')] }, { text: 'unreachable' }), 'tool_call_started'],
      ];
      for (const [prompt, at] of cases) {
        const since = stream.mark;
        await client.send(prompt);
        await stream.until(at, { since });
        await pause(100);
        const asked = Date.now();
        expect(await client.ok('interrupt')).toEqual({ interrupted: true });
        const end = await stream.turnEnd(since);
        expect(end.payload).toEqual({ type: 'turn_interrupted', schema_version: 1 });
        expect(Date.now() - asked).toBeLessThan(2000);
        expect(stream.kinds(since)).not.toContain('tool_call_completed');
      }
      // Neither partial text nor the result of the tool is kept (§5.2).
      const { history } = await client.attach();
      expect(history.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'user', 'assistant']);
      expect(history.at(-1)?.tool_calls).toHaveLength(1);
    },
    { only: 'native' },
  );

  rows.row(
    'S45 hosted: an interrupted turn ends as turn_failed',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.slow);
      await stream.until('text_delta');
      expect(await client.ok('interrupt')).toEqual({ interrupted: true });
      expect((await stream.turnEnd(0, 'hosted')).kind).toBe('turn_failed');
    },
    { only: 'hosted' },
  );

  rows.row(
    'S46 interrupt during an approval is acknowledged but takes effect only after the answer',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      const mark = (): number => stream.mark;
      for (const decision of ['deny', 'allow']) {
        const since = mark();
        await client.send(peer.prompts.tool);
        const request = await stream.request(since);
        expect(await client.ok('interrupt')).toEqual({ interrupted: true });
        await pause(400);
        expect((await client.describe()).turn_state).toBe('busy');
        expect(stream.events.at(-1)).toEqual(request);
        expect((await client.respond(request, decision)).result).toEqual({ accepted: true });
        await stream.turnEnd(since);
        expect(stream.kinds(since).slice(-3)).toEqual(
          decision === 'deny'
            ? ['request_resolved', 'tool_call_completed', 'turn_interrupted']
            : ['request', 'request_resolved', 'turn_interrupted'],
        );
      }
    },
    { only: 'native' },
  );

  rows.row(
    'S46 hosted: interrupt during an approval ends the turn at once; the request is left behind, unresolved',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.tool);
      const request = await stream.request(0);
      expect(await client.ok('interrupt')).toEqual({ interrupted: true });
      await stream.turnEnd(0, 'hosted');
      expect(stream.kinds()).not.toContain('request_resolved');
      // Its host still takes one answer, which then resolves a request of a turn that is over.
      const since = stream.mark;
      expect((await client.respond(request, 'allow')).result).toEqual({ accepted: true });
      await stream.until('request_resolved', { since });
      expect((await client.respond(request, 'allow')).error).toMatchObject({ name: 'not_found' });
    },
    { only: 'hosted' },
  );
};

/** The kinds in order, a run of text deltas as one. */
const squeezed = (kinds: readonly string[]): string[] =>
  kinds.filter((kind, index) => kind !== 'text_delta' || kinds[index - 1] !== 'text_delta');

import { request as httpRequest } from 'node:http';
import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import { script, type Wire, type WireEvent } from '../wire.js';

/** What comes in besides a prompt, and what goes wrong: S47 to S53. */
export const turnInputRows = (rows: Rows): void => {
  const isNative = rows.kind === 'native';

  rows.row(
    'S47 model 4xx fails at once; 5xx is retried, then fails; a cut stream fails after its partial text',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      const run = async (step: Record<string, unknown>): Promise<WireEvent[]> => {
        const since = stream.mark;
        await client.send(script(step));
        await stream.turnEnd(since);
        return stream.since(since).slice(2);
      };
      const refused = await run({ status: 400, body: { error: { message: 'no' } } });
      expect(refused.map(({ payload }) => payload)).toEqual([
        {
          type: 'turn_failed',
          schema_version: 1,
          message: 'provider returned status 400: {"error":{"message":"no"}}',
        },
      ]);
      const asked = Date.now();
      const retried = await run({ status: 503, body: { error: { message: 'busy' } } });
      const reason = 'provider returned status 503: {"error":{"message":"busy"}}';
      expect(retried.map(({ payload }) => payload)).toEqual([
        { type: 'provider_retry', attempt: 0, delay_ms: 100, reason },
        { type: 'provider_retry', attempt: 1, delay_ms: 200, reason },
        { type: 'turn_failed', schema_version: 1, message: reason },
      ]);
      expect(Date.now() - asked).toBeGreaterThanOrEqual(300);
      const cut = await run({ text: 'This sentence will be cut off', cut: 3, delay: 10 });
      expect(cut.map(({ kind }) => kind)).toEqual(['text_delta', 'text_delta', 'text_delta', 'turn_failed']);
      expect(cut.at(-1)?.payload['message']).toMatch(/^http transport error/);
      const { history } = await client.attach();
      expect(history.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'user']);
    },
    { only: 'native' },
  );

  rows.row('S48 the next turn is accepted after a failure and after an interrupt', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    let since = stream.mark;
    await client.send(peer.prompts.fail);
    expect((await stream.turnEnd(since, peer.kind)).kind).toBe('turn_failed');
    since = stream.mark;
    await client.send(peer.prompts.slow);
    await stream.until('text_delta', { since });
    await client.ok('interrupt');
    await stream.turnEnd(since, peer.kind);
    since = stream.mark;
    await client.send(peer.prompts.plain);
    expect((await stream.turnEnd(since, peer.kind)).kind).toBe('turn_succeeded');
  });

  rows.row('S49 steer while idle is refused; while busy it is queued for the next round-trip', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    expect(await client.refused('steer', { prompt: 'nobody works' })).toEqual({
      code: -32020,
      name: 'unsupported_action',
      operation: 'steer',
      message: 'SDK action `steer` is not supported by this runtime',
    });
    if (!isNative) return;
    const stream = await client.listen();
    await client.send(peer.prompts.tool);
    const request = await stream.request(0);
    expect(await client.ok('steer', { prompt: 'also mention the weather' })).toEqual({ queued: true });
    await client.respond(request, 'allow');
    await stream.turnEnd(0);
    expect(stream.kinds().filter((kind) => kind === 'user_message')).toHaveLength(1);
    const { history } = await client.attach();
    expect(history.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user', 'assistant']);
    expect(history[4]).toEqual({ role: 'user', content: 'also mention the weather' });
  });

  rows.row(
    'S49 a message steered into the last round-trip extends the turn',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(script({ text: 'Nearly there now.', delay: 80 }));
      await stream.until('text_delta');
      for (const prompt of ['first thing', 'second thing']) await client.ok('steer', { prompt });
      const end = await stream.turnEnd(0);
      expect(end.payload['reply']).toBe('You said: second thing');
      const { history } = await client.attach();
      // One is taken at the end of the round-trip and one at the start of the next.
      expect(history.slice(2).map(({ content }) => content)).toEqual([
        'Nearly there now.',
        'first thing',
        'second thing',
        'You said: second thing',
      ]);
    },
    { only: 'native' },
  );

  rows.row(
    'S49 hosted: a steered message is answered behind the end of the turn, with an end of its own and no start',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.slow);
      await stream.until('text_delta');
      expect(await client.ok('steer', { prompt: 'also the weather' })).toEqual({ queued: true });
      await stream.turnEnd(0, 'hosted');
      const end = stream.events.findIndex(({ kind }) => kind === 'turn_completed');
      await stream.until('turn_completed', { since: end + 1 });
      expect(stream.kinds(end + 1)).toEqual(['text_delta', 'turn_succeeded', 'turn_completed']);
    },
    { only: 'hosted' },
  );

  rows.row('S50 the turn of an abandoned submit keeps running', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    const prompt = isNative ? script({ text: 'one two three four five six', delay: 60 }) : peer.prompts.slow;
    const abandon = submitAndHold(client, prompt);
    await stream.until('text_delta');
    abandon();
    const end = await stream.turnEnd(0, peer.kind);
    expect(end.kind).toBe('turn_succeeded');
    if (isNative) expect(end.payload['reply']).toBe('one two three four five six');
  });

  rows.row(
    'S51 an unknown tool, invalid arguments and a failing tool are errors for the model, not for the turn',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(
        script(
          { calls: [{ name: 'no_such_tool', id: 'unknown', args: {} }] },
          { calls: [{ name: 'read_file', id: 'malformed', args: '{"path": ' }] },
          { calls: [{ name: 'read_file', id: 'missing', args: { path: 'absent.txt' } }] },
          { text: 'Three errors.' },
        ),
      );
      await client.respond(await stream.request(0), 'allow');
      await stream.turnEnd(0);
      const completed = stream.events.filter(({ kind }) => kind === 'tool_call_completed');
      expect(completed.map(({ payload }) => [payload['id'], payload['output'], payload['is_error']])).toEqual([
        ['unknown', 'Error: model requested unknown tool: no_such_tool', true],
        [
          'malformed',
          'Error: invalid arguments for tool `read_file`: EOF while parsing a value at line 1 column 8',
          true,
        ],
        [
          'missing',
          `Error: tool \`read_file\` failed: ${peer.workspace}/absent.txt: No such file or directory (os error 2)`,
          true,
        ],
      ]);
      expect(stream.events.at(-1)?.kind).toBe('turn_succeeded');
    },
    { only: 'native' },
  );

  rows.row(
    'S52 submit answers at the end of its turn, and is refused while busy and for a bad image list',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      expect(await client.ok('submit', { prompt: peer.prompts.plain })).toEqual({ reply: 'The quick brown fox.' });
      expect((await stream.turnEnd(0)).kind).toBe('turn_succeeded');
      const execution = { name: 'execution', operation: 'input' };
      expect(await client.refused('submit', { prompt: peer.prompts.fail })).toEqual({
        ...execution,
        code: -32002,
        message: 'provider returned status 400: {"error":{"message":"scripted: invalid request"}}',
      });
      const since = stream.mark;
      const pending = client.call('submit', { prompt: peer.prompts.slow });
      await stream.until('text_delta', { since });
      expect(await client.refused('submit', { prompt: 'too early' })).toMatchObject({ code: -32000, name: 'busy' });
      await client.ok('interrupt');
      expect((await pending).error).toEqual({ ...execution, code: -32001, message: 'turn interrupted' });
      const badImages = await client.refused('submit', { prompt: 'x', image_urls: 'not an array' });
      expect(badImages).toEqual({ code: -32602, message: 'submit requires array `params.image_urls`' });
    },
    { only: 'native' },
  );

  rows.row(
    'S52 hosted: submit answers at once with an empty reply, whatever becomes of its turn',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      for (const prompt of [peer.prompts.fail, peer.prompts.slow]) {
        const since = stream.mark;
        expect(await client.ok('submit', { prompt })).toEqual({ reply: '' });
        if (prompt === peer.prompts.slow) {
          expect(await client.refused('submit', { prompt })).toMatchObject({ code: -32000, name: 'busy' });
          expect(stream.kinds(since)).not.toContain('turn_succeeded');
          await client.ok('interrupt');
        }
        expect((await stream.turnEnd(since, 'hosted')).kind).toBe('turn_failed');
      }
      const badImages = await client.refused('submit', { prompt: 'x', image_urls: 'not an array' });
      expect(badImages).toEqual({ code: -32602, message: 'submit requires array `params.image_urls`' });
    },
    { only: 'hosted' },
  );

  rows.row(
    'S53 background_output comes only with a status poll, before that call completes',
    async (bench) => {
      const peer = await bench.open({ approval: 'never' });
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(
        script(
          { calls: [{ name: 'background_exec', id: 'start', args: { command: 'echo one; sleep 0.2; echo two' } }] },
          { first: 700, calls: [{ name: 'background_list', id: 'list', args: {} }] },
          { text: 'Listed.' },
        ),
      );
      await stream.turnEnd(0);
      expect(stream.kinds()).not.toContain('background_output');
      const job = jobOf(stream.events);
      const since = stream.mark;
      await client.send(
        script({ calls: [{ name: 'background_status', id: 'poll', args: { job_id: job } }] }, { text: 'Polled.' }),
      );
      await stream.turnEnd(since);
      const [started, output, completed] = stream.since(since).filter(({ kind }) => /tool|background/.test(kind));
      expect(started?.kind).toBe('tool_call_started');
      expect(output?.payload).toEqual({
        type: 'background_output',
        job_id: job,
        chunk: 'one\ntwo\n',
        truncated: false,
      });
      expect(completed?.kind).toBe('tool_call_completed');
      expect(JSON.parse(String(completed?.payload['output']))).toMatchObject({
        job_id: job,
        status: 'exited',
        exit_code: 0,
        output: 'one\ntwo\n',
      });
    },
    { only: 'native' },
  );
};

const jobOf = (events: readonly WireEvent[]): string => {
  const started = events.find(({ kind }) => kind === 'tool_call_completed');
  const { job_id } = JSON.parse(String(started?.payload['output'])) as { job_id: string };
  return job_id;
};

/** Submits on a connection of its own; the returned function drops it. */
const submitAndHold = (client: Wire, prompt: string): (() => void) => {
  const body = JSON.stringify({ id: 1, method: 'frontend.v2.submit', params: { prompt } });
  const headers = { ...client.headers(), 'content-length': Buffer.byteLength(body) };
  const request = httpRequest(new URL('/rpc', client.url), { method: 'POST', agent: false, headers });
  request.on('error', () => undefined);
  request.end(body);
  return () => request.destroy();
};

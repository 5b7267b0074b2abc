import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../src/runtime/embedded.js';
import { SCENARIOS } from '../../src/runtime/scenarios.js';
import { requestId, requestOf, Wire, type Stream, type WireEvent } from '../conformance/wire.js';

const connect = async (): Promise<{ runtime: EmbeddedRuntime; client: Wire; stream: Stream }> => {
  const runtime = await startEmbeddedRuntime();
  onTestFinished(() => runtime.close());
  const client = new Wire(runtime.url, { token: runtime.mint('editor-1'), clientId: 'editor-1' });
  return { runtime, client, stream: await client.listen() };
};

/** Plays a prompt to its end, answering every request alike. */
const play = async (prompt: string, decision = 'allow'): Promise<WireEvent[]> => {
  const { client, stream } = await connect();
  await client.send(prompt);
  const answered: number[] = [];
  for (;;) {
    const event = await stream.until(['request', 'turn_succeeded', 'turn_failed'], {
      where: (each) => each.kind !== 'request' || !answered.includes(requestId(each)),
    });
    if (event.kind !== 'request') return stream.events;
    const request_id = requestId(event);
    answered.push(request_id);
    const response =
      requestOf(event).kind === 'approval'
        ? { kind: 'approval', request_id, decision }
        : { kind: 'elicitation', request_id, action: 'accept', content: { q1: 'SQLite', q2: ['Linux'] } };
    await client.ok('respond', { response });
  }
};

const textOf = (events: readonly WireEvent[]): string =>
  events
    .filter(({ kind }) => kind === 'text_delta')
    .map(({ payload }) => String(payload['text']))
    .join('');
const outputs = (events: readonly WireEvent[]): string[] =>
  events.filter(({ kind }) => kind === 'tool_call_completed').map(({ payload }) => String(payload['output']));

describe('the demos', () => {
  it('tour: a command, an edit, its diff, within a few seconds', async () => {
    const began = Date.now();
    const events = await play('/demo tour');
    expect(Date.now() - began).toBeLessThan(5000);
    expect(events.at(-1)?.kind).toBe('turn_succeeded');
    expect(outputs(events)).toEqual([
      expect.stringContaining('Hello, world!'),
      'Replaced 1 occurrence(s) in supercode-demo.md',
    ]);
    const diff = events.find(({ kind }) => kind === 'diff_updated');
    expect(diff?.payload['diff']).toMatch(
      /^--- a\/supercode-demo.md\n.*\n@@.*\n[^]*-Hello, world!\n\+Hello from your editor!\n/,
    );
  });

  it('tour: goes on to its end when everything is denied', async () => {
    const events = await play('/demo tour', 'deny');
    expect(outputs(events)).toHaveLength(2);
    for (const output of outputs(events)) expect(output).toMatch(/^Error: tool .* was not approved/);
    expect(events.map(({ kind }) => kind)).not.toContain('diff_updated');
    expect(events.at(-1)?.kind).toBe('turn_succeeded');
  });

  it('question: the answers reach the agent', async () => {
    const [output] = outputs(await play('/demo question'));
    expect(output).toContain('Database: SQLite\nPlatforms: Linux');
  });

  it('reasoning: is told apart from the text', async () => {
    const events = await play('/demo reasoning');
    expect(events.map(({ kind }) => kind).slice(0, 4)).toEqual([
      'user_message',
      'turn_started',
      'reasoning',
      'text_delta',
    ]);
  });

  it('parallel: all calls start before the first completes, and complete in their order', async () => {
    const events = await play('/demo parallel');
    const tools = events.filter(({ kind }) => kind.startsWith('tool_call')).map(({ kind }) => kind);
    expect(tools).toEqual([
      ...Array<string>(3).fill('tool_call_started'),
      ...Array<string>(3).fill('tool_call_completed'),
    ]);
    expect(outputs(events)).toEqual(['one', 'two', 'three'].map((word) => `exit code: 0\n${word}\n`));
  });

  it('failure: a failed tool, retries, a failed turn', async () => {
    const kinds = (await play('/demo failure')).map(({ kind }) => kind);
    expect(kinds.slice(-3)).toEqual(['provider_retry', 'provider_retry', 'turn_failed']);
  });

  it('background: the output arrives with the polls', async () => {
    const events = await play('/demo background');
    const chunks = events.filter(({ kind }) => kind === 'background_output').map(({ payload }) => payload['chunk']);
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.join('')).toBe('line 1\nline 2\nline 3\nline 4\n');
  });

  it('slow: can be stopped', async () => {
    const { client, stream } = await connect();
    await client.send('/demo slow');
    await stream.until('text_delta');
    await client.ok('interrupt');
    expect((await stream.turnEnd(0)).kind).toBe('turn_interrupted');
  });

  it.each(['/demo', '/demo no-such-demo'])('%s lists what there is', async (prompt) => {
    const text = textOf(await play(prompt));
    for (const [name, { describe: what }] of Object.entries(SCENARIOS))
      expect(text).toContain(`\`/demo ${name}\`: ${what}`);
  });

  it('other prompts are repeated', async () => {
    expect(textOf(await play('a /demo tour in the middle'))).toBe('You said: a /demo tour in the middle');
  });

  it('a background job from a prompt stays denied, whatever the script says', async () => {
    const step = { preapproved: true, calls: [{ name: 'background_exec', args: { command: 'echo no' } }] };
    expect(outputs(await play(`[[script]] ${JSON.stringify([step])}`))[0]).toMatch(
      /^Error: tool `bash` was not approved/,
    );
  });
});

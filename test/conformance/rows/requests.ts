import { expect } from 'vitest';
import type { Rows } from '../rows.js';
import { bash, pause, requestId, requestOf, script, type WireEvent } from '../wire.js';

const ASK = {
  name: 'ask_user',
  id: 'call_ask',
  args: {
    questions: [
      {
        question: 'Which database should the service use?',
        header: 'Database',
        options: [{ label: 'sqlite', description: 'one file' }, { label: 'postgres' }],
      },
      {
        question: 'Which platforms?',
        header: 'Platforms',
        multiSelect: true,
        options: [{ label: 'linux' }, { label: 'windows' }],
      },
    ],
  },
};

export const requestRows = (rows: Rows): void => {
  const isNative = rows.kind === 'native';

  rows.row('S60 allow runs the tool, deny is an error, both resolve before the tool completes', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    for (const decision of ['allow', 'deny']) {
      const since = stream.mark;
      await client.send(peer.prompts.tool);
      const request = await stream.request(since);
      const { id, kind, payload } = requestOf(request);
      expect(kind).toBe('approval');
      expect(payload).toMatchObject(
        isNative
          ? { tool: 'bash', subject: 'printf approved', raw_args: { command: 'printf approved' } }
          : { tool: 'Bash', arguments: { command: 'echo hosted' }, decisions: ['allow', 'deny'] },
      );
      expect((await client.respond(request, decision)).result).toEqual({ accepted: true });
      await stream.turnEnd(since, peer.kind);
      const after = stream.since(stream.events.indexOf(request) + 1);
      expect(after[0]?.payload).toEqual({
        type: 'request_resolved',
        request_id: id,
        response: { kind: 'approval', request_id: id, decision },
      });
      expect(after[1]?.kind).toBe('tool_call_completed');
      expect(after[1]?.payload['is_error']).toBe(decision === 'deny');
      if (isNative) {
        expect(after[1]?.payload['output']).toBe(
          decision === 'allow'
            ? 'exit code: 0\napproved'
            : 'Error: tool `bash` was not approved for execution (permissions engine: Ask)',
        );
      }
      expect(stream.kinds(since)).toContain('turn_succeeded');
    }
  });

  rows.row('S61 a request takes one answer', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    await client.send(peer.prompts.tool);
    const request = await stream.request(0);
    await client.respond(request, 'allow');
    await stream.turnEnd(0, peer.kind);
    expect((await client.respond(request, 'allow')).error).toEqual({
      code: -32022,
      name: 'not_found',
      operation: 'respond',
      message: `SDK request ${requestId(request)} is not pending`,
    });
  });

  rows.row('S62 an answer of the wrong kind is refused and leaves the request pending', async (bench) => {
    const peer = await bench.open();
    const client = await bench.client(peer);
    const stream = await client.listen();
    await client.send(peer.prompts.tool);
    const request = await stream.request(0);
    const response = { kind: 'elicitation', request_id: requestId(request), action: 'accept', content: null };
    expect(await client.refused('respond', { response })).toMatchObject(
      isNative
        ? {
            code: -32022,
            name: 'invalid_argument',
            operation: 'respond',
            message: `invalid SDK response: request ${requestId(request)} expects Approval, got Elicitation`,
          }
        : { code: -32020, name: 'unsupported_action' },
    );
    expect((await client.respond(request, 'allow')).result).toEqual({ accepted: true });
    await stream.turnEnd(0, peer.kind);
  });

  rows.row(
    'S63 allow_for_session suppresses the identical request only',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      const call = (id: string, command: string): Record<string, unknown> => ({ calls: [bash(command, id)] });
      const prompt = script(call('1', 'printf same'), call('2', 'printf same'), call('3', 'printf other'), {
        text: 'Three commands, two requests.',
      });
      await client.send(prompt);
      const first = await stream.request(0);
      await client.respond(first, 'allow_for_session');
      const second = await stream.request(0, [first]);
      expect(requestOf(second).payload['subject']).toBe('printf other');
      await client.respond(second, 'allow');
      await stream.turnEnd(0);
      // It holds for the rest of the process.
      const since = stream.mark;
      await client.send(script(call('4', 'printf same'), { text: 'No request.' }));
      await stream.turnEnd(since);
      expect(stream.kinds(since)).not.toContain('request');
    },
    { only: 'native' },
  );

  rows.row(
    'S63 with the legacy gate allow_for_session is no more than allow',
    async (bench) => {
      const peer = await bench.open({ legacyGate: true });
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(
        script({ calls: [bash('printf same', '1')] }, { calls: [bash('printf same', '2')] }, { text: 'Asked twice.' }),
      );
      const first = await stream.request(0);
      await client.respond(first, 'allow_for_session');
      const second = await stream.request(0, [first]);
      await client.respond(second, 'deny');
      await stream.turnEnd(0);
      const outputs = stream.events
        .filter(({ kind }) => kind === 'tool_call_completed')
        .map(({ payload }) => payload['output']);
      expect(outputs).toEqual(['exit code: 0\nsame', 'Error: tool `bash` was not approved for execution']);
    },
    { only: 'native' },
  );

  rows.row(
    'S64 accepting, declining and cancelling an elicitation reach the tool',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      const assume = 'Proceed with your own best judgement and say what you assumed.';
      const answers = {
        accept:
          'The user answered:\nDatabase: sqlite\nPlatforms: linux, windows\n\nraw: {"q1":"sqlite","q2":["linux","windows"]}',
        decline: `The user declined to answer. ${assume}`,
        cancel: `The user dismissed the question without answering. ${assume}`,
      };
      for (const [action, output] of Object.entries(answers)) {
        const since = stream.mark;
        await client.send(script({ calls: [ASK] }, { text: 'Understood.' }));
        const approval = await stream.request(since);
        expect(requestOf(approval)).toMatchObject({ kind: 'approval', payload: { tool: 'ask_user', subject: null } });
        await client.respond(approval, 'allow');
        const elicitation = await stream.request(since, [approval]);
        expect(requestOf(elicitation)).toEqual(expectedElicitation(requestId(elicitation)));
        const request_id = requestId(elicitation);
        expect((await client.respond(elicitation, 'allow')).error).toMatchObject({
          code: -32022,
          name: 'invalid_argument',
        });
        const content = action === 'accept' ? { q1: 'sqlite', q2: ['linux', 'windows'] } : null;
        const response = { kind: 'elicitation', request_id, action, content };
        expect(await client.ok('respond', { response })).toEqual({ accepted: true });
        await stream.turnEnd(since);
        const resolved = stream.since(stream.events.indexOf(elicitation) + 1)[0];
        expect(resolved?.payload).toEqual({ type: 'request_resolved', request_id, response });
        const completed = stream.since(since).find(({ kind }) => kind === 'tool_call_completed');
        expect(completed?.payload).toMatchObject({ output, is_error: false });
      }
    },
    { only: 'native' },
  );

  rows.row(
    'S65 with no open stream a call is denied without a request event',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      expect(await client.ok('submit', { prompt: peer.prompts.tool })).toEqual({ reply: 'All done.' });
      const { history, replay } = await client.attach();
      expect(replay.map(({ kind }) => kind)).toEqual(['turn_succeeded']);
      expect(history[3]?.content).toBe('Error: tool `bash` was not approved for execution (permissions engine: Ask)');
    },
    { only: 'native' },
  );

  rows.row(
    'S66 the last stream closes: denied within about 100 ms, without a resolution',
    async (bench) => {
      const peer = await bench.open();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.tool);
      const request = await stream.request(0);
      await stream.close();
      await pause(500);
      const { replay, history } = await client.attach();
      expect(replay.map(({ kind }) => kind)).toEqual(['request', 'turn_succeeded']);
      expect(history[3]?.content).toMatch(/^Error: tool `bash` was not approved/);
      expect((await client.respond(request, 'allow')).error).toMatchObject({ name: 'not_found' });
    },
    { only: 'native' },
  );

  rows.row(
    'S66 another open stream keeps the request pending',
    async (bench) => {
      const peer = await bench.open();
      const watching = await (await bench.client(peer, 'watcher-1', 'observer')).listen();
      const client = await bench.client(peer);
      const stream = await client.listen();
      await client.send(peer.prompts.tool);
      await stream.request(0);
      await stream.close();
      await pause(400);
      const again = await client.listen();
      const pending = (await client.attach()).replay.find(({ kind }) => kind === 'request');
      expect((await client.respond(pending ?? missing(), 'allow')).result).toEqual({ accepted: true });
      await again.turnEnd(0);
      await watching.turnEnd(0);
      expect(watching.kinds()).toContain('request_resolved');
    },
    { only: 'native' },
  );
};

const missing = (): WireEvent => {
  throw new Error('no request in the replay');
};

const expectedElicitation = (id: number): unknown => ({
  id,
  kind: 'elicitation',
  payload: {
    message:
      '[Database] Which database should the service use?\n  - sqlite — one file\n  - postgres\n\n' +
      '[Platforms] Which platforms?\n  - linux\n  - windows\n  (multiple selections allowed)',
    requested_schema: {
      type: 'object',
      properties: {
        q1: {
          title: 'Database',
          description:
            'Which database should the service use? (options: sqlite | postgres; free text is also accepted)',
          'x-options': [{ label: 'sqlite', description: 'one file' }, { label: 'postgres' }],
          'x-multi-select': false,
          type: 'string',
        },
        q2: {
          title: 'Platforms',
          description: 'Which platforms? (options: linux | windows; free text is also accepted)',
          'x-options': [{ label: 'linux' }, { label: 'windows' }],
          'x-multi-select': true,
          type: 'array',
          items: { type: 'string' },
        },
      },
      required: ['q1', 'q2'],
    },
  },
});

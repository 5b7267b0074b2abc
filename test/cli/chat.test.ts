import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/exitCodes.js';
import { chatCommand } from '../../src/cli/options.js';
import { bash, buildBins, privateFolder, run, scripted, startRuntime, VERSION } from './bins.js';
import { chatLines, partsOf, textOf, type ChatLine } from './jsonLines.js';

const { chat } = buildBins();

const APPROVAL = scripted({ text: 'Look: ', calls: [bash('echo hello there')] }, { text: 'Over.' });
const JSON_RUN = ['--json', '--prompt'];

const outcomeOf = (lines: readonly ChatLine[]) => lines.at(-1);
const decisionsOf = (lines: readonly ChatLine[]) =>
  lines.flatMap((line) => (line.type === 'answered' ? [line.label] : []));

describe.concurrent('a scripted turn without a terminal', () => {
  it('shows text, a tool, an approval that is allowed and a diff, and ends with 0', async () => {
    const { code, stdout, stderr } = await run(chat, []);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain('› /demo tour');
    expect(stdout).toContain('Welcome!');
    expect(stdout).toContain('Approval  bash: printf');
    expect(stdout).toContain('auto-approved: edit_file: supercode-demo.md');
    expect(stdout).toContain('± Changes in supercode-demo.md');
    expect(stdout).toContain('✓ done in');
    expect(stdout).not.toContain('\x1b');
  });

  it('is the same as JSON lines, each with exactly the documented keys', async () => {
    const { code, stdout, stderr } = await run(chat, ['--json']);
    expect([code, stderr]).toEqual([0, '']);
    const lines = chatLines(stdout);
    expect(outcomeOf(lines)).toEqual({ type: 'settled', outcome: 'succeeded' });
    expect(decisionsOf(lines)).toEqual(['Allow', 'Allow']);
    const parts = partsOf(lines);
    expect(new Set(parts.map(({ kind }) => kind))).toEqual(
      new Set(['markdown', 'progress', 'tool', 'request', 'resolution', 'diff']),
    );
    expect(parts.filter((part) => part.kind === 'tool').map(({ callId, phase }) => `${callId} ${phase}`)).toEqual([
      'demo_tour_command started',
      'demo_tour_command completed',
      'demo_tour_edit started',
      'demo_tour_edit completed',
    ]);
    const request = parts.find((part) => part.kind === 'request');
    expect(request?.answers.map(({ label }) => label)).toEqual(['Allow', 'Allow for session', 'Deny']);
    expect(request?.answers[0]?.response).toEqual({ kind: 'approval', request_id: 1, decision: 'allow' });
    const diff = parts.find((part) => part.kind === 'diff');
    expect(diff?.files).toEqual(['supercode-demo.md']);
  });

  it('tells a request, then the answer, then what came of it', async () => {
    const { stdout } = await run(chat, [...JSON_RUN, APPROVAL, '--answer', 'allow']);
    const order = chatLines(stdout).flatMap((line) => {
      if (line.type === 'part' && line.part.kind === 'tool') return [`tool ${line.part.phase}`];
      if (line.type === 'part' && 'requestId' in line.part) return [line.part.kind];
      return line.type === 'answered' ? ['answered'] : [];
    });
    expect(order).toEqual(['tool started', 'request', 'answered', 'resolution', 'tool completed']);
  });
});

describe.concurrent('--answer', () => {
  const resultOf = (lines: readonly ChatLine[]) => {
    const tools = partsOf(lines).filter((part) => part.kind === 'tool');
    return tools.find(({ phase }) => phase === 'completed');
  };

  it('denies where nothing is said and nobody can be asked', async () => {
    const { code, stdout } = await run(chat, [...JSON_RUN, APPROVAL]);
    const lines = chatLines(stdout);
    expect(decisionsOf(lines)).toEqual(['Deny']);
    expect(resultOf(lines)?.isError).toBe(true);
    expect(code).toBe(0);
  });

  it.each([
    ['allow', 'Allow'],
    ['session', 'Allow for session'],
    ['deny', 'Deny'],
  ])('%s answers an approval with %s', async (answer, label) => {
    const lines = chatLines((await run(chat, [...JSON_RUN, APPROVAL, '--answer', answer])).stdout);
    expect(decisionsOf(lines)).toEqual([label]);
    expect(resultOf(lines)?.isError).toBe(label === 'Deny');
  });

  it('session is asked for once only', async () => {
    const prompt = scripted({ calls: [bash('echo one', 'a')] }, { calls: [bash('echo one', 'b')] }, { text: 'Over.' });
    const lines = chatLines((await run(chat, [...JSON_RUN, prompt, '--answer', 'session'])).stdout);
    expect(decisionsOf(lines)).toEqual(['Allow for session']);
  });

  it.each(['allow', 'session', 'deny'])('%s declines a question', async (answer) => {
    const { runtime, flags } = await startRuntime();
    const free = scripted({ calls: [{ name: 'ask_user', args: { questions: [QUESTION] } }] }, { text: 'Over.' });
    const lines = chatLines((await run(chat, [...flags, ...JSON_RUN, free, '--answer', answer])).stdout);
    expect(runtime.url).toContain('127.0.0.1');
    const last = answer === 'deny' ? ['Deny'] : [answer === 'allow' ? 'Allow' : 'Allow for session', 'Decline'];
    expect(decisionsOf(lines)).toEqual(last);
  });

  it('ask without a terminal waits for the answer of somebody else', async () => {
    const { runtime, flags } = await startRuntime();
    const other = runtime.mint('somebody-else');
    const asked = run(chat, [...flags, ...JSON_RUN, APPROVAL, '--answer', 'ask']);
    const pending = { response: { kind: 'approval', request_id: 1, decision: 'allow' } };
    // Control is taken only once the request waits: taken earlier, it would be fought for over the prompt.
    await expect
      .poll(() => call(runtime.url, other, 'frontend.v2.attach', {}).then(JSON.stringify), { timeout: 15_000 })
      .toContain('"kind":"approval"');
    await call(runtime.url, other, 'frontend.v2.take_control', {});
    expect(await call(runtime.url, other, 'frontend.v2.respond', pending)).not.toHaveProperty('error');
    const { code, stdout } = await asked;
    const lines = chatLines(stdout);
    expect([code, decisionsOf(lines)]).toEqual([0, []]);
    expect(partsOf(lines)).toContainEqual({ kind: 'resolution', requestId: 1, text: 'Allowed elsewhere.' });
  });
});

const QUESTION = { question: 'Which one?', header: 'One', options: [{ label: 'A' }, { label: 'B' }] };

async function call(url: string, token: string, method: string, params: object): Promise<object> {
  const response = await fetch(new URL('/rpc', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'x-supercode-client-id': 'somebody-else',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ id: 1, method, params }),
  });
  return (await response.json()) as object;
}

describe.concurrent('where to', () => {
  it('goes where the environment says', async () => {
    const { runtime, env } = await startRuntime();
    const { code, stdout } = await run(chat, [...JSON_RUN, 'hello you'], { env });
    expect([code, textOf(chatLines(stdout))]).toEqual([0, 'You said: hello you']);
    expect(JSON.stringify(runtime.history())).toContain('hello you');
  });

  it('goes where the flags say, whatever the environment says', async () => {
    const [meant, other] = [await startRuntime(), await startRuntime()];
    const env = { ...other.env, SUPERCODE_FRONTEND_UNAVAILABLE: 'There is none.' };
    const { code } = await run(chat, [...meant.flags, ...JSON_RUN, 'hello you'], { env });
    expect(code).toBe(0);
    expect(JSON.stringify(meant.runtime.history())).toContain('hello you');
    expect(JSON.stringify(other.runtime.history())).not.toContain('hello you');
  });

  it('asks for no more than --permissions names', async () => {
    const { flags } = await startRuntime();
    const { code, stdout } = await run(chat, [...flags, '--permissions', 'observe', ...JSON_RUN, 'hello you']);
    expect(code).toBe(1);
    expect(outcomeOf(chatLines(stdout))).toMatchObject({ type: 'settled', outcome: 'failed' });
  });

  it.each(['--url', '--client-id', '--credential-file'])('needs %s beside its two companions', async (flag) => {
    const { flags, env } = await startRuntime();
    const at = flags.indexOf(flag);
    const { code, stdout, stderr } = await run(
      chat,
      [...flags.slice(0, at), ...flags.slice(at + 2), ...JSON_RUN, 'x'],
      {
        env,
      },
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(flag);
  });

  it('does not make do with half an environment', async () => {
    const { env } = await startRuntime();
    const { code, stderr } = await run(chat, [...JSON_RUN, 'x'], { env: { ...env, SUPERCODE_FRONTEND_CLIENT_ID: '' } });
    expect(code).toBe(2);
    expect(stderr).toContain('SUPERCODE_FRONTEND_CLIENT_ID');
  });

  it('says why there is no runtime', async () => {
    const why = 'The agent is not \x1b[31minstalled.';
    const { code, stdout, stderr } = await run(chat, [...JSON_RUN, 'x'], {
      env: { SUPERCODE_FRONTEND_UNAVAILABLE: why },
    });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toBe('supercode-chat: could not attach: The agent is not installed.\n');
  });

  it('says that a credential is refused, and nothing on standard output', async () => {
    const { flags, credentialFile } = await startRuntime();
    writeFileSync(credentialFile, 'ab'.repeat(32));
    const { code, stdout, stderr } = await run(chat, [...flags, ...JSON_RUN, 'x']);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^supercode-chat: could not attach: .+\n$/);
  });

  it('gives up where nothing listens', { timeout: 60_000 }, async () => {
    const { runtime, flags } = await startRuntime();
    await runtime.kill();
    const { code, stdout, stderr } = await run(chat, [...flags, ...JSON_RUN, 'x']);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^supercode-chat: could not attach: .+\n$/);
  });

  it('settles a turn as failed whose runtime is gone for good', { timeout: 60_000 }, async () => {
    const { runtime, flags } = await startRuntime();
    const log = join(privateFolder(), 'log');
    const running = run(chat, [...flags, ...JSON_RUN, '/demo slow', '--record', log]);
    await expect
      .poll(() => existsSync(log) && readFileSync(log, 'utf8').includes('item'), { timeout: 20_000 })
      .toBe(true);
    await runtime.kill();
    const { code, stdout } = await running;
    expect(code).toBe(1);
    const last = outcomeOf(chatLines(stdout));
    expect(last).toMatchObject({ type: 'settled', outcome: 'failed' });
    expect(last?.type === 'settled' && last.message).toContain('connection');
  });
});

describe.concurrent('usage', () => {
  it.each([
    [['--nonsense']],
    [['a prompt']],
    [['--json=1']],
    [['--prompt']],
    [['--prompt', '--json']],
    [['--prompt', '']],
    [['--prompt', '  ']],
    [['--answer', 'maybe', '--prompt', 'x']],
    [['--permissions', 'observe,everything', '--prompt', 'x']],
    [['--permissions', '', '--prompt', 'x']],
    [['--record', '', '--prompt', 'x']],
    [['--url', 'http://127.0.0.1:1', '--prompt', 'x']],
    [['--client-id', 'me', '--credential-file', '', '--prompt', 'x']],
  ])('%j is refused in one sentence, which says what to do', (args) => {
    const refused = () => chatCommand(args, {});
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(/^[A-Z"-][^\n]+\.$/);
  });

  it.each([[['--nonsense']], [['--record', '/no/such/folder/log', '--prompt', 'x']]])(
    '%j ends with 2',
    async (args) => {
      const { code, stdout, stderr } = await run(chat, args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^supercode-chat: [^\n]+\.\n$/);
    },
  );

  it('needs a prompt for a runtime that is not a demo', async () => {
    const { env } = await startRuntime();
    const { code, stdout, stderr } = await run(chat, ['--json'], { env });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--prompt');
  });

  it('has help and a version', async () => {
    const help = await run(chat, ['--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    for (const option of ['--url', '--answer', '--record', '--history', '--json', '130']) {
      expect(help.stdout).toContain(option);
    }
    expect(await run(chat, ['--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  });
});

describe.concurrent('--prompt -', () => {
  it('reads all of standard input', async () => {
    const input = 'ein Satz,\nnoch ein Satz: äöü 🙂\n';
    const { code, stdout } = await run(chat, [...JSON_RUN, '-'], { input });
    expect([code, textOf(chatLines(stdout))]).toEqual([0, `You said: ${input.trim()}`]);
  });

  it.each([
    ['nothing', ''],
    ['blanks', ' \n\n'],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0x62])],
  ])('refuses %s', async (_, input) => {
    const { code, stdout, stderr } = await run(chat, [...JSON_RUN, '-'], { input });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('standard input');
  });
});

describe.concurrent('a turn that fails', () => {
  const prompt = scripted({ status: 400, body: { error: { message: 'no such model' } } });

  it('settles with the reason and ends with 1', async () => {
    const { code, stdout } = await run(chat, [...JSON_RUN, prompt]);
    expect(code).toBe(1);
    const last = outcomeOf(chatLines(stdout));
    expect(last).toMatchObject({ type: 'settled', outcome: 'failed' });
    expect(last?.type === 'settled' && last.message).toContain('no such model');
  });

  it('says so to a person', async () => {
    const { code, stdout } = await run(chat, ['--prompt', prompt]);
    expect(code).toBe(1);
    expect(stdout).toContain('no such model');
    expect(stdout).toContain('✗ failed after');
  });
});

describe.concurrent('--history', () => {
  it('tells the turns of before first, then the new one alone', async () => {
    const { flags } = await startRuntime();
    await run(chat, [...flags, ...JSON_RUN, APPROVAL, '--answer', 'allow']);
    const { code, stdout } = await run(chat, [...flags, ...JSON_RUN, 'and now this', '--history']);
    expect(code).toBe(0);
    const lines = chatLines(stdout);
    const first = lines[0];
    const rest = lines.slice(lines.findLastIndex(({ type }) => type === 'turn') + 1);
    expect(first).toMatchObject({ type: 'turn', turn: { prompt: APPROVAL, marker: false } });
    expect(first?.type === 'turn' && first.turn.parts.map(({ kind }) => kind)).toEqual([
      'markdown',
      'tool',
      'markdown',
    ]);
    expect(textOf(rest)).toBe('You said: and now this');
  });

  it('is drawn above the turn for a person', async () => {
    const { flags } = await startRuntime();
    await run(chat, [...flags, '--prompt', 'first words']);
    const { stdout } = await run(chat, [...flags, '--prompt', 'second words', '--history']);
    expect(stdout).toMatch(/› first words[^]*You said: first words[^]*› second words[^]*You said: second words/);
  });
});

describe.concurrent('--record', () => {
  it('writes a private log with a header and a footer', async () => {
    const log = join(privateFolder(), 'log.jsonl');
    const { code } = await run(chat, [...JSON_RUN, 'hello', '--record', log]);
    expect(code).toBe(0);
    expect(statSync(log).mode & 0o777).toBe(0o600);
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ format: 1, version: VERSION, firstN: 1 });
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ end: { n: lines.length - 2 } });
  });

  it('never overwrites a file', async () => {
    const log = join(privateFolder(), 'log.jsonl');
    writeFileSync(log, 'precious');
    const { code, stdout, stderr } = await run(chat, [...JSON_RUN, 'hello', '--record', log]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('exists already');
    expect(readFileSync(log, 'utf8')).toBe('precious');
  });

  it('leaves no log behind where the usage is bad', async () => {
    const log = join(privateFolder(), 'log.jsonl');
    await run(chat, [...JSON_RUN, 'hello', '--record', log, '--answer', 'never']);
    expect(existsSync(log)).toBe(false);
  });

  it('is left without a word of the credential, as is everything that is printed', async () => {
    const { token, flags, runtime } = await startRuntime();
    const log = join(privateFolder(), 'log.jsonl');
    const runs = [
      await run(chat, [...flags, ...JSON_RUN, APPROVAL, '--answer', 'allow', '--record', log]),
      await run(chat, [...flags, ...JSON_RUN, '/demo failure', '--answer', 'allow', '--history']),
      await run(chat, [...flags, '--prompt', 'hello', '--history']),
      await run(chat, [...flags, '--permissions', 'observe', '--prompt', 'hello']),
    ];
    const written = [readFileSync(log, 'utf8'), ...runs.flatMap(({ stdout, stderr }) => [stdout, stderr])];
    for (const text of written) {
      expect(text).not.toContain(token.slice(0, 16));
      expect(text).not.toContain(runtime.ownerToken.slice(0, 16));
      expect(text.toLowerCase()).not.toContain('bearer');
    }
    expect(written[0]).toContain(runtime.url);
  });
});

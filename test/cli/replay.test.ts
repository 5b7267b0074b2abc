import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/exitCodes.js';
import { replayCommand } from '../../src/cli/replayOptions.js';
import { sha256Hex } from '../../src/services/node/hash.js';
import { bash, buildBins, privateFolder, run, scripted, startRuntime, VERSION, type Ended } from './bins.js';
import { chatLines, partsOf, replayLines, textOf, type ReplayLine } from './jsonLines.js';

const { chat, replay } = buildBins();

interface Recorded {
  readonly log: string;
  readonly lines: readonly string[];
  readonly chatted: Ended;
}

let tour: Recorded;

beforeAll(async () => {
  tour = await recorded([]);
});

async function recorded(args: readonly string[]): Promise<Recorded> {
  const log = join(privateFolder(), 'log.jsonl');
  const chatted = await run(chat, ['--json', '--record', log, ...args]);
  return { log, lines: readFileSync(log, 'utf8').trimEnd().split('\n'), chatted };
}

/** A log with these lines, as they are. */
function logOf(...lines: readonly (string | Buffer)[]): string {
  const log = join(privateFolder(), 'log.jsonl');
  writeFileSync(log, Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\n')]))));
  return log;
}

async function replayed(
  log: string,
  ...args: readonly string[]
): Promise<{ code: number | null; lines: readonly ReplayLine[] }> {
  const { code, stdout, stderr } = await run(replay, [log, '--json', ...args]);
  expect(stderr).toBe('');
  return { code, lines: replayLines(stdout) };
}

const endOf = (lines: readonly ReplayLine[]) => lines.at(-1);
const damageIn = (lines: readonly ReplayLine[]) => lines.filter((line) => line.type === 'damage');

describe.concurrent('a recorded turn', () => {
  it('replays to the same parts and the same hash', async () => {
    const { code, lines } = await replayed(tour.log);
    expect(partsOf(lines)).toEqual(partsOf(chatLines(tour.chatted.stdout)));
    const footer = JSON.parse(tour.lines.at(-1) ?? '') as { end: { n: number; hash: string } };
    expect(endOf(lines)).toEqual({ type: 'end', ...footer.end, matches: true });
    expect(code).toBe(0);
  });

  it.each([
    ['tools that run at once', '/demo parallel', 'allow'],
    ['a tool that fails and a model that does', '/demo failure', 'allow'],
    ['a question', '/demo question', 'session'],
    ['reasoning', '/demo reasoning', 'deny'],
    ['background output', '/demo background', 'allow'],
    [
      'line ends that are none',
      scripted({ chunks: ['one\u2028two\u2029three\u0085', '\r\nfour \x1b[3', '1mred'] }),
      'deny',
    ],
  ])('with %s replays to the same parts and the same hash', async (_, prompt, answer) => {
    const { log, chatted } = await recorded(['--prompt', prompt, '--answer', answer]);
    const { code, lines } = await replayed(log);
    expect(partsOf(lines)).toEqual(partsOf(chatLines(chatted.stdout)));
    expect(partsOf(lines).length).toBeGreaterThan(0);
    expect([code, endOf(lines)]).toEqual([0, expect.objectContaining({ matches: true })]);
  });

  it('of a conversation with a past replays to that turn alone', async () => {
    const { flags } = await startRuntime();
    const before = scripted({ calls: [bash('echo before')] }, { text: 'Before.' });
    await run(chat, [...flags, '--prompt', before, '--answer', 'allow']);
    const { log, chatted } = await recorded([...flags, '--prompt', 'and now']);
    const { lines } = await replayed(log);
    expect(partsOf(lines)).toEqual(partsOf(chatLines(chatted.stdout)));
    expect(textOf(lines)).toBe('You said: and now');
  });
});

describe.concurrent('--at', () => {
  it('shows what was seen up to an action, itself included', async () => {
    const whole = (await replayed(tour.log, '--show', 'actions')).lines;
    const request = whole.find(
      (line) => line.type === 'action' && JSON.stringify(line.action).includes('"kind":"request"'),
    );
    const at = request?.type === 'action' ? request.n : 0;
    const upTo = await replayed(tour.log, '--at', String(at));
    expect(partsOf(upTo.lines).at(-1)).toMatchObject({ kind: 'request', requestId: 1 });
    expect(endOf(upTo.lines)).toMatchObject({ n: at, matches: null });
    const before = await replayed(tour.log, '--at', String(at - 1));
    expect(partsOf(before.lines).at(-1)).toMatchObject({ kind: 'tool', phase: 'started' });
    expect([upTo.code, before.code]).toEqual([0, 0]);
  });

  it('shows nothing at 0, and all of it at the last action and beyond', async () => {
    const none = await replayed(tour.log, '--at', '0');
    expect(partsOf(none.lines)).toEqual([]);
    expect(endOf(none.lines)).toMatchObject({ n: 0, matches: null });
    for (const at of [tour.lines.length - 2, 999_999]) {
      const all = await replayed(tour.log, '--at', String(at));
      expect(endOf(all.lines)).toMatchObject({ n: tour.lines.length - 2, matches: true });
    }
  });
});

describe.concurrent('--show', () => {
  it('state is one line of canonical JSON, and the hash is of it', async () => {
    const { stdout } = await run(replay, [tour.log, '--show', 'state', '--json']);
    const [line = ''] = stdout.split('\n');
    const [state, end] = replayLines(stdout);
    expect(state?.type).toBe('state');
    const text = line.slice('{"type":"state","state":'.length, -1);
    expect(end).toMatchObject({ type: 'end', hash: sha256Hex(text), matches: true });
  });

  it('actions is each action that was recorded', async () => {
    const { lines } = await replayed(tour.log, '--show', 'actions');
    const actions = lines.flatMap((line) =>
      line.type === 'action' ? [{ n: line.n, at: line.at, action: line.action }] : [],
    );
    expect(actions).toEqual(tour.lines.slice(1, -1).map((line): unknown => JSON.parse(line)));
  });

  it('is drawn for a person', async () => {
    const parts = await run(replay, [tour.log]);
    expect(parts.stdout).toMatch(/› \/demo tour[^]*Welcome![^]*± Changes[^]*, as recorded\n$/);
    expect(parts.stdout).not.toContain('\x1b');
    const actions = await run(replay, [tour.log, '--show', 'actions', '--at', '2']);
    expect(actions.stdout.split('\n')[0]).toMatch(/^ +1 [\d:.]+ connections\/opened \{/);
    const state = await run(replay, [tour.log, '--show', 'state']);
    expect(() => JSON.parse(state.stdout.split('\n')[0] ?? '') as unknown).not.toThrow();
  });
});

describe.concurrent('a damaged log', () => {
  const body = () => tour.lines.slice(0, -1);

  it('with a torn last line is told, and its rest shown', async () => {
    const log = join(privateFolder(), 'log.jsonl');
    writeFileSync(log, [...body(), tour.lines.at(-1)?.slice(0, 20)].join('\n'));
    const { code, lines } = await replayed(log);
    expect(damageIn(lines)).toMatchObject([{ line: tour.lines.length }]);
    expect(partsOf(lines)).toEqual(partsOf(chatLines(tour.chatted.stdout)));
    expect([code, endOf(lines)]).toEqual([4, expect.objectContaining({ matches: null })]);
  });

  it('with a bad line in the middle is told, and its rest shown', async () => {
    const { code, lines } = await replayed(logOf(...tour.lines.with(30, '{"n":30,"at":')));
    expect(damageIn(lines)[0]).toMatchObject({ line: 31 });
    expect(endOf(lines)).toMatchObject({ n: tour.lines.length - 2, matches: false });
    expect(partsOf(lines).some(({ kind }) => kind === 'diff')).toBe(true);
    expect(code).toBe(4);
  });

  it.each([
    [
      'of another format',
      (lines: string[]) => [(lines[0] ?? '').replace('"format":1', '"format":2'), ...lines.slice(1)],
      1,
    ],
    ['without its header', (lines: string[]) => lines.slice(1), 1],
    ['with a line that is missing', (lines: string[]) => lines.toSpliced(20, 1), 21],
    ['with a line twice', (lines: string[]) => lines.toSpliced(20, 0, lines[20] ?? ''), 22],
    ['with bytes that are no UTF-8', (lines: string[]) => [...lines.slice(0, 20), NO_UTF8, ...lines.slice(21)], 21],
    ['behind a byte order mark', (lines: string[]) => [`\ufeff${lines[0] ?? ''}`, ...lines.slice(1)], 1],
    ['of NUL bytes', () => ['\0'.repeat(5000)], 1],
    ['that is no log', () => ['Dear Sir or Madam,', 'I am no log.'], 1],
  ])('%s is told with its line', async (_, damaged, line) => {
    const { code, lines } = await replayed(logOf(...damaged([...tour.lines])));
    expect(damageIn(lines).map((each) => each.line)).toContain(line);
    expect([code, endOf(lines)?.type]).toEqual([4, 'end']);
  });

  it('that is empty is told', async () => {
    const { code, lines } = await replayed(logOf());
    expect(damageIn(lines)).toMatchObject([{ line: 1 }]);
    expect(code).toBe(4);
  });

  it('is told to a person on standard error', async () => {
    const { code, stdout, stderr } = await run(replay, [logOf(...tour.lines.with(30, 'oops'))]);
    expect(code).toBe(4);
    expect(stdout).toContain('Welcome!');
    expect(stderr).toMatch(/line 31: /);
  });
});

const NO_UTF8 = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);

describe.concurrent('a log that is whole', () => {
  it('but has another hash is told apart from damage', async () => {
    const changed = tour.lines.map((line) => line.replace('Welcome!', 'Wellcome'));
    const { code, lines } = await replayed(logOf(...changed));
    expect(damageIn(lines)).toEqual([]);
    expect([code, endOf(lines)]).toEqual([1, expect.objectContaining({ matches: false })]);
  });

  it('but of another version of the state is not compared', async () => {
    const [header = '', ...rest] = tour.lines;
    const { code, lines } = await replayed(logOf(header.replace(/"stateVersion":\d+/, '"stateVersion":0'), ...rest));
    expect(partsOf(lines)).toEqual(partsOf(chatLines(tour.chatted.stdout)));
    expect([code, endOf(lines)]).toEqual([0, expect.objectContaining({ matches: null })]);
  });

  it('but ends without a footer is not compared', async () => {
    const { code, lines } = await replayed(logOf(...tour.lines.slice(0, -1)));
    expect([code, endOf(lines)]).toEqual([0, expect.objectContaining({ matches: null })]);
  });

  it('may hold several conversations, which are told apart', async () => {
    const other = tour.lines.slice(1, -1).map((line) => {
      const { n, ...rest } = JSON.parse(line.replaceAll('"connection":"chat"', '"connection":"other"')) as {
        n: number;
      };
      return JSON.stringify({ n: n + tour.lines.length - 2, ...rest });
    });
    const { lines } = await replayed(logOf(...tour.lines.slice(0, -1), ...other));
    const named = lines.flatMap((line) => (line.type === 'part' ? [line.connection] : []));
    expect(new Set(named)).toEqual(new Set(['chat', 'other']));
    const { stdout } = await run(replay, [logOf(...tour.lines.slice(0, -1), ...other)]);
    expect(stdout).toMatch(/── chat\n[^]*── other\n/);
  });
});

describe.concurrent('usage', () => {
  it.each([
    [[]],
    [['one', 'two']],
    [['FILE', '--at', 'here']],
    [['FILE', '--at', '-1']],
    [['FILE', '--at', '1.5']],
    [['FILE', '--show', 'everything']],
    [['FILE', '--nonsense']],
  ])('%j is refused in one sentence', (args) => {
    const refused = () => replayCommand(args);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(/^[A-Z"-][^\n]+\.$/);
  });

  it.each([[['/no/such/file']], [['/tmp']], [['--nonsense']]])('%j ends with 2', async (args) => {
    const { code, stdout, stderr } = await run(replay, args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^supercode-replay: [^\n]+\.\n$/);
  });

  it('has help and a version', async () => {
    expect((await run(replay, ['--help'])).stdout).toContain('--at N');
    expect((await run(replay, ['--version'])).stdout).toBe(`${VERSION}\n`);
  });
});

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bash, buildBins, deafTo, privateFolder, run, scripted, start, startRuntime, type Running } from './bins.js';
import { chatLines, replayLines, textOf } from './jsonLines.js';

const { chat, replay } = buildBins();

const startChat = (...args: readonly string[]): Running => start(process.execPath, [chat, ...args]);
const lastOf = (stdout: string) => chatLines(stdout).at(-1);

async function expectWholeLog(log: string): Promise<void> {
  const { code, stdout } = await run(replay, [log, '--json']);
  expect(replayLines(stdout).at(-1)).toMatchObject({ type: 'end', matches: true });
  expect(code).toBe(0);
}

describe.concurrent('Ctrl-C', () => {
  it('stops the turn; the program ends with 130 when the turn has', async () => {
    const log = join(privateFolder(), 'log');
    const { child, wrote, ended } = startChat('--json', '--prompt', '/demo slow', '--record', log);
    await wrote('item');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([130, '']);
    expect(lastOf(stdout)).toEqual({ type: 'settled', outcome: 'interrupted' });
    expect(stdout).toContain('Interrupted.');
    await expectWholeLog(log);
  });

  it('stops a turn that waits for an answer, and denies what it asks', async () => {
    const prompt = scripted({ calls: [bash('echo never')] });
    const { child, wrote, ended } = startChat('--json', '--prompt', prompt, '--answer', 'ask');
    await wrote('"kind":"request"');
    child.kill('SIGINT');
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(chatLines(stdout)).toContainEqual({ type: 'answered', requestId: 1, label: 'Deny' });
  });

  it('leaves at once the second time, with the log ended', async () => {
    const { runtime, flags } = await startRuntime();
    const url = await deafTo('frontend.v2.interrupt', runtime.url);
    const log = join(privateFolder(), 'log');
    const { child, wrote, ended } = startChat(
      ...flags,
      '--url',
      url,
      '--json',
      '--prompt',
      '/demo slow',
      '--record',
      log,
    );
    await wrote('item');
    child.kill('SIGINT');
    await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 15_000 }).toContain('turn/interruptRequested');
    child.kill('SIGINT');
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(lastOf(stdout)).toMatchObject({ type: 'settled', outcome: 'interrupted' });
    await expectWholeLog(log);
  });

  it('leaves at once where nothing is attached yet', async () => {
    const { runtime, flags } = await startRuntime();
    await runtime.kill();
    const log = join(privateFolder(), 'log');
    const { child, ended } = startChat(...flags, '--json', '--prompt', 'x', '--record', log);
    await expect.poll(() => logOf(log), { timeout: 15_000 }).toContain('"attempt":2');
    child.kill('SIGINT');
    expect(await ended).toEqual({ code: 130, stdout: '', stderr: '' });
    await expectWholeLog(log);
  });

  it('says to a person that the turn was stopped', async () => {
    const { child, wrote, ended } = startChat('--prompt', '/demo slow');
    await wrote('item');
    child.kill('SIGINT');
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(stdout).toContain('■ stopped after');
  });
});

function logOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

describe.concurrent('a signal that ends programs', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends it with %d, the log with its footer', async (signal, expected) => {
    const log = join(privateFolder(), 'log');
    const { child, wrote, ended } = startChat('--json', '--prompt', '/demo slow', '--record', log);
    await wrote('item');
    child.kill(signal);
    const { code, stdout } = await ended;
    expect(code).toBe(expected);
    expect(lastOf(stdout)).toMatchObject({ type: 'settled', outcome: 'interrupted' });
    await expectWholeLog(log);
  });
});

describe.concurrent('a reader that goes away', () => {
  it.each([['--json'], ['--prompt']])('ends a turn quietly (%s)', async (flag) => {
    const log = join(privateFolder(), 'log');
    const args = flag === '--json' ? ['--json', '--prompt', '/demo slow'] : ['--prompt', '/demo slow'];
    const { child, wrote, ended } = startChat(...args, '--record', log);
    await wrote('item');
    child.stdout.destroy();
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([1, '']);
    await expectWholeLog(log);
  });

  it.each([['--json'], []])('that is only slow gets all of it (%s)', async (...flags) => {
    const prompt = scripted({ repeat: { n: 40_000, text: 'item ', pad: 5 } });
    const child = spawn(process.execPath, [chat, ...flags, '--prompt', prompt], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    let text = '';
    for await (const piece of child.stdout.setEncoding('utf8')) text += String(piece);
    const said = flags.length > 0 ? textOf(chatLines(text)) : text;
    expect(said).toContain('item 00000 item 00001');
    expect(said).toContain('item 39999');
    expect(text).toMatch(flags.length > 0 ? /"succeeded"}\n$/ : /done in [\d.]+ s\n$/);
  });

  it('is no error for help', async () => {
    const { child, ended } = startChat('--help');
    child.stdout.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });
});

import { describe, expect, it } from 'vitest';
import { bash, buildBins, deafTo, onTerminal, plain, scripted, startRuntime } from './bins.js';

const { chat } = buildBins();

const APPROVAL = scripted({ text: 'Look: ', calls: [bash('echo hello there')] }, { text: 'Over.' });
const QUESTIONS = scripted(
  {
    calls: [
      {
        name: 'ask_user',
        args: {
          questions: [
            { question: 'Which database?', header: 'Database', options: [{ label: 'SQLite' }, { label: 'Postgres' }] },
            {
              question: 'Which systems?',
              header: 'Systems',
              multiSelect: true,
              options: [{ label: 'Linux' }, { label: 'macOS' }],
            },
          ],
        },
      },
    ],
  },
  { text: 'Over.' },
);

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const ENTER = '\r';

/** A prompt that waits to be written. */
const PROMPT = /› $/;

describe.skipIf(process.platform !== 'linux')('on a terminal', { concurrent: true }, () => {
  it('asks for an approval and takes the answer by a key', async () => {
    const { child, wrote, ended } = onTerminal(chat, ['--prompt', APPROVAL]);
    await wrote('Waiting for your answer');
    child.stdin.write('1');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(plain(stdout)).toContain('╰ Allowed.');
    expect(plain(stdout)).toContain('│ hello there');
    expect(plain(stdout)).toContain('✓ done in');
    expect(stdout).toContain('\x1b[32m✓');
  });

  it('passes on the answer that was chosen, and no key that means none', async () => {
    const { child, wrote, ended } = onTerminal(chat, ['--prompt', APPROVAL]);
    await wrote('Waiting for your answer');
    child.stdin.write('x9 \x1b[A3');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(plain(stdout)).toContain('╰ Denied.');
  });

  it('stops the turn at Ctrl-C and ends with 130', async () => {
    const { child, wrote, ended } = onTerminal(chat, ['--prompt', '/demo slow']);
    await wrote('item');
    child.stdin.write(CTRL_C);
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(plain(stdout)).toContain('Interrupted.');
    expect(plain(stdout)).toContain('■ stopped after');
  });

  it('shows that stopping was asked for, and leaves at a second Ctrl-C', async () => {
    const { runtime, flags } = await startRuntime();
    const url = await deafTo('frontend.v2.interrupt', runtime.url);
    const { child, wrote, ended } = onTerminal(chat, [...flags, '--url', url, '--prompt', '/demo slow']);
    await wrote('item');
    child.stdin.write(CTRL_C);
    await wrote('Ctrl-C leaves at once');
    child.stdin.write(CTRL_C);
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(plain(stdout)).toContain('Stop requested');
  });

  it('asks the fields of a question one by one, and again where an answer does not fit', async () => {
    const { child, wrote, ended } = onTerminal(chat, ['--prompt', QUESTIONS]);
    await wrote('Waiting for your answer');
    child.stdin.write('1');
    await wrote('Answer…');
    child.stdin.write('1');
    await wrote('or words of your own');
    child.stdin.write(`7${ENTER}`);
    await wrote('There is no 7');
    child.stdin.write(`2${ENTER}`);
    await wrote('commas between');
    child.stdin.write(`2, BeOS${ENTER}`);
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(plain(stdout)).toContain('Database: Postgres');
    expect(plain(stdout)).toMatch(/Systems: macOS.*BeOS/);
  });

  it('stops the turn at a Ctrl-C in a question', async () => {
    const { child, wrote, ended } = onTerminal(chat, ['--prompt', QUESTIONS]);
    await wrote('Waiting for your answer');
    child.stdin.write('1');
    await wrote('Answer…');
    child.stdin.write('1');
    await wrote('or words of your own');
    child.stdin.write(CTRL_C);
    expect((await ended).code).toBe(130);
  });

  it('has prompt after prompt until /quit', async () => {
    const { child, wrote, ended } = onTerminal(chat, []);
    await wrote(PROMPT);
    child.stdin.write(`one thing${ENTER}`);
    await wrote('You said: one thing');
    await wrote(PROMPT);
    child.stdin.write(`another thing${ENTER}`);
    await wrote('You said: another thing');
    await wrote(PROMPT);
    child.stdin.write(`/quit${ENTER}`);
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(plain(stdout)).toContain('demo runtime');
    // Each prompt is echoed once, by whoever reads the line.
    expect(plain(stdout)).not.toContain('aannootthheerr');
  });

  it('keeps what is typed while a turn runs for the next prompt', async () => {
    const { child, wrote, ended } = onTerminal(chat, []);
    await wrote(PROMPT);
    child.stdin.write(`${scripted({ text: 'A', first: 800 })}${ENTER}`);
    await wrote('Working');
    child.stdin.write('for laterr\x7f');
    await wrote(/› for later$/);
    child.stdin.write(ENTER);
    await wrote(/You said: for later[^]*› $/);
    child.stdin.write(CTRL_D);
    expect((await ended).code).toBe(0);
  });

  it.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('leaves at %s where no turn runs', async (_, key) => {
    const { child, wrote, ended } = onTerminal(chat, []);
    await wrote(PROMPT);
    child.stdin.write(key);
    expect((await ended).code).toBe(0);
  });

  it('shows what another client starts meanwhile, and keeps what was being typed', async () => {
    const { runtime, flags } = await startRuntime();
    const { child, wrote, ended } = onTerminal(chat, [...flags]);
    await wrote(PROMPT);
    child.stdin.write('half a thou');
    await wrote('half a thou');
    await sendAs(runtime.url, runtime.mint('elsewhere'), 'a word from elsewhere');
    await wrote('You said: a word from elsewhere');
    await wrote(/› half a thou$/);
    child.stdin.write(`ght${ENTER}`);
    await wrote(/You said: half a thought[^]*› $/);
    child.stdin.write(CTRL_D);
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(plain(stdout)).toContain('› a word from elsewhere');
  });

  it('is drawn without colours for NO_COLOR, and without moving lines on a dumb terminal', async () => {
    const noColour = onTerminal(chat, ['--prompt', 'hello'], { NO_COLOR: '1' });
    const dumb = onTerminal(chat, ['--prompt', APPROVAL], { TERM: 'dumb' });
    await dumb.wrote('1 Allow');
    dumb.child.stdin.write('1');
    expect((await noColour.ended).stdout).not.toMatch(/\x1b\[\d*m/);
    const { code, stdout } = await dumb.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain('\x1b');
    expect(stdout).toContain('hello there');
  });

  it('asks on standard error where standard output is JSON', async () => {
    const { child, wrote, ended } = onTerminal(chat, ['--json', '--prompt', APPROVAL]);
    await wrote('Waiting for your answer');
    child.stdin.write('1');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout).toContain('{"type":"answered","requestId":1,"label":"Allow"}');
    expect(stdout).toContain('{"type":"settled","outcome":"succeeded"}');
  });
});

async function sendAs(url: string, token: string, prompt: string): Promise<void> {
  const call = async (method: string, params: object) => {
    await fetch(new URL('/rpc', url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'x-supercode-client-id': 'elsewhere',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ id: 1, method, params }),
    });
  };
  await call('frontend.v2.take_control', {});
  await call('frontend.v2.send_input', { prompt });
}

import { describe, expect, it, onTestFinished } from 'vitest';
import type { Wire } from '../conformance/wire.js';
import { ChatResponseProgressPart } from '../doubles/vscode/chatParts.js';
import type { ResponseStream } from '../doubles/vscode/responseStream.js';
import type { Faults, ProxiedAnswer } from '../faults/proxy.js';
import { AttachedEditor, bash, script, until } from './attachedEditor.js';
import { ProxiedEditor } from './proxiedEditor.js';

const progressOf = ({ parts }: ResponseStream) =>
  parts.flatMap((part) => (part instanceof ChatResponseProgressPart ? part.value : []));
const turnOf = ({ api }: AttachedEditor) => api.connections[0]?.turn;
const countOf = (text: string, word: string) => text.split(word).length - 1;
const COUNTING = script({ repeat: { n: 40, text: 'x', pad: 3 }, delay: 10 });
const ASKING = script({ text: 'Look.', calls: [bash('printf seen')] }, { text: 'Done.' });

async function watching(rival: Wire): Promise<void> {
  const stream = await rival.listen();
  onTestFinished(() => stream.close());
}

const saidTo = ({ runtime }: ProxiedEditor) =>
  runtime
    .history()
    .filter(({ role }) => role === 'user')
    .map(({ content }) => content);

describe('two chats on one connection', () => {
  it('at once: the second is added to the turn of the first, and both are drawn to its end', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const first = attached.send(ASKING);
    await first.stream.until(({ buttons }) => buttons.length === 3);
    const second = attached.send('and mind the tests');
    await second.stream.until(({ text }) => text.includes('your message was added to it'));
    await attached.click(first, 'Allow');
    const results = await Promise.all([first.result, second.result]);
    expect(results.map((result) => result?.errorDetails)).toEqual([undefined, undefined]);
    for (const { stream } of [first, second]) expect(countOf(stream.text, 'Done.')).toBe(1);
    expect([line.proxy.count('send_input'), line.proxy.count('steer'), line.accepted]).toEqual([1, 1, ['1 allow']]);
    expect(saidTo(line)).toEqual([ASKING, 'and mind the tests']);
  });

  it('the second while the first is still being sent: it goes into that turn as soon as that runs', async () => {
    const line = await ProxiedEditor.open({
      faults: { call: ({ name }) => (name === 'send_input' ? { kind: 'delay', ms: 80, before: true } : undefined) },
    });
    const { attached } = line;
    const first = attached.send(ASKING);
    await until(() => line.proxy.count('send_input') === 1);
    const second = attached.send('and mind the tests');
    await attached.click(first, 'Allow');
    await Promise.all([first.result, second.result]);
    expect(saidTo(line)).toEqual([ASKING, 'and mind the tests']);
    expect([line.proxy.count('send_input'), line.proxy.count('steer')]).toEqual([1, 1]);
    expect(progressOf(second.stream).join()).not.toContain('takes no message');
    expect(second.stream.text).toContain('Done.');
  });

  it('of which one is stopped are both over', async () => {
    const attached = await AttachedEditor.open();
    const first = attached.send(COUNTING);
    await first.stream.until(({ text }) => text.includes('x003'));
    const second = attached.send('more');
    await second.stream.until(({ text }) => text.includes('was added to it'));
    second.stop();
    await Promise.all([first.result, second.result]);
    expect(first.stream.text).toContain('Interrupted');
    expect(turnOf(attached)).toBe('idle');
  });
});

describe('a turn of another client', () => {
  it('takes what a person says meanwhile, and that is remarked', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const rival = line.rival();
    await watching(rival);
    await rival.ok('take_control');
    await rival.send(script({ chunks: ['theirs ', 'goes ', 'on '], delay: 60 }, { text: 'to its end.' }));
    await until(() => turnOf(attached) === 'running');
    const turn = attached.send('mine');
    const result = await turn.result;
    expect(result?.errorDetails).toBeUndefined();
    expect(turn.stream.text).toContain('*A turn was running already\\; your message was added to it\\.*');
    expect(turn.stream.text).toContain('on');
    // Control was theirs: it is taken first.
    expect(line.proxy.calls.filter(({ name, answer }) => name === 'steer' && answer?.result).length).toBe(1);
    expect(line.proxy.count('send_input')).toBe(0);
    expect(saidTo(line)).toContain('mine');
  });

  it('that stops ours says so in the response, which is no error', async () => {
    for (const granted of [false, true]) {
      const line = await ProxiedEditor.open({ granted });
      const { attached } = line;
      const turn = attached.send(COUNTING);
      await turn.stream.until(({ text }) => text.includes('x003'));
      const rival = line.rival();
      await rival.ok('take_control');
      await rival.ok('interrupt');
      const result = await turn.result;
      expect(result?.errorDetails).toBeUndefined();
      expect(turn.stream.text.trimEnd()).toMatch(/\n\n\*Interrupted\\\.\*$/);
      const next = attached.send('go on');
      await next.result;
      expect(next.stream.text).toContain('go on');
    }
  });
});

describe('what a runtime says of a trouble', () => {
  const SAID = '# [run](command:x) $(trash)';

  it('stays text in the error of a response', async () => {
    const attached = await AttachedEditor.open();
    const turn = attached.send(script({ status: 400, body: { error: { message: SAID } } }));
    expect((await turn.result)?.errorDetails?.message).toContain('\\# \\[run\\]\\(command\\:x\\) \\$\\(trash\\)');
  });

  it('stays text in a line of progress', async () => {
    const line = await ProxiedEditor.open();
    const { attached } = line;
    const error = { code: -32_000, name: 'internal', message: SAID };
    line.proxy.faults = {
      call: ({ name }) => (name === 'interrupt' ? { kind: 'edit', edit: ({ id }) => ({ id, error }) } : undefined),
    };
    const turn = attached.send(script({ hang: true }));
    await until(() => turnOf(attached) === 'running');
    await attached.run('stop');
    await turn.stream.until((stream) => progressOf(stream).join().includes('did not get through'));
    expect(progressOf(turn.stream).join('\n')).toContain('\\# \\[run\\]\\(command\\:x\\)');
    turn.stop();
    await turn.result;
  });
});

describe('a runtime that takes no message in mid-turn', () => {
  const withoutSteer = ({ id, result }: ProxiedAnswer): ProxiedAnswer => {
    const known = result as Record<string, unknown>;
    const descriptor = (known['descriptor'] ?? known) as { actions: object };
    descriptor.actions = { ...descriptor.actions, steer: false };
    return { id, result };
  };
  const faults: Faults = {
    call: ({ name }) => (name === 'attach' || name === 'describe' ? { kind: 'edit', edit: withoutSteer } : undefined),
  };

  it('keeps a prompt waiting in the editor until the turn is over', async () => {
    const line = await ProxiedEditor.open({ faults });
    const { attached } = line;
    const first = attached.send(ASKING);
    await first.stream.until(({ buttons }) => buttons.length === 3);
    first.askToYield();
    await attached.click(first, 'Allow');
    await first.result;
    expect(first.stream.text).toContain('Done.');
    const second = attached.send('and now this');
    await second.result;
    expect(saidTo(line)).toEqual([ASKING, 'and now this']);
    expect(line.proxy.count('steer')).toBe(0);
  });

  it('says so where the turn is another’s, and sends the prompt behind it', async () => {
    const line = await ProxiedEditor.open({ faults });
    const { attached } = line;
    const rival = line.rival();
    await watching(rival);
    await rival.ok('take_control');
    const theirs = script({ chunks: ['theirs '], delay: 150 }, { text: 'Done.' });
    await rival.send(theirs);
    await until(() => turnOf(attached) === 'running');
    const turn = attached.send('mine');
    await turn.stream.until((stream) => progressOf(stream).join().includes('takes no message in mid-turn'));
    expect((await turn.result)?.errorDetails).toBeUndefined();
    expect(saidTo(line)).toEqual([theirs, 'mine']);
    expect(turn.stream.text).toContain('You said: mine');
    expect(turn.stream.text).not.toContain('theirs');
    expect(line.proxy.count('steer')).toBe(0);
  });

  it('is not sent a prompt that was stopped while it waited', async () => {
    const line = await ProxiedEditor.open({ faults });
    const { attached } = line;
    const first = attached.send(COUNTING);
    await first.stream.until(({ text }) => text.includes('x003'));
    const second = attached.send('never mind');
    await second.stream.until((stream) => progressOf(stream).length > 0);
    second.stop();
    expect(await second.result).not.toHaveProperty('errorDetails');
    await first.result;
    expect(first.stream.text).toContain('x039');
    expect(saidTo(line)).toEqual([COUNTING]);
  });
});

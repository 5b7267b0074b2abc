import { describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../conformance/clientApp.js';
import { soon } from '../conformance/clientLine.js';
import { bash, pause, script } from '../conformance/wire.js';
import type { CallFault, FrameFault, ProxiedFrame } from './proxy.js';
import { openScene, type Scene } from './scene.js';

const text = (word: string, n = 4, delay = 1) => script({ repeat: { n, text: word }, delay });
const tool = (word: string) =>
  script({ text: 'I ask.', calls: [bash(`printf ${word}`, `call_${word}`)] }, { text: `It is ${word}.` });

/** The turn is seen as it was: all of its text, its own end, once. */
async function expectServed(scene: Scene, prompt: string, turnId: string) {
  const end = await scene.client.ended(turnId);
  const served = scene.served(prompt);
  expect({ outcome: end.outcome, text: scene.client.text(prompt) }).toEqual({
    outcome: served?.outcome,
    text: served?.text,
  });
  expect(served?.text).not.toBe('');
  expect(scene.client.ends.filter((each) => each.turnId === turnId)).toHaveLength(1);
}

async function runThrough(
  scene: Scene,
  prompt: string,
  fault: (frame: ProxiedFrame, at: number) => FrameFault | undefined,
) {
  let at = 0;
  scene.proxy.faults = { frame: (frame) => fault(frame, at++) };
  await expectServed(scene, prompt, scene.submit(prompt));
  scene.proxy.faults = {};
}

/** user_message, turn_started, four deltas, usage, turn_completed, turn_succeeded. */
const FRAMES = 9;

describe('a stream that is cut', () => {
  it('at any byte of any frame of a turn loses nothing and repeats nothing', { timeout: 60_000 }, async () => {
    const scene = await openScene();
    let cuts = 0;
    for (let frame = 0; frame < FRAMES; frame += 1) {
      for (const place of [0, 1, 0.5, -2, -1, 1e9]) {
        const prompt = text(`c${++cuts}-`);
        await runThrough(scene, prompt, ({ bytes }, at) => {
          const end = place < 0 ? bytes.length + place : place < 1 ? Math.floor(bytes.length * place) : place;
          return at === frame ? { kind: 'cut', at: Math.min(end, bytes.length) } : undefined;
        });
      }
    }
    expect(scene.proxy.streams.length).toBeGreaterThan(cuts / 2);
    expect(scene.client.conversation().map(({ prompt }) => prompt)).toEqual(scene.prompts);
    expect(scene.proxy.count('send_input')).toBe(cuts);
  });

  it('at every frame, again and again, still ends with all of the text', async () => {
    const scene = await openScene({ timings: { firstPause: 1, longestPause: 5 } });
    let cuts = 0;
    const prompt = text('again', 24, 8);
    await runThrough(scene, prompt, ({ bytes }, at) =>
      at % 3 === 2 && cuts++ < 20 ? { kind: 'cut', at: bytes.length >> 1 } : undefined,
    );
    expect(cuts).toBeGreaterThan(3);
  });

  it('[fault 16] while an approval waits, as an idle one is after 300 s, leaves the approval to be answered', async () => {
    const scene = await openScene({ watched: true });
    const { client, proxy } = scene;
    const prompt = tool('idle');
    const turn = scene.submit(prompt);
    await client.request();
    proxy.cut();
    await soon('a new stream', () => proxy.streams.length === 2 && proxy.count('take_control') === 2);
    await client.inControl();
    client.answer(await client.request(), 'Allow');
    await expectServed(scene, prompt, turn);
    expect(scene.accepted()).toEqual([1]);
    expect(client.requests()).toHaveLength(1);
  });

  it('[fault 16] while nobody else watches, for longer than a native runtime waits, shows the approval as withdrawn', async () => {
    const scene = await openScene();
    const { client, proxy } = scene;
    const prompt = tool('alone');
    const turn = scene.submit(prompt);
    await client.request();
    let refusals = 0;
    proxy.faults = { open: () => (++refusals <= 4 ? { status: 500 } : undefined) };
    proxy.cut();
    await expectServed(scene, prompt, turn);
    expect(client.requests()).toEqual([expect.objectContaining({ answers: [] })]);
    expect(client.parts().filter(({ kind }) => kind === 'resolution')).toHaveLength(1);
    expect(proxy.count('respond')).toBe(0);
    expect(client.parts()).toContainEqual(expect.objectContaining({ kind: 'tool', isError: true }));
  });
});

describe('a stream that falls silent', () => {
  it('[fault 17] half open is noticed by the missing keep-alives, and is replaced before it is closed', async () => {
    const scene = await openScene();
    const { client, proxy } = scene;
    const prompt = tool('silent');
    let wasOpen: boolean | undefined;
    proxy.faults = {
      open: () => {
        wasOpen = proxy.streams[0]?.open;
        return undefined;
      },
      // Everything up to the request gets through, its last byte does not.
      frame: ({ stream, bytes }) =>
        stream === 0 && bytes.includes('"kind":"request"') ? { kind: 'stall', at: bytes.length - 1 } : undefined,
    };
    const turn = scene.submit(prompt);
    const stalled = performance.now();
    // Closing the silent stream first would have denied the request (frontend.v2 §8.2).
    client.answer(await client.request(), 'Allow');
    expect(performance.now() - stalled).toBeGreaterThan(300);
    await expectServed(scene, prompt, turn);
    expect(wasOpen).toBe(true);
    expect(proxy.streams.map(({ open }) => open)).toEqual([false, true]);
    expect(scene.accepted()).toEqual([1]);
  });

  it('in any frame of a turn loses nothing', { timeout: 60_000 }, async () => {
    for (let frame = 0; frame < FRAMES; frame += 2) {
      const scene = await openScene({ timings: { silence: 200 } });
      await runThrough(scene, text(`stall${frame}-`), ({ bytes }, at) =>
        at === frame ? { kind: 'stall', at: bytes.length >> 1 } : undefined,
      );
    }
  });
});

describe('frames that come', () => {
  const classes: Readonly<Record<string, FrameFault>> = {
    'twice are seen once': { kind: 'duplicate' },
    'in the wrong order are put right': { kind: 'swap' },
    'never are fetched': { kind: 'drop' },
    'late are waited for': { kind: 'delay', ms: 30 },
  };
  it.each(Object.entries(classes))('%s, whichever frame of a turn it is', { timeout: 60_000 }, async (_, fault) => {
    const scene = await openScene();
    const { client } = scene;
    client.policy('allow');
    for (let frame = 0; frame < FRAMES; frame += 1) {
      await runThrough(scene, text(`f${frame}-`), (_frame, at) => (at === frame ? fault : undefined));
      await runThrough(scene, tool(`t${frame}`), (_frame, at) => (at === frame + 3 ? fault : undefined));
    }
    expect(scene.proxy.count('send_input')).toBe(scene.prompts.length);
    expect(scene.accepted()).toEqual(Array.from({ length: FRAMES }, () => 1));
    expect(client.conversation().map(({ prompt }) => prompt)).toEqual(scene.prompts);
  });

  it('twice, all of them, are seen once', async () => {
    const scene = await openScene();
    scene.client.policy('allow');
    for (const prompt of [text('d'), tool('d1'), tool('d2')]) {
      await runThrough(scene, prompt, () => ({ kind: 'duplicate' }));
    }
    expect(scene.accepted()).toEqual([1, 1]);
  });
});

describe('an answer that says', () => {
  it('[fault 15] [defect P29] 401 to a call in mid-life is final, until the next handover', async () => {
    const scene = await openScene();
    const { client, proxy } = scene;
    const before = text('before');
    await expectServed(scene, before, scene.submit(before));
    proxy.faults = { call: () => ({ kind: 'answer', status: 401 }), open: () => ({ status: 401 }) };
    const lost = client.submit('into the void');
    expect(await client.ended(lost)).toMatchObject({ outcome: 'failed' });
    await client.until('refused', () => client.phase === 'refused');
    expect(client.connection?.phase).toMatchObject({ refusal: { reason: 'unauthenticated' } });
    const calls = proxy.calls.length + proxy.streams.length;
    await pause(300);
    expect(proxy.calls.length + proxy.streams.length).toBe(calls);
    expect(proxy.streams.every(({ open }) => !open)).toBe(true);
    proxy.faults = {};
    await client.attach();
    const after = text('after');
    await expectServed(scene, after, scene.submit(after));
    expect(client.conversation().map(({ prompt }) => prompt)).toEqual([before, after]);
  });

  it('[fault 15] 401 to a stream that is opened again is final', async () => {
    const scene = await openScene();
    const { client, proxy } = scene;
    proxy.faults = { open: () => ({ status: 401 }) };
    proxy.cut();
    await client.until('refused', () => client.phase === 'refused');
    await pause(200);
    expect(proxy.streams).toHaveLength(2);
  });

  it('[fault 15] 503 with Retry-After to a stream is waited out, as long as it asks', async () => {
    const scene = await openScene();
    const { client, proxy } = scene;
    let refusals = 0;
    proxy.faults = {
      open: () => (++refusals === 1 ? { status: 503, headers: { 'retry-after': '1' } } : undefined),
    };
    // What is lost on the way is asked for anew at once; the refusal is what says to wait.
    proxy.cut();
    await soon('the refusal', () => proxy.streams.length === 2);
    const refused = performance.now();
    await soon('another attempt', () => proxy.streams.length === 3);
    expect(performance.now() - refused).toBeGreaterThan(950);
    await client.attached();
    const prompt = text('later');
    await expectServed(scene, prompt, scene.submit(prompt));
  });

  const unsure: Readonly<Record<string, CallFault>> = {
    'the line broke before it was heard': { kind: 'break' },
    'the line broke behind it': { kind: 'lose' },
    'HTTP 500 and was not passed on': { kind: 'answer', status: 500 },
    'HTTP 500 and was passed on': { kind: 'answer', status: 500, forwarded: true },
    'HTTP 503 and was not passed on': { kind: 'answer', status: 503 },
    'nothing in time': { kind: 'delay', ms: 2_000 },
  };
  it.each(Object.entries(unsure))('of a prompt that %s: it is never sent twice', async (_, fault) => {
    const scene = await openScene();
    const { client, proxy } = scene;
    proxy.faults = { call: ({ name, nth }) => (name === 'send_input' && nth === 0 ? fault : undefined) };
    const prompt = text('once');
    const turn = scene.submit(prompt);
    const end = await client.ended(turn);
    const served = scene.served(prompt);
    expect(end.outcome).toBe(served?.outcome ?? 'failed');
    if (served) expect(client.text(prompt)).toBe(served.text);
    await pause(100);
    expect(proxy.count('send_input')).toBe(1);
    const next = text('next');
    await expectServed(scene, next, scene.submit(next));
  });

  it.each(Object.entries(unsure))(
    '[fault 33] of an answer that %s: it may be given again, and has one effect',
    async (_, fault) => {
      const scene = await openScene();
      const { client, proxy } = scene;
      proxy.faults = { call: ({ name, nth }) => (name === 'respond' && nth === 0 ? fault : undefined) };
      const prompt = tool('unsure');
      const turn = scene.submit(prompt);
      client.answer(await client.request(), 'Allow');
      await client.until('a verdict', () => client.waiting().length === 1 || client.turn.phase === 'idle');
      for (const request of client.waiting()) client.answer(request, 'Allow');
      await expectServed(scene, prompt, turn);
      expect(scene.accepted()).toEqual([1]);
      expect(client.requests()).toEqual([expect.objectContaining({ answers: [] })]);
      expect(scene.published().filter(({ type }) => type === 'request_resolved')).toHaveLength(1);
    },
  );

  it('yes long after the events that it caused changes nothing', async () => {
    const scene = await openScene();
    const { client, proxy } = scene;
    proxy.faults = { call: () => ({ kind: 'delay', ms: 400 }) };
    client.policy('allow');
    for (const prompt of [text('late'), tool('late')]) await expectServed(scene, prompt, scene.submit(prompt));
    await pause(500);
    expect(client.turn.phase).toBe('idle');
    expect(client.ends).toHaveLength(2);
  });
});

describe('a runtime that is restarted', () => {
  it('[fault 14] between turns, numbering from 1 again, is recognised: what was shown stays, what comes is new', async () => {
    const scene = await openScene();
    const { client } = scene;
    const before = text('before');
    await expectServed(scene, before, scene.submit(before));
    const reached = client.cursor;
    await scene.restart();
    await client.until('the successor', () => client.cursor < reached && client.phase === 'attached');
    const after = text('after');
    await expectServed(scene, after, scene.submit(after));
    expect(client.conversation().flatMap(({ prompt }) => prompt ?? [])).toEqual([before, after]);
    expect(client.text(before)).toBe(scene.served(before)?.text);
    expect(client.parts().filter((part) => part.kind === 'notice')).toHaveLength(1);
  });

  it('[fault 14] in mid-turn ends that turn as failed, once, and keeps what was read of it', async () => {
    const scene = await openScene();
    const { client } = scene;
    const prompt = text('dying', 60, 10);
    const turn = scene.submit(prompt);
    await client.until('some text', () => (client.text(prompt) ?? '').length > 30);
    await scene.restart();
    expect(await client.ended(turn)).toMatchObject({ outcome: 'failed' });
    expect(client.ends).toHaveLength(1);
    const shown = client.text(prompt) ?? '';
    expect(scene.served(prompt)?.text.startsWith(shown)).toBe(true);
    expect(shown.length).toBeGreaterThan(30);
    const after = text('alive');
    await client.attached();
    await expectServed(scene, after, scene.submit(after));
  });

  it('[fault 14] while a request waits takes the request with it, and asks a new one under the old number', async () => {
    const scene = await openScene();
    const { client } = scene;
    const turn = scene.submit(tool('first'));
    await client.request();
    await scene.restart();
    expect(await client.ended(turn)).toMatchObject({ outcome: 'failed' });
    expect(client.waiting()).toEqual([]);
    await client.until('the successor', () => client.phase === 'attached');
    const again = tool('second');
    const next = scene.submit(again);
    const request = await client.request();
    expect(request.requestId).toBe(1);
    client.answer(request, 'Allow');
    await expectServed(scene, again, next);
    expect(client.requests()).toHaveLength(2);
  });

  it('[fault 14] and no longer knows us goes on with the next handover', async () => {
    const scene = await openScene();
    const { client } = scene;
    const before = text('before');
    await expectServed(scene, before, scene.submit(before));
    await scene.restart(false);
    await client.until('refused', () => client.phase === 'refused');
    await scene.handOver();
    const after = text('after');
    await expectServed(scene, after, scene.submit(after));
    expect(client.conversation().flatMap(({ prompt }) => prompt ?? [])).toEqual([before, after]);
  });
});

describe('a second attachment', () => {
  it('[fault 20] that races the first leaves one stream, and no part twice', async () => {
    const scene = await openScene();
    const { client, proxy } = scene;
    client.open();
    client.open();
    await client.until('attached', () => client.phase === 'attached' && client.lease?.phase === 'controlling');
    client.policy('allow');
    await soon('one stream', () => proxy.streams.filter(({ open }) => open).length === 1);
    for (const prompt of [text('race'), tool('race')]) await expectServed(scene, prompt, scene.submit(prompt));
    expect(proxy.streams.filter(({ open }) => open)).toHaveLength(1);
    expect(scene.accepted()).toEqual([1]);
    expect(client.events.length).toBe(new Set(client.events.map(({ sequence }) => sequence)).size);
  });

  it('[fault 20] in mid-turn goes on with the turn', async () => {
    const scene = await openScene();
    const { client } = scene;
    const prompt = text('race', 40, 5);
    const turn = scene.submit(prompt);
    await client.until('some text', () => (client.text(prompt) ?? '') !== '');
    client.open();
    client.open();
    await expectServed(scene, prompt, turn);
  });

  it('[fault 30] of a window that was reloaded in mid-turn shows the text once, and the pending request once', async () => {
    const scene = await openScene({ watched: true });
    const prompt = script(
      { repeat: { n: 10, text: 'r' }, delay: 5, calls: [bash('printf reloaded')] },
      { repeat: { n: 10, text: 's' }, delay: 5 },
    );
    scene.submit(prompt);
    await scene.client.request();
    await scene.client.app.stop();
    const { url, token } = scene.proxy;
    const reloaded = new Client({ url, token, clientId: 'editor-1' });
    onTestFinished(() => reloaded.close());
    await (await reloaded.attach()).inControl();
    expect(reloaded.requests()).toHaveLength(1);
    reloaded.answer(await reloaded.request(), 'Allow');
    await reloaded.until('the end', () => reloaded.turn.phase === 'idle' && reloaded.ends.length === 1);
    expect(reloaded.text(prompt)).toBe(scene.served(prompt)?.text);
    expect(reloaded.requests()).toHaveLength(1);
    expect(scene.accepted()).toEqual([1]);
  });
});

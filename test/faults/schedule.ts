/** Random conversations over a random line, each made from one number. */
import { expect } from 'vitest';
import { bash, pause, script } from '../conformance/wire.js';
import type { CallFault, FrameFault } from './proxy.js';
import { Scene } from './scene.js';

export interface Schedule {
  readonly seed: number;
  /** Somebody else watches, so that no request is withdrawn for want of a stream. */
  readonly watched: boolean;
  readonly turns: readonly Turn[];
  /** By the number of the frame, counted over all streams. */
  readonly frames: Readonly<Record<number, FrameFault>>;
  readonly calls: readonly { readonly name: string; readonly nth: number; readonly fault: CallFault }[];
  /** HTTP statuses in place of a stream, by its number. */
  readonly opens: Readonly<Record<number, number>>;
  readonly restarts: readonly { readonly frame: number; readonly known: boolean }[];
  /** Frames at which the runtime is handed over once more. */
  readonly handovers: readonly number[];
  /** Another client takes control, and may have a prompt of its own. */
  readonly rivals: readonly { readonly frame: number; readonly prompt: string | undefined }[];
}

interface Turn {
  readonly prompt: string;
  readonly answer: 'Allow' | 'Deny' | 'Allow for session';
  /** Milliseconds after which it is stopped. */
  readonly stopAfter: number | undefined;
}

/** Numbers from 0 to 1 that a seed determines (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function scheduleOf(seed: number): Schedule {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(...choices: readonly [T, ...T[]]): T => choices[below(choices.length)] ?? choices[0];
  const chance = (of: number) => random() < of;

  const frameFault = (): FrameFault =>
    pick<() => FrameFault>(
      () => ({ kind: 'cut', at: below(120) }),
      () => ({ kind: 'cut', at: pick(0, 1_000_000) }),
      () => ({ kind: 'stall', at: below(120) }),
      () => ({ kind: 'drop' }),
      () => ({ kind: 'duplicate' }),
      () => ({ kind: 'swap' }),
      () => ({ kind: 'delay', ms: below(60) }),
    )();
  const callFault = (): CallFault =>
    pick<() => CallFault>(
      () => ({ kind: 'break' }),
      () => ({ kind: 'lose' }),
      () => ({ kind: 'answer', status: pick(500, 502, 503), forwarded: chance(0.5) }),
      () => ({ kind: 'delay', ms: below(250), before: chance(0.3) }),
    )();
  const turn = (number: number): Turn => {
    const id = `${seed}-${number}`;
    const some = (word: string) => ({ repeat: { n: 1 + below(12), text: word, pad: 2 }, delay: below(6) });
    const call = (name: string) => bash(`printf ${name}`, `call-${id}-${name}`);
    const ask = { name: 'ask_user', id: `call-${id}-ask`, args: { questions: [{ question: `${id}?`, header: 'q' }] } };
    const steps = pick<() => Record<string, unknown>[]>(
      () => [some('plain')],
      () => [{ ...some('é🙂\u2028'), chunks: ['\n', '', ' '] }],
      () => [{ ...some('one'), calls: [call('a')] }, some('two')],
      () => [{ calls: [call('a')] }, { ...some('mid'), calls: [call('b')] }, some('end')],
      () => [{ ...some('both'), calls: [call('a'), call('b')], parallel: chance(0.5) }, some('end')],
      () => [{ ...some('ask'), calls: [ask] }, some('end')],
      () => [{ ...some('cut'), cut: 1 + below(4) }],
      () => [{ status: 400, body: { error: { message: `no ${id}` } } }],
    )();
    // The id makes each prompt one of a kind, in a step that is never reached.
    const prompt = script(...steps, { text: 'done.' }, { text: id });
    const answer = pick<Turn['answer']>('Allow', 'Allow', 'Deny', 'Allow for session');
    return { prompt, answer, stopAfter: chance(0.2) ? below(80) : undefined };
  };

  const turns: Turn[] = [];
  for (let left = 2 + below(3); left > 0; left -= 1) {
    const repeated = chance(0.15) ? turns.at(-1) : undefined;
    turns.push(repeated ? { ...turn(turns.length), prompt: repeated.prompt } : turn(turns.length));
  }
  const horizon = turns.length * 16;
  // Every third line is a bad one.
  const many = seed % 3 === 0 ? 3 : 1;
  const frames: Record<number, FrameFault> = {};
  for (let left = 1 + below(5 * many); left > 0; left -= 1) frames[below(horizon)] = frameFault();
  const opens: Record<number, number> = {};
  for (let left = below(2 + many); left > 0; left -= 1) opens[1 + below(4 * many)] = pick(500, 503, 404);
  const names = ['send_input', 'respond', 'attach', 'interrupt', 'take_control', 'describe', 'heartbeat'] as const;
  const calls = Array.from({ length: below(3 + many) }, () => ({
    name: pick(...names),
    nth: below(3 * many),
    fault: callFault(),
  }));
  const restarts = Array.from({ length: chance(0.2 * many) ? 1 + below(many) : 0 }, () => ({
    frame: below(horizon),
    known: chance(0.6),
  }));
  const handovers = Array.from({ length: chance(0.2 * many) ? 1 + below(many) : 0 }, () => below(horizon));
  const rivals = Array.from({ length: chance(0.25 * many) ? 1 + below(2) : 0 }, (_, number) => ({
    frame: below(horizon),
    prompt: chance(0.5) ? turn(100 + number).prompt : undefined,
  }));
  return { seed, watched: chance(0.5), turns, frames, calls, opens, restarts, handovers, rivals };
}

/** Plays a schedule and checks what must hold however the line behaves; returns how many faults took place. */
export async function play(schedule: Schedule): Promise<number> {
  const { watched, turns, restarts } = schedule;
  const scene = await Scene.open({ watched });
  const { client, proxy } = scene;
  let frame = 0;
  let happened = 0;
  const asides: Promise<void>[] = [];
  const counted = <T>(fault: T | undefined): T | undefined => {
    if (fault !== undefined) happened += 1;
    return fault;
  };
  proxy.faults = {
    frame: () => {
      const at = frame++;
      for (const { known } of restarts.filter((each) => each.frame === at)) {
        happened += 1;
        asides.push(scene.restart(known));
      }
      if (schedule.handovers.includes(at)) client.open();
      for (const { prompt } of schedule.rivals.filter((each) => each.frame === at)) {
        asides.push(scene.rival(prompt));
      }
      return counted(schedule.frames[at]);
    },
    open: (stream) => {
      const status = counted(schedule.opens[stream]);
      return status === undefined ? undefined : { status };
    },
    call: ({ name, nth }) => counted(schedule.calls.find((each) => each.name === name && each.nth === nth)?.fault),
  };
  try {
    const rivalled = schedule.rivals.some((rival) => rival.prompt !== undefined);
    for (const turn of turns) await playTurn(scene, turn, rivalled);
    await Promise.all(asides);
    await quiet(scene);
    expect(client.turn.phase).toBe('idle');
    expect(client.waiting()).toEqual([]);
    checkConversation(scene);
  } finally {
    await Promise.all(asides);
    await scene.close();
  }
  return happened;
}

async function playTurn(scene: Scene, { prompt, answer, stopAfter }: Turn, rivalled: boolean): Promise<void> {
  const { client } = scene;
  const nth = scene.taken(prompt);
  const turnId = scene.submit(prompt);
  const started = performance.now();
  let stopped = false;
  // The next turn begins where the runtime is ready for it: how two clients fight is not asked here.
  while (client.turn.phase !== 'idle' || client.ends.every((end) => end.turnId !== turnId)) {
    const now = performance.now() - started;
    if (now > 15_000) throw new Error(`no end of ${prompt}\n${client.account()}`);
    await pause(8);
    await attend(scene, answer);
    if (stopAfter !== undefined && !stopped && now > stopAfter) {
      stopped = true;
      client.stop(turnId);
    }
  }
  await checkTurn(scene, { turnId, prompt, nth, stopped, rivalled });
}

/** A person who answers what is asked, again where the answer did not get through, and connects again where told to. */
async function attend(scene: Scene, answer: Turn['answer']): Promise<void> {
  const { client } = scene;
  if (client.phase === 'refused' || client.phase === 'lost') await scene.handOver();
  for (const request of client.waiting()) {
    const wanted = request.requestKind === 'approval' ? answer : 'Answer…';
    client.answer(request, wanted, { q1: 'as you like' });
  }
}

/** Until nobody's turn runs, and everything was heard: what another client did last may have been lost on the way. */
async function quiet(scene: Scene): Promise<void> {
  const { client, proxy } = scene;
  const started = performance.now();
  while ((await scene.isBusy()) || client.turn.phase !== 'idle') {
    if (performance.now() - started > 15_000) throw new Error(`never quiet\n${client.account()}`);
    await pause(8);
    await attend(scene, 'Allow');
  }
  proxy.faults = {};
  await scene.handOver();
}

interface Played {
  readonly turnId: string;
  readonly prompt: string;
  readonly nth: number;
  readonly stopped: boolean;
  /** Whether another client has prompts of its own. */
  readonly rivalled: boolean;
}

async function checkTurn(scene: Scene, { turnId, prompt, nth, stopped, rivalled }: Played): Promise<void> {
  const { client } = scene;
  const end = await client.ended(turnId);
  const served = scene.served(prompt, nth);
  const { restarts } = scene;
  const why = `${prompt}\n${client.account()}`;
  if (served === undefined) {
    expect(stopped ? ['failed', 'interrupted'] : ['failed'], why).toContain(end.outcome);
    return;
  }
  const possible = new Set([
    served.outcome ?? 'failed',
    ...(restarts > 0 ? ['failed'] : []),
    // Whether it was Stop or the death of its process that ended the turn is not for us to tell.
    ...((served.outcome === null || restarts > 0) && stopped ? ['interrupted'] : []),
    // An end that another client's turn drove out of the replay is told by what was saved, as far as that tells.
    ...(rivalled ? ['failed'] : []),
    ...(rivalled && stopped && served.outcome === 'failed' ? ['interrupted'] : []),
  ]);
  expect([...possible], why).toContain(end.outcome);
  const told = client.conversation().filter((turn) => turn.prompt === prompt);
  // One that died unheard before this one of the same words is not told of.
  const shown = (told[nth] ?? (end.outcome === 'succeeded' ? told.at(-1) : undefined))?.text ?? '';
  // Of a turn that failed or was stopped the runtime keeps no text: what was not heard in time is gone.
  if (end.outcome === 'succeeded') expect(shown, why).toBe(served.text);
  else
    expect(served.text.startsWith(shown), `${JSON.stringify(shown)} of ${JSON.stringify(served.text)} ${why}`).toBe(
      true,
    );
}

function checkConversation(scene: Scene): void {
  const { client, prompts, restarts } = scene;
  const why = client.account();
  expect(client.ends.map(({ turnId }) => turnId).filter((id) => id.startsWith('turn-'))).toEqual(
    prompts.map((_, at) => `turn-${at + 1}`),
  );
  const published = scene.published();
  const reached = published.flatMap(({ type, text }) =>
    type === 'user_message' && typeof text === 'string' ? [text] : [],
  );
  const shown = client.conversation().flatMap(({ prompt }) => prompt ?? []);
  // A turn that died with its process may never have been heard of.
  if (restarts === 0) expect(shown, why).toEqual(reached);
  else expect(isPart(shown, reached), `${JSON.stringify(shown)} of ${JSON.stringify(reached)} ${why}`).toBe(true);
  expect(Math.max(0, ...scene.accepted()), why).toBeLessThanOrEqual(1);
  if (restarts > 0) return;
  const asked = published.flatMap(({ type, request }) => (type === 'request' ? [(request as { id: number }).id] : []));
  expect(
    client
      .requests()
      .map(({ requestId }) => requestId)
      .sort((a, b) => a - b),
    why,
  ).toEqual(asked);
  const done = published.flatMap(({ type, id, output }) => (type === 'tool_call_completed' ? [[id, output]] : []));
  const seen = client.parts().flatMap((part) => {
    return part.kind === 'tool' && part.phase === 'completed' ? [[part.callId, part.output]] : [];
  });
  expect(Object.fromEntries(seen), why).toEqual(Object.fromEntries(done));
}

/** Whether all of `some` stands in `all`, in the same order. */
function isPart(some: readonly string[], all: readonly string[]): boolean {
  let at = -1;
  return some.every((each) => (at = all.indexOf(each, at + 1)) >= 0);
}

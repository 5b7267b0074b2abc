import { expect } from 'vitest';
import type { ToolPart } from '../../src/selectors/parts.js';
import type { Client } from './clientApp.js';
import { textOf } from './clientAttachRows.js';
import { soon } from './clientLine.js';
import { slowPrompt, type ClientBench, type ClientRows } from './clientRows.js';
import type { Peer } from './peer.js';
import { bash, pause, script, type Stream } from './wire.js';

/** What the stages of one conversation share: one peer, one session, our window, and a raw reader beside it. */
interface Scene {
  readonly bench: ClientBench;
  readonly peer: Peer;
  readonly raw: Stream;
  client: Client;
  /** Of everything that reached the runtime, in order. */
  readonly prompts: string[];
}

/** The checks of the store are the rows' affair; here they would only warn that they are slow. */
const QUIET = { checks: false };

const ASK = {
  name: 'ask_user',
  id: 'call_ask',
  args: { questions: [{ question: 'Which database?', header: 'Database', options: [{ label: 'sqlite' }] }] },
};

export const conversation = (rows: ClientRows): void => {
  rows.test(
    'scripted conversation',
    async (bench) => {
      const peer = await bench.open();
      const raw = await (await bench.wire(peer, 'watcher-1', 'observer')).listen();
      const client = await (await (await bench.client(peer, QUIET)).attach()).inControl();
      const scene: Scene = { bench, peer, raw, client, prompts: [] };
      await streamedTurn(scene);
      await allowed(scene);
      await denied(scene);
      if (bench.kind === 'native') await elicited(scene);
      await stoppedWhileRunning(scene);
      await stoppedWhileAsking(scene);
      await failed(scene);
      await twoClients(scene);
      await reloadedInMidTurn(scene);
      await reloadedWhileAsking(scene);
      expect(userMessages(raw)).toEqual(scene.prompts);
      const late = await (await bench.client(peer, { ...QUIET, permissions: ['observe'] })).attach();
      // A native runtime repeats the session's requests behind its history: they stand in a marker turn of their own.
      const restored = late.conversation().flatMap(({ prompt }) => prompt ?? []);
      expect(restored).toEqual(scene.prompts);
    },
    { timeoutMs: 90_000 },
  );
};

async function streamedTurn(scene: Scene) {
  const { client, raw, peer } = scene;
  const prompt = slowPrompt(peer);
  expect(await submitted(scene, prompt)).toMatchObject({ outcome: 'succeeded', mine: true, message: '' });
  const since = await beginning(scene);
  await raw.turnEnd(since, peer.kind);
  expect(client.text(prompt)).toBe(textOf(raw, since));
  expect(client.pieces.filter(({ kind }) => kind === 'markdown').length).toBeGreaterThan(3);
}

async function allowed(scene: Scene) {
  const { client, bench, peer } = scene;
  const turn = start(scene, toolPrompt(scene, 'allowed'));
  client.answer(await client.request(), 'Allow');
  expect(await client.ended(turn)).toMatchObject({ outcome: 'succeeded' });
  const output = bench.kind === 'native' ? (expect.stringContaining('allowed') as string) : 'hosted';
  expect(lastTool(client)).toMatchObject({ phase: 'completed', isError: false, output });
  expect(resolutions(client).at(-1)).toBe('Allowed.');
  expect(peer.prompts.tool).not.toBe('');
}

async function denied(scene: Scene) {
  const { client } = scene;
  const turn = start(scene, toolPrompt(scene, 'denied'));
  client.answer(await client.request(), 'Deny');
  expect(await client.ended(turn)).toMatchObject({ outcome: 'succeeded' });
  expect(lastTool(client)).toMatchObject({ phase: 'completed', isError: true });
  expect(resolutions(client).at(-1)).toBe('Denied.');
}

async function elicited(scene: Scene) {
  const { client } = scene;
  const turn = start(scene, script({ calls: [ASK] }, { text: 'Understood.' }));
  client.answer(await client.request(), 'Allow');
  await client.until('the question', () => client.waiting()[0]?.requestKind === 'elicitation');
  const question = await client.request();
  expect(question.schema).toMatchObject({ properties: { q1: { title: 'Database' } } });
  client.answer(question, 'Answer…', { q1: 'sqlite' });
  expect(await client.ended(turn)).toMatchObject({ outcome: 'succeeded' });
  expect(lastTool(client)?.output).toMatch(/^The user answered:\nDatabase: sqlite/);
  expect(resolutions(client).at(-1)).toBe('Answered.');
}

async function stoppedWhileRunning(scene: Scene) {
  const { client, peer, raw } = scene;
  const turn = start(scene, slowPrompt(peer));
  await raw.until('text_delta', { since: await beginning(scene) });
  const phases = phasesOf(client);
  client.stop(turn);
  expect(await client.ended(turn)).toMatchObject({ outcome: 'interrupted' });
  expect(phases()).toEqual(['interrupting', 'settling', 'idle']);
  expect(client.parts().at(-1)).toMatchObject({ text: 'Interrupted.' });
}

async function stoppedWhileAsking(scene: Scene) {
  const { client, bench } = scene;
  const turn = start(scene, toolPrompt(scene, 'stopped'));
  await client.request();
  client.stop(turn);
  // The stand-in of a hosted harness tells its model of the denial and ends in good order.
  expect(await client.ended(turn)).toMatchObject({ outcome: bench.kind === 'native' ? 'interrupted' : 'succeeded' });
  expect(client.waiting()).toEqual([]);
  expect(lastTool(client)).toMatchObject({ phase: 'completed', isError: true });
}

async function failed(scene: Scene) {
  const { client, peer } = scene;
  const end = await submitted(scene, peer.prompts.fail);
  expect(end).toMatchObject({ outcome: 'failed', message: expect.stringContaining('scripted') as string });
  expect(client.parts().findLast(({ kind }) => kind === 'warning')).toMatchObject({ text: end.message });
}

async function twoClients(scene: Scene) {
  const { client, bench, peer } = scene;
  const other = await (await (await bench.client(peer, { ...QUIET, clientId: 'editor-2' })).attach()).inControl();
  const taken = (): number => client.line.count('take_control') + other.line.count('take_control');
  const before = taken();
  for (const round of [1, 2, 3]) {
    for (const [name, each] of [
      ['one', client],
      ['two', other],
    ] as const) {
      const prompt = plainPrompt(scene, `${name} ${round}`);
      scene.prompts.push(prompt);
      await each.until('its turn', () => each.turn.phase === 'idle');
      expect(await each.run(prompt)).toMatchObject({ outcome: 'succeeded', mine: true });
    }
  }
  // Each turn takes the control that it needs once, and nobody fights for it in between.
  expect(taken() - before).toBeLessThanOrEqual(6);
  await atTheSameTime(scene, other, slowPrompt(peer, 'one'), slowPrompt(peer, 'two'));
  await atTheSameTime(scene, other, slowPrompt(peer), slowPrompt(peer));
  await other.app.stop();
}

/** One of them gets the runtime; the other is told, and its prompt is not sent behind its back. */
async function atTheSameTime(scene: Scene, other: Client, one: string, two: string) {
  const { client, peer, raw } = scene;
  await soon('quiet', () => client.turn.phase === 'idle' && other.turn.phase === 'idle');
  const ends = await Promise.all([client.run(one), other.run(two)]);
  expect(ends.map(({ outcome }) => outcome).sort()).toEqual(['failed', 'succeeded']);
  const winner = ends[0].outcome === 'succeeded' ? one : two;
  scene.prompts.push(winner);
  const since = await beginning(scene);
  await raw.turnEnd(since, peer.kind);
  await soon('the end', () => client.turn.phase === 'idle' && other.turn.phase === 'idle');
  expect(userMessages(raw)).toEqual(scene.prompts);
  expect(client.text(winner)).toBe(textOf(raw, since));
  expect(other.text(winner)).toBe(textOf(raw, since));
}

async function reloadedInMidTurn(scene: Scene) {
  const { peer, raw, bench } = scene;
  const prompt = slowPrompt(peer);
  start(scene, prompt);
  const since = await beginning(scene);
  await raw.until('text_delta', { since });
  await scene.client.app.stop();
  scene.client = await (await (await bench.client(peer, QUIET)).attach()).inControl();
  await raw.turnEnd(since, peer.kind);
  await scene.client.until('the end', () => scene.client.turn.phase === 'idle');
  expect(scene.client.ends.at(-1)).toMatchObject({ outcome: 'succeeded', mine: false });
  expect(scene.client.text(prompt)).toBe(textOf(raw, since));
}

async function reloadedWhileAsking(scene: Scene) {
  const { peer, raw, bench } = scene;
  start(scene, toolPrompt(scene, 'reloaded'));
  const since = await beginning(scene);
  await scene.client.request();
  await scene.client.app.stop();
  await pause(150);
  scene.client = await (await (await bench.client(peer, QUIET)).attach()).inControl();
  const { client } = scene;
  client.answer(await client.request(), 'Allow');
  await raw.turnEnd(since, peer.kind);
  await client.until('the end', () => client.turn.phase === 'idle');
  expect(lastTool(client)).toMatchObject({ phase: 'completed', isError: false });
}

function start({ client, prompts }: Scene, prompt: string): string {
  prompts.push(prompt);
  return client.submit(prompt);
}

/** Where the turn of the newest prompt begins in the raw stream, which may be behind or ahead of our client. */
async function beginning({ raw, prompts }: Scene): Promise<number> {
  const starts = () => raw.events.flatMap(({ kind }, at) => (kind === 'user_message' ? [at] : []));
  await soon('the prompt', () => starts().length >= prompts.length);
  return starts()[prompts.length - 1] ?? 0;
}

function submitted(scene: Scene, prompt: string) {
  return scene.client.ended(start(scene, prompt));
}

function toolPrompt({ bench, peer }: Scene, word: string): string {
  return bench.kind === 'hosted'
    ? peer.prompts.tool
    : script({ text: 'I will run a command.', calls: [bash(`printf ${word}`)] }, { text: 'All done.' });
}

function plainPrompt({ bench }: Scene, text: string): string {
  return bench.kind === 'hosted' ? text : script({ text });
}

function lastTool(client: Client): ToolPart | undefined {
  return client.parts().findLast((part) => part.kind === 'tool');
}

function resolutions(client: Client): readonly string[] {
  return client.parts().flatMap((part) => (part.kind === 'resolution' ? [part.text] : []));
}

function userMessages(raw: Stream): readonly string[] {
  return raw.events.flatMap(({ kind, payload }) => (kind === 'user_message' ? [String(payload['text'])] : []));
}

/** The phases that a turn goes through from here on, each as a person sees it. */
function phasesOf(client: Client): () => readonly string[] {
  const phases: string[] = [];
  const leave = client.app.subscribe(() => {
    if (phases.at(-1) !== client.turn.phase && client.turn.phase !== 'running') phases.push(client.turn.phase);
  });
  return () => {
    leave();
    return phases;
  };
}

/**
 * Makes the action logs in `test/recordings` with the product's own store, sagas and recorder, against a runtime that
 * is stepped by hand on fake time. A log is a bug report that stays: it is made once and then only replayed. To add one,
 * add a scenario here and run
 *
 *   RESET_RECORDINGS=1 npx vitest run test/recordings.test.ts
 *
 * which writes every log and its golden parts anew; read the difference before you keep it.
 */
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { vi } from 'vitest';
import type { HistoryMessage } from '../../src/protocol/frontend-v2.js';
import { createApp, type App } from '../../src/sagas/app.js';
import { selectTurn } from '../../src/selectors/turn.js';
import { sha256Hex } from '../../src/services/node/hash.js';
import { opened } from '../../src/store/connections.js';
import { policyChosen } from '../../src/store/permissions.js';
import { createRecorder } from '../../src/store/recorder.js';
import { interruptRequested, submitRequested } from '../../src/store/turn.js';
import { approval, delta, DESCRIPTOR, event, resolved, RuntimeDouble, turnStart } from '../doubles/runtime.js';

const BUSY = { ...DESCRIPTOR, turnState: 'busy' } as const;
const MESSAGE = { text: '', images: 0, toolCalls: [], toolCallId: null };
const user = (text: string): HistoryMessage => ({ ...MESSAGE, role: 'user', text });
const assistant = (text: string): HistoryMessage => ({ ...MESSAGE, role: 'assistant', text });

/** A client of ours at a runtime that does what a scenario says. */
class Stage {
  readonly runtime = new RuntimeDouble();
  readonly lines: string[] = [];
  private readonly app: App;
  private readonly recorder = createRecorder({
    product: '@volter/supercode-frontend-vscode',
    version: '0.1.0',
    wall: () => Date.now(),
    hash: sha256Hex,
    onFailure: (error) => {
      throw error;
    },
  });
  private prompts = 0;

  constructor() {
    this.app = createApp({
      services: {
        runtime: () => this.runtime,
        clock: { monotonic: () => performance.now(), wall: () => Date.now() },
        newId: () => 'id',
        random: () => 0.5,
        log: () => undefined,
      },
      recorder: this.recorder.enhancer,
    });
    this.recorder.start({ write: (line) => this.lines.push(line) });
  }

  async open(): Promise<void> {
    const credential = { kind: 'secret', key: 'handover' } as const;
    const target = { baseUrl: 'http://127.0.0.1:41234', clientId: 'this window', credential, permissions: null };
    this.app.dispatch(opened({ connection: 'c', origin: 'api', target }));
    await this.pass();
  }

  async submit(prompt: string): Promise<void> {
    this.app.dispatch(submitRequested({ connection: 'c', turnId: `mine-${++this.prompts}`, prompt, at: Date.now() }));
    await this.pass();
  }

  async stop(): Promise<void> {
    const turn = selectTurn(this.app.getState(), 'c');
    if (turn.phase === 'idle') throw new Error('nothing runs that could be stopped');
    this.app.dispatch(interruptRequested({ connection: 'c', turnId: turn.turnId, at: Date.now() }));
    await this.pass();
  }

  allowEverything(): void {
    this.app.dispatch(policyChosen({ connection: 'c', policy: 'allow' }));
  }

  async send(...events: readonly RuntimeEvent[]): Promise<void> {
    this.runtime.stream.send(...events);
    await this.pass();
  }

  async pass(ms = 50): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
  }

  async close(): Promise<readonly string[]> {
    const stopped = this.app.stop();
    await this.pass();
    await stopped;
    this.recorder.stop();
    return this.lines;
  }
}

const started = (sequence: number, id: string) =>
  event(sequence, 'tool_call_started', { id, name: 'bash', arguments: '{"command":"ls"}' });
const completed = (sequence: number, id: string, output: string, is_error = false) =>
  event(sequence, 'tool_call_completed', { id, name: null, output, is_error });

const SCENARIOS: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  /** A hosted runtime has no word for an interruption: the turn that we stopped ends as failed (frontend.v2 §6.5). */
  'hosted-interrupt': async (stage) => {
    const { runtime } = stage;
    runtime.descriptor = { ...DESCRIPTOR, sourceHarness: 'claude-code', model: 'claude-code' };
    await stage.open();
    await stage.submit('tidy up');
    await stage.send(...turnStart(1, 'tidy up'), delta(3, 'I begin with the files.'), started(4, 'toolu_1'));
    await stage.send(approval(5, 8_765_432_109_876_543, ['allow', 'deny']));
    await stage.stop();
    await stage.send(
      resolved(6, 8_765_432_109_876_543, 'deny'),
      completed(7, 'toolu_1', 'The person does not want this.', true),
      event(8, 'turn_failed', { message: 'Claude Code turn ended: error_during_execution' }),
      event(9, 'turn_completed'),
    );
    await stage.submit('again');
    await stage.send(...turnStart(10, 'again'), delta(12, 'Here I am.'), event(13, 'turn_succeeded'));
  },

  /** The runtime dies and comes back under the same session: sequences from 1, and nothing of the turn. */
  'restart-mid-turn': async (stage) => {
    const { runtime } = stage;
    runtime.snapshot = { history: [user('before'), assistant('Long ago.')], historyCursor: 40, replay: [] };
    await stage.open();
    await stage.submit('count');
    await stage.send(...turnStart(41, 'count'), delta(43, 'One, two'), started(44, 'call_1'));
    runtime.snapshot = { ...runtime.snapshot, historyCursor: 0 };
    runtime.stream.end();
    await stage.pass(1_000);
    await stage.submit('count again');
    await stage.send(...turnStart(1, 'count again'), delta(3, 'One, two, three.'), event(4, 'turn_succeeded'));
  },

  /** The line is down when a turn ends and another client runs one more: both stand in the saved history alone. */
  'missed-end': async (stage) => {
    const { runtime } = stage;
    await stage.open();
    await stage.submit('look around');
    await stage.send(
      ...turnStart(1, 'look around'),
      delta(3, 'I look'),
      event(4, 'a_later_kind', { about: 'nothing' }),
    );
    await stage.send(delta(5, ' around.'), event(6, 'turn_completed'), started(7, 'call_1'));
    runtime.snapshot = {
      history: [
        user('look around'),
        { ...assistant('I look around.'), toolCalls: [{ id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' }] },
        { ...MESSAGE, role: 'tool', text: 'README.md', toolCallId: 'call_1' },
        assistant('There is one file.'),
        user('thank you'),
        assistant('You are welcome.'),
      ],
      historyCursor: 20,
      replay: [event(21, 'turn_succeeded')],
    };
    runtime.stream.end();
    await stage.pass(1_000);
  },

  /** The last stream closes while an approval waits: the runtime denies it and says nothing of it (frontend.v2 §8.2). */
  'silent-withdrawal': async (stage) => {
    const { runtime } = stage;
    await stage.open();
    await stage.submit('list');
    const before = [...turnStart(1, 'list'), delta(3, 'I list.'), started(4, 'call_1'), approval(5, 1)];
    await stage.send(...before);
    runtime.descriptor = BUSY;
    runtime.snapshot = {
      history: [],
      historyCursor: 0,
      replay: [...before, completed(6, 'call_1', 'Error: tool bash was not approved', true)],
    };
    runtime.stream.end();
    await stage.pass(1_000);
    runtime.descriptor = DESCRIPTOR;
    // One number is left out: that of the bare request, which is numbered anew.
    await stage.send(delta(7, 'I may not.'), event(9, 'turn_succeeded'));
  },

  /** The replay does not reach back at first: what streams is shown, and all of it anew once the turn is over. */
  'gap-then-snapshot': async (stage) => {
    const { runtime } = stage;
    runtime.descriptor = BUSY;
    runtime.refuse('attach', 'transport', 'The replay no longer reaches back to the last turn.');
    stage.allowEverything();
    await stage.open();
    await stage.send(delta(5_000, 'the end of something long.'), started(5_001, 'call_1'), approval(5_002, 1));
    runtime.descriptor = DESCRIPTOR;
    runtime.snapshot = {
      history: [user('tell me all'), assistant('All of it, to the end of something long.')],
      historyCursor: 5_005,
      replay: [approval(5_006, 1), resolved(5_007, 1), event(5_008, 'turn_succeeded')],
    };
    await stage.send(resolved(5_003, 1), completed(5_004, 'call_1', 'ok'), event(5_008, 'turn_succeeded'));
    await stage.pass(1_000);
    await stage.submit('and now');
    await stage.send(...turnStart(5_009, 'and now'), delta(5_011, 'Nothing.'), event(5_014, 'turn_succeeded'));
  },
};

export const RECORDINGS: readonly string[] = Object.keys(SCENARIOS);

/** The log of a scenario. Fake timers must be on. */
export async function makeRecording(name: string): Promise<readonly string[]> {
  vi.setSystemTime(new Date('2026-12-01T09:00:00Z'));
  const stage = new Stage();
  await SCENARIOS[name]?.(stage);
  return stage.close();
}

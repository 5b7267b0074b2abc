import { fc, test } from '@fast-check/vitest';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { selectTurn } from '../../src/selectors/turn.js';
import { watchedChanged } from '../../src/store/host.js';
import { openRequested, refreshRequested, selectRequested, setupRequested } from '../../src/store/hostIntents.js';
import { submitRequested } from '../../src/store/turn.js';
import { connectionTo, HostClientDouble, rowNamed } from '../doubles/hostClient.js';
import { DESCRIPTOR, event, RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const CONVERSATIONS = ['one', 'two'] as const;
type Conversation = (typeof CONVERSATIONS)[number];

const conversation = fc.constantFrom(...CONVERSATIONS);
const DOORS = ['state', 'select', 'open', 'remember'] as const;
/** What makes races is drawn more often than the rest. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('select', 'open'), of: conversation }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('refresh', 'again') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('setup', 'watch', 'look away') }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('prompt', 'accept', 'begin', 'say', 'end'), of: conversation }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('hold'), door: fc.constantFrom(...DOORS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('refuse', 'fault'), door: fc.constantFrom(...DOORS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('save', 'lose', 'replace credential') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(0, 500, 1_100, 6_000) }) },
);

interface Step {
  readonly do: string;
  readonly of?: Conversation;
  readonly door?: (typeof DOORS)[number];
  readonly ms?: number;
}

/** One window, its host and the runtimes of two conversations, and what is true of them at all times. */
class Scene {
  readonly host = new HostClientDouble();
  readonly window = new Window();
  private readonly runtimes = { one: this.runtime('one'), two: this.runtime('two') };
  private readonly sequence = { one: 0, two: 0 };
  private readonly running = { one: false, two: false };
  private readonly prompts = new Set<string>();
  private readonly accepted = { one: false, two: false };
  private readonly accepting: (() => void)[] = [];
  private readonly answers: (() => void)[] = [];
  private credentials = 1;
  private choices = 0;
  private lastChoice: ReturnType<typeof selectRequested> | undefined;
  private violations: string[] = [];

  constructor() {
    const { host } = this;
    host.serving('one', urlOf('one'), { sessions: CONVERSATIONS.map((id) => rowNamed(id)) });
    for (const id of CONVERSATIONS) this.window.serve(urlOf(id), this.runtimes[id]);
    const remember = host.remember.bind(host);
    host.remember = (id, nativeId) => {
      if (!this.accepted[id as Conversation]) this.violations.push(`${id} was remembered in front of its first prompt`);
      if (nativeId !== `session-${id}`) this.violations.push(`${id} was remembered as ${nativeId}`);
      return remember(id, nativeId);
    };
    let last = this.window.app.getState();
    this.window.app.subscribe(() => {
      const now = this.window.app.getState();
      if (
        now.host.snapshot !== last.host.snapshot &&
        JSON.stringify(now.host.snapshot) === JSON.stringify(last.host.snapshot)
      ) {
        this.violations.push('a snapshot was published that is no news');
      }
      if ((now.host.snapshot?.actualModel ?? '') < (last.host.snapshot?.actualModel ?? '')) {
        this.violations.push('an answer of before was taken for news');
      }
      last = now;
    });
  }

  async play(steps: readonly Step[]): Promise<void> {
    await this.window.join(this.host);
    for (const each of steps) {
      this.take(each);
      await settle(each.ms ?? 0);
    }
    // Whatever was held comes to its end.
    for (let rounds = 0; rounds < 3; rounds++) {
      for (const answer of [...this.answers, ...this.accepting]) answer();
      await settle(1_000);
    }
  }

  private runtime(id: Conversation): RuntimeDouble {
    const runtime = new RuntimeDouble();
    runtime.descriptor = { ...DESCRIPTOR, sessionId: `session-${id}` };
    const sendInput = runtime.sendInput.bind(runtime);
    runtime.sendInput = async (prompt) => {
      await sendInput(prompt);
      this.accepted[id] = true;
    };
    return runtime;
  }

  private take({ do: what, of = 'one', door = 'state' }: Step): void {
    const { host } = this;
    const { app } = this.window;
    const operation = `op-${++this.choices}`;
    const serve = (id: Conversation) => {
      const number = `${this.choices}`.padStart(4, '0');
      host.edit({ activeSession: id, connection: connectionTo(urlOf(id), this.credentials), actualModel: number });
    };
    switch (what) {
      case 'select':
        serve(of);
        this.lastChoice = selectRequested(operation, { harness: 'codex', model: operation, effort: '' });
        app.dispatch(this.lastChoice);
        return;
      case 'again':
        if (this.lastChoice) app.dispatch(this.lastChoice);
        return;
      case 'open':
        serve(of);
        app.dispatch(openRequested(operation, of));
        return;
      case 'refresh':
        app.dispatch(refreshRequested(operation));
        return;
      case 'setup':
        app.dispatch(setupRequested(operation, 'login', 'claude-code'));
        return;
      case 'watch':
      case 'look away':
        app.dispatch(watchedChanged({ watched: what === 'watch' }));
        return;
      case 'hold':
        this.answers.push(door === 'state' ? host.holdWithOldNews() : host.hold(door));
        return;
      case 'refuse':
        host.refuse(door);
        return;
      case 'fault':
        host.fault(door);
        return;
      case 'answer':
        this.answers.shift()?.();
        return;
      case 'save':
        host.isSaved = true;
        return;
      case 'lose':
        host.editRow('one', { identity: null });
        return;
      case 'replace credential':
        this.credentials += 1;
        host.edit({ connection: connectionTo(urlOf(this.active()), this.credentials) });
        return;
      case 'prompt':
        this.prompt(of, operation);
        return;
      case 'accept':
        this.accepting.shift()?.();
        return;
      default:
        this.speak(what, of);
    }
  }

  private active(): Conversation {
    return this.host.wire['activeSession'] as Conversation;
  }

  private prompt(of: Conversation, turnId: string): void {
    const { app } = this.window;
    const { connections } = app.getState();
    if (connections[of]?.phase.name !== 'attached' || selectTurn(app.getState(), of).phase !== 'idle') return;
    this.accepting.push(this.runtimes[of].hold('sendInput'));
    this.prompts.add(`${of} ${turnId}`);
    app.dispatch(submitRequested({ connection: of, turnId, prompt: turnId, at: Date.now() }));
  }

  /** A runtime speaks while it has been asked, and its stream is open. */
  private speak(what: string, of: Conversation): void {
    const runtime = this.runtimes[of];
    const stream = runtime.streams.at(-1);
    if (!stream || stream.closed || !this.accepted[of]) return;
    const prompt = runtime.calls.findLast((call) => call.startsWith('sendInput'))?.slice('sendInput '.length) ?? '';
    if (what === 'begin' && !this.running[of]) {
      stream.send(...turnStart(this.sequence[of] + 1, prompt));
      this.sequence[of] += 2;
      this.running[of] = true;
    } else if (this.running[of]) {
      stream.send(event(++this.sequence[of], what === 'end' ? 'turn_succeeded' : 'turn_completed'));
      this.running[of] = what !== 'end';
    }
  }

  expectAllWell(): void {
    const { host, window, prompts, runtimes } = this;
    const { operations, snapshot } = window.app.getState().host;
    expect(this.violations).toEqual([]);
    expect(window.logged.filter((line) => line.includes('crashed') || line.includes('died'))).toEqual([]);
    // One selection for each choice, and an outcome of each intent.
    const selected = host.calls.filter((call) => call.startsWith('select'));
    expect(new Set(selected).size).toBe(selected.length);
    expect(Object.values(operations).filter(({ phase }) => phase === 'asked')).toEqual([]);
    // Each prompt went out once, or its turn says that it did not.
    for (const prompt of prompts) {
      const [of, turnId] = prompt.split(' ') as [Conversation, string];
      const sent = runtimes[of].calls.filter((call) => call === `sendInput ${turnId}`).length;
      const ended = window.app.getState().turn[of]?.ended.some((end) => end.turnId === turnId) ?? false;
      expect(sent, prompt).toBeLessThanOrEqual(1);
      expect(sent === 1 || ended, prompt).toBe(true);
      const elsewhere = CONVERSATIONS.filter((id) => id !== of);
      for (const id of elsewhere) expect(runtimes[id].calls).not.toContain(`sendInput ${turnId}`);
    }
    // Attached to what was said last, and to nothing else of the host.
    const live = Object.entries(window.app.getState().connections).filter(([, { phase }]) => phase.name === 'attached');
    expect(live.map(([id, { target }]) => [id, target])).toEqual(
      snapshot?.connection ? [[snapshot.activeSession, snapshot.connection]] : [],
    );
  }
}

function urlOf(id: Conversation): string {
  return `http://127.0.0.1:${id === 'one' ? 1001 : 1002}`;
}

describe('whatever comes in whatever order', () => {
  test.prop([fc.array(step, { maxLength: 40, size: 'max' })], { seed: 20_261_201, numRuns: 150, endOnFailure: false })(
    'no prompt is lost or sent twice, a choice is made once, no news is published, and nothing is bound too early',
    async (steps) => {
      const scene = new Scene();
      await scene.play(steps);
      scene.expectAllWell();
      await scene.window.app.stop();
    },
    60_000,
  );
});

import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createApp } from '../../src/sagas/app.js';
import { selectNewParts, startCursor } from '../../src/selectors/newParts.js';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../src/runtime/embedded.js';
import { nodeServices } from '../../src/services/node/services.js';
import { canonicalJson } from '../../src/store/canonical.js';
import { closeRequested, malformedSeen, opened } from '../../src/store/connections.js';
import { policyChosen } from '../../src/store/permissions.js';
import { createRecorder } from '../../src/store/recorder.js';
import { replay } from '../../src/store/replay.js';
import { STATE_VERSION } from '../../src/store/state.js';
import { submitRequested } from '../../src/store/turn.js';
import { approval, delta, turnStart } from '../doubles/runtime.js';
import { attach, fold, open, receive, storyOf } from './conversation.js';
import { footer, header, record, Recording } from './log.js';

const CONVERSATION = [open(), attach(), ...receive([...turnStart(1), delta(3, 'Hi'), approval(4, 7)])];

describe('a recording', () => {
  it('is a header, a line for each action, and a footer', () => {
    const lines = new Recording()
      .start()
      .dispatch(...CONVERSATION)
      .stop();
    expect(lines).toHaveLength(CONVERSATION.length + 2);
    expect(header(lines[0])).toEqual({
      format: 1,
      product: 'test',
      version: '1.2.3',
      stateVersion: STATE_VERSION,
      startedAt: 1_000,
      firstN: 1,
    });
    expect(lines.slice(1, -1).map(record)).toEqual(
      CONVERSATION.map((action, at) => ({ n: at + 1, at: 1_001 + at, action })),
    );
    const hash = createHash('sha256')
      .update(canonicalJson(fold(CONVERSATION)))
      .digest('hex');
    expect(footer(lines.at(-1))).toEqual({ end: { n: CONVERSATION.length, hash } });
  });

  it('is one line for each, whatever text goes through it', () => {
    const text = 'a\nb\r\n\u2028\u2029\u0085\ud83d"\\';
    const lines = new Recording()
      .start()
      .dispatch(open(), attach(), ...receive([delta(1, text)]))
      .stop();
    expect(lines.filter((line) => line.includes('\n'))).toEqual([]);
    expect(storyOf(replay(lines).state)).toEqual([`text ${text}`]);
  });

  it('that starts in the middle starts from the state of that moment', () => {
    const recording = new Recording().dispatch(...CONVERSATION);
    const base = recording.state;
    const lines = recording
      .start()
      .dispatch(...receive([delta(5, ' you')]))
      .stop();
    expect(header(lines[0])).toMatchObject({ firstN: CONVERSATION.length + 1 });
    expect(header(lines[0]).base).toEqual(base);
    expect(lines).toHaveLength(3);
    expect(record(lines[1]).n).toBe(CONVERSATION.length + 1);
  });

  it('costs nothing while nobody records, and counts on', () => {
    const recording = new Recording().dispatch(...CONVERSATION);
    expect(recording.lines).toEqual([]);
    expect(recording.stop()).toEqual([]);
    recording.start().dispatch(open('d')).stop();
    recording.dispatch(open('e'));
    expect(recording.lines).toHaveLength(3);
    expect(header(recording.start().stop().at(-2)).firstN).toBe(CONVERSATION.length + 3);
  });

  it('ends, with its footer, when another one starts', () => {
    const recording = new Recording().start().dispatch(open());
    const second: string[] = [];
    recording.recorder.start({ write: (line) => second.push(line) });
    recording.dispatch(open('d'));
    recording.recorder.stop();
    expect(footer(recording.lines.at(-1)).end.n).toBe(1);
    expect(second).toHaveLength(3);
    expect(replay(second).state).toEqual(fold([open(), open('d')]));
  });

  it('ends when its sink fails, which is told once; the product goes on', () => {
    const recording = new Recording();
    const written: string[] = [];
    recording.recorder.start({
      write: (line) => {
        if (written.length === 3) throw new Error('ENOSPC');
        written.push(line);
      },
    });
    recording.dispatch(...CONVERSATION);
    recording.recorder.stop();
    expect(recording.failures).toEqual([new Error('ENOSPC')]);
    expect(written).toHaveLength(3);
    expect(recording.state).toEqual(fold(CONVERSATION));
    expect(replay(written).state).toEqual(fold(CONVERSATION.slice(0, 2)));
    recording.start().dispatch(open('d'));
    expect(recording.lines).toHaveLength(2);
  });

  it('that can’t even begin is told once too', () => {
    const recording = new Recording();
    recording.recorder.start({
      write: () => {
        throw new Error('EROFS');
      },
    });
    recording.dispatch(...CONVERSATION).stop();
    expect(recording.failures).toEqual([new Error('EROFS')]);
  });

  it('has the order in which the reducer saw the actions, also when a listener answers one with another', () => {
    const recording = new Recording().start();
    recording.store.subscribe(() => {
      const { connections } = recording.state;
      if (connections['c'] && !connections['d']) recording.dispatch(open('d'));
    });
    recording.dispatch(open());
    const lines = recording.stop();
    expect(lines.slice(1, -1).map((line) => record(line).action)).toEqual([open(), open('d')]);
    expect(canonicalJson(replay(lines).state)).toBe(canonicalJson(recording.state));
  });

  it('that a listener starts holds no action twice', () => {
    const recording = new Recording().dispatch(open(), attach());
    const unsubscribe = recording.store.subscribe(() => {
      unsubscribe();
      recording.start();
    });
    recording.dispatch(malformedSeen({ connection: 'c', count: 1 }), malformedSeen({ connection: 'c', count: 2 }));
    const replayed = replay(recording.stop());
    expect(storyOf(replayed.state)).toEqual(['note malformed', 'note malformed']);
    expect(replayed.damage).toEqual([]);
    expect(replayed.state).toEqual(recording.state);
  });
});

describe('the log of a session with a real server', () => {
  let runtime: EmbeddedRuntime | undefined;
  afterEach(() => runtime?.close());

  it('holds no secret: a credential is only named in it', async () => {
    runtime = await startEmbeddedRuntime();
    const token = runtime.mint('me');
    const lines: string[] = [];
    const logged: string[] = [];
    const recorder = createRecorder({
      product: 'test',
      version: '0',
      wall: () => Date.now(),
      hash: (text) => createHash('sha256').update(text).digest('hex'),
      onFailure: (error) => {
        throw error;
      },
    });
    const secrets = (key: string) => Promise.resolve(key === 'handover' ? token : undefined);
    const app = createApp({
      services: nodeServices({ log: (line) => logged.push(line), secrets }),
      recorder: recorder.enhancer,
      timings: { firstPause: 5, longestPause: 5 },
    });
    recorder.start({ write: (line) => lines.push(line) });
    const until = async (holds: () => boolean) => {
      if (holds()) return;
      await new Promise<void>((resolve) => {
        const leave = app.subscribe(() => {
          if (!holds()) return;
          leave();
          resolve();
        });
      });
    };
    const connection = 'c';
    const phase = () => app.getState().connections[connection]?.phase.name;
    const credential = { kind: 'secret', key: 'handover' } as const;
    const target = { baseUrl: runtime.url, clientId: 'me', credential, permissions: null };
    app.dispatch(policyChosen({ connection, policy: 'allow' }));
    app.dispatch(opened({ connection, origin: 'api', target }));
    await until(() => phase() === 'attached');
    app.dispatch(submitRequested({ connection, turnId: 'mine', prompt: 'hello', at: 0 }));
    await until(() => (app.getState().turn[connection]?.ended.length ?? 0) > 0);
    const said = selectNewParts(app.getState(), connection, startCursor(app.getState(), connection)).parts;
    expect(said.some(({ kind }) => kind === 'markdown')).toBe(true);
    // What the runtime says of a credential that is none reaches the log too.
    app.dispatch(opened({ connection: 'refused', origin: 'api', target: { ...target, clientId: 'somebody-else' } }));
    await until(() => app.getState().connections['refused']?.phase.name === 'refused');
    app.dispatch(closeRequested({ connection }));
    await until(() => phase() === 'closed');
    await app.stop();
    recorder.stop();
    const log = lines.join('\n');
    expect(log).toContain('"key":"handover"');
    expect(lines.length).toBeGreaterThan(10);
    for (const secret of [token, runtime.ownerToken]) {
      expect(secret.length).toBeGreaterThanOrEqual(32);
      expect(log).not.toContain(secret);
      expect(logged.join('\n')).not.toContain(secret);
      expect(JSON.stringify(app.getState())).not.toContain(secret);
    }
    expect(log).not.toMatch(/[Bb]earer [0-9a-f]/);
    const replayed = replay(lines);
    expect(canonicalJson(replayed.state)).toBe(canonicalJson(app.getState()));
  });
});

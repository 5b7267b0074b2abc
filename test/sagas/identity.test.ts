import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HistoryMessage } from '../../src/protocol/frontend-v2.js';
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { selectConversation, selectUnsavedNotice } from '../../src/selectors/host.js';
import { openRequested, refreshRequested } from '../../src/store/hostIntents.js';
import { connectionTo, HostClientDouble, rowNamed } from '../doubles/hostClient.js';
import { delta, DESCRIPTOR, event, RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

const A = 'http://127.0.0.1:1001';
const B = 'http://127.0.0.1:1002';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const said = (role: 'user' | 'assistant', text: string): HistoryMessage => ({
  role,
  text,
  images: 0,
  toolCalls: [],
  toolCallId: null,
});

/** A window on the conversation `live` of a host; `isBound`: it was bound in an earlier window. */
async function conversation({
  isBound = false,
  runtime = new RuntimeDouble(),
  host = new HostClientDouble(),
}: { isBound?: boolean; runtime?: RuntimeDouble; host?: HostClientDouble } = {}) {
  host.serving('live', A, { sessions: [rowNamed('live'), rowNamed('other', { identity: 'v1:other' })] });
  if (isBound) host.editRow('live', { identity: 'v1:session-1' });
  const window = new Window();
  const other = new RuntimeDouble();
  window.serve(A, runtime);
  window.serve(B, other);
  await window.join(host);
  const { app } = window;
  const remembers = () => host.calls.filter((call) => call.startsWith('remember'));
  return {
    window,
    app,
    host,
    runtime,
    other,
    remembers,
    root: () => app.getState(),
    saved: () => app.getState().identity['live']?.saved?.identity ?? null,
    notice: () => selectUnsavedNotice(app.getState(), 'live'),
    row: () => selectConversation(app.getState(), 'live'),
    send: (...events: readonly RuntimeEvent[]) => {
      runtime.stream.send(...events);
      return settle();
    },
    submit: async (prompt = 'hello') => {
      window.submit(prompt, 'live');
      await settle();
    },
    endings: () => (app.getState().turn['live']?.ended ?? []).map(({ outcome }) => outcome),
    inputs: () => runtime.count('sendInput'),
  };
}

describe('a conversation of a host', () => {
  it.each([false, true])(
    '[defect A1, A2] has its first prompt sent first, and is bound behind its acceptance (bound before: %s)',
    async (isBound) => {
      const { host, runtime, remembers, submit, send, saved, row, endings, inputs } = await conversation({ isBound });
      const accept = runtime.hold('sendInput');
      await submit();
      await settle(5_000);
      expect([runtime.calls.at(-1), remembers()]).toEqual(['sendInput hello', []]);
      accept();
      await settle();
      expect(remembers()).toEqual(['remember live session-1']);
      host.isSaved = true;
      await settle(1_000);
      await send(...turnStart(1));
      expect([saved(), row()?.identity]).toEqual(['v1:session-1', 'v1:session-1']);
      const tries = remembers().length;
      await send(delta(3, 'Hi.'), event(4, 'turn_succeeded'));
      expect([endings(), inputs(), remembers().length]).toEqual([['succeeded'], 1, tries]);
      // A follow-up needs none.
      await submit('more');
      await send(...turnStart(5, 'more'), event(7, 'turn_succeeded'));
      expect([endings(), inputs(), remembers().length]).toEqual([['succeeded', 'succeeded'], 2, tries]);
    },
  );

  it('is not bound before anything was said in it, whatever the runtime says', async () => {
    const { remembers, send } = await conversation();
    await send(
      event(1, 'usage', { prompt_tokens: 1, completion_tokens: 1 }),
      delta(2, 'Welcome.'),
      event(3, 'turn_succeeded'),
    );
    await settle(60_000);
    expect(remembers()).toEqual([]);
  });

  it('[defect A5] is tried to be bound with later events until it is; the prompt is sent once', async () => {
    const { host, remembers, submit, send, saved, inputs } = await conversation();
    host.isSaved = true;
    host.refuse('remember', 'Not yet.', 3);
    await submit();
    await send(...turnStart(1));
    for (let at = 3; at < 10; at++) {
      await settle(5_000);
      await send(event(at, 'turn_completed'));
    }
    expect([remembers().length, saved(), inputs()]).toEqual([4, 'v1:session-1', 1]);
  });

  it('is not tried with each piece of text, nor with each of many events', async () => {
    const { remembers, submit, send } = await conversation();
    await submit();
    await send(...turnStart(1));
    await settle(20_000);
    expect(remembers()).toHaveLength(1);
    for (let at = 3; at < 503; at++) await send(delta(at, 'x'));
    expect(remembers()).toHaveLength(1);
    for (let at = 503; at < 1003; at++) await send(event(at, 'turn_completed'));
    expect(remembers()).toHaveLength(2);
  });

  it('has one try under way at a time, and the last one at the turn’s end', async () => {
    const { host, remembers, submit, send, notice } = await conversation();
    const answer = host.hold('remember');
    await submit();
    await send(...turnStart(1));
    for (let at = 3; at < 10; at++) {
      await settle(5_000);
      await send(event(at, 'turn_completed'));
    }
    await send(event(10, 'turn_succeeded'));
    expect(remembers()).toHaveLength(1);
    answer();
    await settle();
    expect(remembers()).toHaveLength(2);
    expect(notice()).toContain('submitted');
  });

  it('[defect A8] whose last try failed says that the prompt was submitted; nothing is sent again or stopped', async () => {
    const { host, runtime, remembers, submit, send, notice, endings, inputs, saved } = await conversation();
    host.refuse('remember', 'The agent keeps no list.', 100);
    await submit();
    await send(...turnStart(1), delta(3, 'Hi.'));
    expect(notice()).toBeUndefined();
    await send(event(4, 'turn_succeeded'));
    expect(notice()).toMatch(
      /^Your prompt was submitted .*keep this chat open, and do not send the prompt again\. \(The agent keeps no list\.\)$/,
    );
    expect([endings(), inputs(), runtime.count('interrupt'), remembers().length]).toEqual([['succeeded'], 1, 0, 2]);
    // The next turn makes it good.
    host.isSaved = true;
    host.relent('remember');
    await settle(1_000);
    await submit('more');
    await send(...turnStart(5, 'more'));
    expect([notice(), saved()]).toEqual([undefined, 'v1:session-1']);
  });

  it('that is bound already says nothing where the last try fails', async () => {
    const { host, remembers, submit, send, notice } = await conversation({ isBound: true });
    host.refuse('remember', 'No.', 100);
    await submit();
    await send(...turnStart(1), event(3, 'turn_succeeded'));
    expect([remembers().length, notice()]).toEqual([2, undefined]);
  });

  it('[defect A4] is bound once more where the host has lost it by the end of the turn', async () => {
    const { host, remembers, submit, send, row } = await conversation();
    host.isSaved = true;
    await submit();
    await send(...turnStart(1));
    expect(remembers()).toHaveLength(1);
    host.editRow('live', { identity: null });
    await send(event(3, 'turn_succeeded'));
    expect([remembers().length, row()?.identity]).toEqual([2, 'v1:session-1']);
  });

  it('[defect A4] is bound once more where the host can’t say by the end of the turn whether it still is', async () => {
    const { host, remembers, submit, send, saved } = await conversation();
    host.isSaved = true;
    await submit();
    await send(...turnStart(1));
    host.refuse('state', 'Try later.');
    await send(event(3, 'turn_succeeded'));
    expect([remembers().length, saved()]).toEqual([2, 'v1:session-1']);
  });

  it('asks the host once at the end of a turn, and does not bind what still is bound', async () => {
    const { host, remembers, submit, send } = await conversation();
    host.isSaved = true;
    await submit();
    await send(...turnStart(1));
    const readings = host.count('state');
    await send(event(3, 'turn_succeeded'));
    await settle(60_000);
    expect([host.count('state') - readings, remembers().length]).toEqual([1, 1]);
  });

  it.each(['the refusal', 'the end of the turn'])(
    'takes a refusal and the end of the turn in either order: %s first',
    async (first) => {
      const { host, remembers, submit, send, saved, notice, inputs } = await conversation();
      const answer = host.hold('remember', 'Not yet.');
      await submit();
      await send(...turnStart(1));
      host.isSaved = true;
      const steps = [
        () => {
          answer();
          return settle();
        },
        () => send(event(3, 'turn_succeeded')),
      ];
      for (const step of first === 'the refusal' ? steps : steps.toReversed()) await step();
      expect([remembers().length, saved(), notice(), inputs()]).toEqual([2, 'v1:session-1', undefined, 1]);
    },
  );

  it('needs an acknowledgement of its own for each attachment', async () => {
    const { app, host, runtime, remembers, submit, send, saved } = await conversation();
    host.isSaved = true;
    await submit();
    await send(...turnStart(1), event(3, 'turn_succeeded'));
    expect(remembers()).toHaveLength(1);
    runtime.snapshot = { history: [said('user', 'hello')], historyCursor: 3, replay: [] };
    host.edit({ connection: connectionTo(A, 2) });
    app.dispatch(refreshRequested('op'));
    await settle();
    expect([remembers().length, saved()]).toEqual([2, 'v1:session-1']);
  });

  it('is bound as the one that runs now, not as the one that ran before under its id', async () => {
    const { app, host, runtime, remembers, submit, send } = await conversation();
    await submit();
    await send(...turnStart(1), event(3, 'turn_succeeded'));
    const before = remembers().length;
    runtime.descriptor = { ...DESCRIPTOR, sessionId: 'session-2' };
    host.edit({ connection: connectionTo(A, 2) });
    app.dispatch(openRequested('op', 'live'));
    await settle(60_000);
    // Nothing was said in it.
    expect(remembers()).toHaveLength(before);
    host.isSaved = true;
    await submit('again');
    await settle();
    expect(remembers().slice(before)).toEqual(['remember live session-2']);
  });
});

describe('a window that is opened again', () => {
  it('[defect A7] takes a busy runtime for no proof of a prompt', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
    const { remembers, send } = await conversation({ runtime });
    await send(event(1, 'turn_completed'), event(2, 'request', { request: { id: 1, kind: 'other', payload: {} } }));
    await settle(10_000);
    await send(event(3, 'turn_succeeded'));
    expect(remembers()).toEqual([]);
  });

  it.each<[string, Partial<RuntimeDouble['snapshot']>]>([
    ['saved history', { history: [said('user', 'hello'), said('assistant', 'Hi.')] }],
    ['retained events', { replay: [...turnStart(1)] }],
  ])('finds in the runtime’s %s that there was a prompt, and binds without sending anything', async (_what, more) => {
    const runtime = new RuntimeDouble();
    runtime.snapshot = { ...runtime.snapshot, ...more };
    const host = new HostClientDouble();
    host.isSaved = true;
    const { remembers, saved, inputs } = await conversation({ runtime, host });
    expect([remembers(), saved(), inputs()]).toEqual([['remember live session-1'], 'v1:session-1', 0]);
  });

  it('takes what a harness wrote in a person’s name, and what the host keeps, for no prompt', async () => {
    const runtime = new RuntimeDouble();
    const wrote = '<environment_context>cwd: /</environment_context>';
    runtime.snapshot = { ...runtime.snapshot, history: [said('user', wrote)] };
    const { app, host, remembers } = await conversation({ runtime });
    host.history = [said('user', 'hello')];
    app.dispatch(openRequested('op', 'live'));
    await settle(60_000);
    expect(remembers()).toEqual([]);
  });
});

describe('two conversations', () => {
  it('are bound each by its own name, the active one alone', async () => {
    const { window, app, host, other, remembers, submit, send } = await conversation();
    other.descriptor = { ...DESCRIPTOR, sessionId: 'session-of-other' };
    await submit();
    await send(...turnStart(1));
    host.edit({ activeSession: 'other', connection: connectionTo(B) });
    app.dispatch(openRequested('op', 'other'));
    await settle(60_000);
    expect(remembers()).toEqual(['remember live session-1']);
    host.isSaved = true;
    window.submit('hello', 'other');
    await settle();
    other.stream.send(...turnStart(1), event(3, 'turn_succeeded'));
    await settle();
    expect(remembers()).toEqual(['remember live session-1', 'remember other session-of-other']);
  });

  it('one that others attached to is bound to nothing', async () => {
    const { window, remembers } = await conversation();
    window.open('outside');
    await settle();
    window.submit('hello', 'outside');
    await settle();
    window.runtime.stream.send(...turnStart(1), event(3, 'turn_succeeded'));
    await settle(1_000);
    expect([remembers(), window.runtime.count('sendInput')]).toEqual([[], 1]);
  });
});

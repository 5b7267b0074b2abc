import { describe, expect, it } from 'vitest';
import { createRootReducer } from '../../src/store/combine.js';
import { failed, gone, joined, setupEnded, succeeded } from '../../src/store/host.js';
import { hostSlices } from '../../src/store/hostSlices.js';
import { identitySaved, identityUnsaved, identityVoided } from '../../src/store/identity.js';
import { openRequested, refreshRequested, selectRequested } from '../../src/store/hostIntents.js';
import { emptyState } from '../../src/store/replay.js';
import { rootReducer } from '../../src/store/root.js';

const fold = (...actions: Parameters<typeof rootReducer>[1][]) => actions.reduce(rootReducer, emptyState());
const SELECTION = { harness: 'codex', model: '', effort: '' };

describe('what is asked of a host', () => {
  it('stands under its own name until it is answered, and a name asks once', () => {
    const asked = fold(joined(), selectRequested('o', SELECTION));
    expect(asked.host.operations['o']).toMatchObject({ phase: 'asked', intent: { request: { kind: 'select' } } });
    expect(rootReducer(asked, openRequested('o', 'x'))).toBe(asked);
    const done = rootReducer(asked, succeeded({ operation: 'o', result: { kind: 'select', activeSession: 'a' } }));
    expect(done.host.operations['o']).toEqual({ phase: 'done', result: { kind: 'select', activeSession: 'a' } });
    expect(rootReducer(done, selectRequested('o', SELECTION))).toBe(done);
  });

  it('is dropped once it is old and over; what is still asked is not', () => {
    const many = Array.from({ length: 100 }, (_, at) => [
      refreshRequested(`r${at}`),
      failed({ operation: `r${at}`, message: 'm' }),
    ]).flat();
    const { operations } = fold(selectRequested('o', SELECTION), ...many).host;
    expect(Object.keys(operations)).toHaveLength(33);
    expect(operations['o']?.phase).toBe('asked');
    expect(operations['r99']).toEqual({ phase: 'failed', message: 'm' });
  });

  it('of a setup is outstanding until it is ended', () => {
    const step = {
      kind: 'install',
      harness: 'pi',
      name: '',
      command: '',
      cwd: '',
      program: '/p',
      arguments: [],
      env: null,
    } as const;
    const asked = fold(succeeded({ operation: 'o', result: { kind: 'setup', step } }));
    expect(asked.host.outstanding).toEqual({ step: 'install', harness: 'pi' });
    expect(rootReducer(asked, failed({ operation: 'p', message: 'm' })).host.outstanding).not.toBeNull();
    expect(rootReducer(asked, setupEnded()).host.outstanding).toBeNull();
  });
});

it('an identity is told, lost, or missed with a reason', () => {
  const connection = 'c';
  const saved = fold(identitySaved({ connection, nativeId: 'n', identity: 'i' }));
  expect(saved.identity['c']).toEqual({ saved: { nativeId: 'n', identity: 'i' }, unsaved: null });
  expect(rootReducer(saved, identityVoided({ connection })).identity).toEqual({});
  const unsaved = rootReducer(saved, identityUnsaved({ connection, message: 'm' }));
  expect(unsaved.identity['c']?.unsaved).toBe('m');
  expect(
    rootReducer(unsaved, identitySaved({ connection, nativeId: 'n', identity: 'i' })).identity['c']?.unsaved,
  ).toBeNull();
});

it('a window without a host knows the same of it, but changes none of it', () => {
  const without = createRootReducer();
  const empty = without(undefined, { type: 'x' });
  expect(empty).toEqual(emptyState());
  expect(without(empty, gone({ message: 'm' }))).toBe(empty);
  expect(createRootReducer(hostSlices)(empty, gone({ message: 'm' })).host.phase.name).toBe('gone');
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Secrets } from '../../src/vscode/secrets.js';
import { SecretsDouble } from '../doubles/vscode/extensionContext.js';

const TOKEN = 'a-very-secret-token';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function storage(mode: SecretsDouble['mode'] = 'works') {
  const store = new SecretsDouble();
  store.mode = mode;
  return { store, secrets: new Secrets(store) };
}

/** What comes of it, however long it takes: its value, or that it was refused and why. */
async function outcome(asked: Promise<unknown>): Promise<unknown> {
  const settled = asked.then(
    (value) => value,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  return settled;
}

describe('a token that is kept', () => {
  it.each([
    ['works', true],
    ['throws', false],
    ['forgets', false],
    ['hangs', false],
  ] as const)('where the storage %s outlives the window: %s', async (mode, outlives) => {
    const { store, secrets } = storage(mode);
    expect(await outcome(secrets.keep('k', TOKEN))).toBe(outlives);
    // In this window it works either way, at once.
    expect(await secrets.read('k')).toBe(TOKEN);
    store.mode = 'works';
    expect(await new Secrets(store).read('k')).toBe(outlives ? TOKEN : undefined);
  });

  it('takes the place of the one before, also where only memory has it', async () => {
    const { store, secrets } = storage();
    await secrets.keep('k', 'old');
    store.mode = 'throws';
    await secrets.keep('k', TOKEN);
    expect(await secrets.read('k')).toBe(TOKEN);
    store.mode = 'works';
    expect(await secrets.read('k')).toBe(TOKEN);
  });

  it('[fault 48] is asked back for no longer than a few seconds', async () => {
    const { secrets } = storage('hangs');
    const started = Date.now();
    let took = Infinity;
    void secrets.keep('k', TOKEN).then(() => (took = Date.now() - started));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(took).toBeLessThanOrEqual(10_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a token that is read', () => {
  it('comes from an earlier window, and is not there where none kept it', async () => {
    const { store, secrets } = storage();
    store.values.set('k', TOKEN);
    expect([await secrets.read('k'), await secrets.read('other')]).toEqual([TOKEN, undefined]);
  });

  it.each([
    ['throws', 'The keyring is locked.'],
    ['hangs', 'The secret storage of the editor does not answer.'],
  ] as const)('from a storage that %s is refused in words', async (mode, said) => {
    const { secrets } = storage(mode);
    expect(await outcome(secrets.read('k'))).toEqual(new Error(said));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('again where the storage has come back', async () => {
    const { store, secrets } = storage('throws');
    store.values.set('k', TOKEN);
    await outcome(secrets.read('k'));
    store.mode = 'works';
    expect(await secrets.read('k')).toBe(TOKEN);
  });
});

describe('a token that is lent', () => {
  it('is for this window only, under its own name', async () => {
    const { store, secrets } = storage();
    secrets.lend('k', TOKEN);
    expect([await secrets.read('k'), await secrets.read('other')]).toEqual([TOKEN, undefined]);
    expect([...store.values]).toEqual([]);
    expect(await new Secrets(store).read('k')).toBeUndefined();
  });
});

describe('a token that is forgotten', () => {
  it('is gone from memory and from the storage', async () => {
    const { store, secrets } = storage();
    await secrets.keep('k', TOKEN);
    await secrets.forget('k');
    expect([await secrets.read('k'), [...store.values]]).toEqual([undefined, []]);
  });

  it('is gone from memory though the storage does not let go of it', async () => {
    const { store, secrets } = storage();
    secrets.lend('k', TOKEN);
    store.mode = 'throws';
    expect(await outcome(secrets.forget('k'))).toBeInstanceOf(Error);
    store.mode = 'works';
    expect(await secrets.read('k')).toBeUndefined();
  });
});

it('[fault 48] what a storage throws never becomes ours to tell: keeping just says that it did not', async () => {
  const store = new SecretsDouble();
  vi.spyOn(store, 'store').mockImplementation((_, value) => Promise.reject(new Error(`cannot keep ${value}`)));
  expect(await outcome(new Secrets(store).keep('k', TOKEN))).toBe(false);
  const thrower = new SecretsDouble();
  vi.spyOn(thrower, 'store').mockImplementation((_, value) => {
    throw new Error(`cannot keep ${value}`);
  });
  expect(await outcome(new Secrets(thrower).keep('k', TOKEN))).toBe(false);
});

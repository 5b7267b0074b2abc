import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CredentialRefused } from '../../src/protocol/refusal.js';
import { nodeServices } from '../../src/services/node/services.js';
import { errorOf, goodResult, startRuntime, targetAt, TOKEN } from './peer.js';

const none = () => undefined;

afterEach(() => {
  vi.useRealTimers();
});

function credentialFile(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'services-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const path = join(directory, 'credential');
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

describe('the services of a Node process', () => {
  it('reach a runtime with a credential from a file', async () => {
    const peer = await startRuntime(goodResult);
    const target = targetAt(peer.url, { credential: { kind: 'file', path: credentialFile(TOKEN) } });
    await nodeServices({ log: none }).runtime(target).describe();
    expect(peer.seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('reach a runtime with a credential from the secret store', async () => {
    const peer = await startRuntime(goodResult);
    const secrets = (key: string) => Promise.resolve(key === 'k' ? TOKEN : undefined);
    await nodeServices({ log: none, secrets }).runtime(targetAt(peer.url)).describe();
    expect(peer.seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('read the credential anew for each client', async () => {
    const peer = await startRuntime(goodResult);
    const path = credentialFile(TOKEN);
    const services = nodeServices({ log: none });
    const target = targetAt(peer.url, { credential: { kind: 'file', path } });
    await services.runtime(target).describe();
    writeFileSync(path, TOKEN.replaceAll('c', 'd'));
    await services.runtime(target).describe();
    expect(new Set(peer.seen.map(({ headers }) => headers.authorization)).size).toBe(2);
  });

  it('refuse a file that is not private, and send nothing', async () => {
    const peer = await startRuntime(goodResult);
    const path = credentialFile(TOKEN);
    chmodSync(path, 0o644);
    const client = nodeServices({ log: none }).runtime(targetAt(peer.url, { credential: { kind: 'file', path } }));
    expect(await errorOf(client.describe())).toBeInstanceOf(CredentialRefused);
    expect(await errorOf(client.openEvents())).toBeInstanceOf(CredentialRefused);
    expect(peer.connections()).toBe(0);
  });

  it.each([
    ['has no such secret', () => Promise.resolve(undefined)],
    ['[fault 48] throws', () => Promise.reject(new Error(`locked: ${TOKEN}`))],
    [
      '[fault 48] throws at once',
      () => {
        throw new Error(`locked: ${TOKEN}`);
      },
    ],
    ['is not there', undefined],
  ])('refuse the credential when the secret store %s', async (_what, secrets) => {
    const peer = await startRuntime(goodResult);
    const client = nodeServices({ log: none, ...(secrets && { secrets }) }).runtime(targetAt(peer.url));
    const error = await errorOf(client.describe());
    expect(error).toBeInstanceOf(CredentialRefused);
    expect((error as Error).message).not.toContain(TOKEN);
    expect(peer.connections()).toBe(0);
  });

  it('[fault 48] a secret store that hangs is waited for 10 s, then the credential is refused', async () => {
    vi.useFakeTimers();
    let fail: (error: Error) => void = none;
    const secrets = () => new Promise<string>((_resolve, reject) => (fail = reject));
    const client = nodeServices({ log: none, secrets }).runtime(targetAt('http://127.0.0.1:1'));
    let error: unknown;
    client.describe().catch((caught: unknown) => (error = caught));
    await vi.advanceTimersByTimeAsync(9999);
    expect(error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(error).toBeInstanceOf(CredentialRefused);
    fail(new Error('too late'));
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leave no timer behind once the credential is read', async () => {
    const peer = await startRuntime(goodResult);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const secrets = () => Promise.resolve(TOKEN);
    await nodeServices({ log: none, secrets }).runtime(targetAt(peer.url)).describe();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('have clocks, chance and fresh names', () => {
    const services = nodeServices({ log: none });
    const { clock } = services;
    expect(Math.abs(clock.wall() - Date.now())).toBeLessThan(1000);
    expect(clock.monotonic()).toBeLessThanOrEqual(clock.monotonic());
    expect(new Set(Array.from({ length: 1000 }, () => services.newId())).size).toBe(1000);
    expect(Array.from({ length: 1000 }, () => services.random()).every((value) => value >= 0 && value < 1)).toBe(true);
  });
});

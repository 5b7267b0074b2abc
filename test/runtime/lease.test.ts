import { describe, expect, it } from 'vitest';
import { GRANTS } from '../../src/runtime/grants.js';
import { Lease, type Client } from '../../src/runtime/lease.js';

const editor: Client = { id: 'editor-1', permissions: GRANTS.interactive };
const rival: Client = { id: 'editor-2', permissions: GRANTS.interactive };
const watcher: Client = { id: 'watcher-1', permissions: GRANTS.observer };

const started = (): { lease: Lease; pass: (ms: number) => void } => {
  let now = 1_000_000;
  return {
    lease: new Lease(1000, () => now),
    pass: (ms) => {
      now += ms;
    },
  };
};

describe('the lease', () => {
  it('ends exactly at its deadline', () => {
    const { lease, pass } = started();
    lease.claim(editor);
    pass(999);
    expect(lease.read(watcher).controller).toEqual({ client_id: 'editor-1', expires_at_ms: 1_001_000 });
    pass(1);
    expect(lease.read(watcher).controller).toBeNull();
  });

  it('is free for others once it has lapsed, and its last holder is told so until it acts', () => {
    const { lease, pass } = started();
    lease.claim(editor);
    pass(1000);
    expect(() => lease.claim(editor)).toThrow('controller lease expired');
    expect(() => lease.claim(editor)).toThrow('controller lease expired');
    lease.claim(rival);
    expect(() => lease.claim(editor)).toThrow('controller lease required');
    lease.detach('editor-2');
    expect(lease.claim(editor).controller?.client_id).toBe('editor-1');
  });

  it('is renewed by mutations and by heartbeats of its holder alone', () => {
    const { lease, pass } = started();
    lease.take(editor);
    pass(600);
    lease.heartbeat(rival);
    lease.observe(editor);
    expect(lease.read(editor).controller?.expires_at_ms).toBe(1_001_000);
    lease.heartbeat(editor);
    expect(lease.read(editor).controller?.expires_at_ms).toBe(1_001_600);
    pass(600);
    lease.claim(editor);
    expect(lease.read(editor).controller?.expires_at_ms).toBe(1_002_200);
  });

  it('asks for the permission first and registers nobody who lacks it', () => {
    const { lease } = started();
    expect(() => lease.take(watcher)).toThrow('`interact` is required');
    expect(() => lease.observe({ id: 'x', permissions: new Set() })).toThrow('`observe` is required');
    expect(lease.read(watcher).observers).toEqual([]);
  });
});

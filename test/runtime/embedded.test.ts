import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedRuntime, type EmbeddedRuntime, type EmbeddedRuntimeOptions } from '../../src/runtime/embedded.js';
import { bash, pause, script, Wire } from '../conformance/wire.js';

const start = async (options: EmbeddedRuntimeOptions = {}): Promise<EmbeddedRuntime> => {
  const runtime = await startEmbeddedRuntime(options);
  onTestFinished(() => runtime.kill());
  return runtime;
};

const clientOf = (runtime: EmbeddedRuntime): Wire =>
  new Wire(runtime.url, { token: runtime.mint('editor-1'), clientId: 'editor-1' });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Runs a command that writes down its process id and then lasts; resolves with the id. */
const runLasting = async (runtime: EmbeddedRuntime, client: Wire): Promise<number> => {
  await client.send(script({ calls: [bash('echo $$ > pid; sleep 60')] }));
  const file = join(runtime.workspace, 'pid');
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (existsSync(file)) {
      const pid = Number(await readFile(file, 'utf8'));
      if (pid > 0) return pid;
    }
    await pause(20);
  }
  throw new Error('the command did not start');
};

const goneSoon = async (pid: number): Promise<boolean> => {
  for (let attempt = 0; attempt < 50 && isAlive(pid); attempt += 1) await pause(20);
  return !isAlive(pid);
};

describe('the life of an embedded runtime', () => {
  it.each(['close', 'kill'] as const)('%s removes its temporary workspace and refuses connections', async (how) => {
    const runtime = await start();
    expect(existsSync(runtime.workspace)).toBe(true);
    await runtime[how]();
    await runtime.ended;
    expect(existsSync(runtime.workspace)).toBe(false);
    await expect(clientOf(runtime).describe()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('keeps a workspace that it was given', async () => {
    const workspace = await mkdtemp(join(tmpdir(), 'given-workspace-'));
    onTestFinished(() => rm(workspace, { recursive: true, force: true }));
    await (await start({ workspace })).close();
    expect(existsSync(workspace)).toBe(true);
  });

  it('cleans up when its owner closes it over the wire', async () => {
    const runtime = await start();
    await new Wire(runtime.url, { token: runtime.ownerToken }).ok('close');
    await runtime.ended;
    expect(existsSync(runtime.workspace)).toBe(false);
  });

  it('closes although a request is pending and a stream is not read', async () => {
    const runtime = await start();
    const client = clientOf(runtime);
    const stream = await client.listen();
    const stalled = await client.listen();
    stalled.stall();
    await client.send(script({ calls: [bash('printf x')] }));
    await stream.until('request');
    await runtime.close();
    await stream.ended;
    expect(stream.kinds().at(-1)).toBe('turn_interrupted');
  });

  it('closes twice, and after a kill', async () => {
    const runtime = await start();
    await Promise.all([runtime.close(), runtime.close()]);
    await runtime.kill();
    await runtime.close();
  });

  it('a kill says nothing: the stream breaks in the middle of the turn', async () => {
    const runtime = await start();
    const client = clientOf(runtime);
    const stream = await client.listen();
    await client.send(script({ repeat: { n: 500, text: 'w' }, delay: 5 }));
    await stream.until('text_delta');
    await runtime.kill();
    await stream.ended;
    expect(stream.kinds().at(-1)).toBe('text_delta');
  });

  it('continues a session with its history, from sequence 1', async () => {
    const first = await start();
    const client = clientOf(first);
    const stream = await client.listen();
    await client.send('the word is heron');
    await stream.turnEnd(0);
    await first.kill();
    const second = await start({ sessionId: first.sessionId, history: first.history() });
    const snapshot = await clientOf(second).attach();
    expect(snapshot).toMatchObject({ history_cursor: 0, replay: [], descriptor: { session_id: first.sessionId } });
    expect(snapshot.history.map(({ content }) => content).slice(1)).toEqual([
      'the word is heron',
      'You said: the word is heron',
    ]);
  });
});

describe('the commands of an embedded runtime', () => {
  it.each(['interrupt', 'close', 'kill'] as const)('end with %s', async (how) => {
    const runtime = await start({ toolApproval: 'never' });
    const client = clientOf(runtime);
    const pid = await runLasting(runtime, client);
    expect(isAlive(pid)).toBe(true);
    if (how === 'interrupt') await client.ok('interrupt');
    else await runtime[how]();
    expect(await goneSoon(pid)).toBe(true);
  });

  it('end with the runtime also when they run in the background', async () => {
    const runtime = await start({ toolApproval: 'never' });
    const client = clientOf(runtime);
    const stream = await client.listen();
    await client.send(script({ calls: [{ name: 'background_exec', args: { command: 'sleep 60' } }] }));
    const { payload } = await stream.until('tool_call_completed');
    const { pid } = JSON.parse(String(payload['output'])) as { pid: number };
    expect(isAlive(pid)).toBe(true);
    await runtime.close();
    expect(await goneSoon(pid)).toBe(true);
  });

  it('do not see the credentials that its host was given', async () => {
    process.env['SUPERCODE_FRONTEND_CREDENTIAL_FILE'] = '/secret/credential';
    onTestFinished(() => {
      delete process.env['SUPERCODE_FRONTEND_CREDENTIAL_FILE'];
    });
    const runtime = await start({ toolApproval: 'never' });
    const client = clientOf(runtime);
    const stream = await client.listen();
    await client.send(script({ calls: [bash('env | grep SUPERCODE_ || echo none')] }));
    expect((await stream.until('tool_call_completed')).payload['output']).toBe('exit code: 0\nnone\n');
  });
});

describe('the connections of an embedded runtime', () => {
  const streamSocket = async (runtime: EmbeddedRuntime): Promise<Socket> => {
    const { hostname, port } = new URL(runtime.url);
    const socket = connect(Number(port), hostname);
    const headers = Object.entries(clientOf(runtime).headers()).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET /frontend/events HTTP/1.1\r\nhost: x\r\n${headers.join('')}\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    return socket;
  };

  it.each([
    ['a stray byte', 'x'],
    ['another request', 'GET /frontend/events HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])('%s on an event stream ends it and detaches its client', async (_name, bytes) => {
    const runtime = await start();
    const socket = await streamSocket(runtime);
    const ended = new Promise((resolve) => socket.on('close', resolve).on('error', () => undefined));
    expect((await clientOf(runtime).lease()).observers).toHaveLength(1);
    socket.write(bytes);
    await ended;
    expect((await clientOf(runtime).lease()).observers).toEqual([]);
  });

  it('a half-closed event stream ends', async () => {
    const runtime = await start();
    const socket = await streamSocket(runtime);
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.end();
    await ended;
  });

  it('answers several calls on one kept connection', async () => {
    const client = clientOf(await start()).onOneConnection();
    for (let call = 0; call < 3; call += 1) expect((await client.describe()).schema_version).toBe(2);
    client.disconnect();
  });

  it('has no token in anything that a client can read', async () => {
    const runtime = await start();
    const client = clientOf(runtime);
    const stream = await client.listen();
    await client.send('hello');
    await stream.turnEnd(0);
    const seen = JSON.stringify([await client.attach(), await client.lease(), stream.events]);
    expect(seen).not.toContain(runtime.ownerToken);
    expect(seen).not.toContain(client.identity.token);
  });
});

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { RuntimeRefusal } from '../../src/protocol/refusal.js';
import { nodeServices } from '../../src/services/node/services.js';
import type { RuntimeClient } from '../../src/services/services.js';
import { answerJson, CALLS, clientAt, errorOf, goodResult, startPeer, targetAt, TOKEN, type Handler } from './peer.js';

const idIn = (body: string) => (body === '' ? 1 : (JSON.parse(body) as { id: number }).id);
const loud = `it is Bearer ${TOKEN}, you know: ${TOKEN}${TOKEN}`;
const wrong = { code: -32032, name: 'controller_required', message: loud, holder: TOKEN, permission: TOKEN };

/** A peer that fails in every way we know of, and repeats the credential wherever it can. */
const FAILURES: Readonly<Record<string, Handler>> = {
  refusal: (response, { body }) => {
    answerJson(response, 200, { id: idIn(body), error: wrong });
  },
  'nameless refusal': (response, { body }) => {
    answerJson(response, 200, { id: idIn(body), error: loud });
  },
  'refusal with the token where it is cut': (response, { body }) => {
    const message = `${TOKEN.repeat(40)}${'x'.repeat(1970 - 40 * '[credential]'.length)}${TOKEN}`;
    answerJson(response, 200, { id: idIn(body), error: { code: -32001, message } });
  },
  'bad result': (response, { body }) => {
    answerJson(response, 200, { id: idIn(body), result: { [TOKEN]: TOKEN } });
  },
  'wrong id': (response) => {
    answerJson(response, 200, { id: TOKEN, result: TOKEN });
  },
  'no JSON': (response) => response.end(`<html>${loud}`),
  'half JSON': (response) => response.end(`{"id":1,"result":"${TOKEN}`),
  ...Object.fromEntries(
    [204, 302, 400, 401, 403, 404, 429, 500, 503].map((status): [string, Handler] => [
      `HTTP ${status}`,
      (response) => {
        response.writeHead(status, `No ${TOKEN}`, { location: `/${TOKEN}`, 'retry-after': TOKEN, 'x-token': TOKEN });
        response.end(status === 204 ? undefined : JSON.stringify({ id: null, error: { ...wrong, permission: TOKEN } }));
      },
    ]),
  ),
  'no headers': (response) => response.destroy(),
  'half a body': (response) => {
    response.writeHead(200, { 'content-length': 1000, 'content-type': 'application/json' });
    response.write(`{"id":1,"x":"${TOKEN}`);
    setTimeout(() => response.destroy(), 10);
  },
  'no HTTP': (_response, _request, raw) => raw.socket.end(`HTTP/1.1 ${TOKEN}\r\n${TOKEN}\r\n\r\n`),
  'too much': (response) => response.end(TOKEN.repeat(17_000)),
  'bad gzip': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(TOKEN),
  silence: () => undefined,
};

function expectNoToken(value: unknown): void {
  const shown = [String(value), inspect(value, { depth: 10, showHidden: true }), JSON.stringify(value)];
  if (value instanceof Error) shown.push(value.message, value.stack ?? '', inspect(value.cause, { depth: 10 }));
  if (value instanceof RuntimeRefusal) shown.push(JSON.stringify(value.refusal));
  for (const text of shown) expect(text).not.toContain(TOKEN.slice(0, 8));
}

describe('the credential', () => {
  it.each(Object.keys(FAILURES))('is in no error of any call when it fails by: %s', async (name) => {
    const peer = await startPeer((...parameters) => FAILURES[name]?.(...parameters));
    const timeouts = name === 'silence' ? { call: 50, attach: 50, prompt: 50, open: 50 } : {};
    const client = clientAt(peer.url, { timeouts });
    for (const [method, call] of Object.entries({
      ...CALLS,
      events: (opening: RuntimeClient) => opening.openEvents(),
    })) {
      const error = await errorOf(call(client));
      expect(error, method).toBeInstanceOf(Error);
      expect(['RuntimeRefusal', 'TransportFault']).toContain((error as Error).name);
      expectNoToken(error);
    }
    expect(peer.seen).toHaveLength(Object.keys(CALLS).length + 1);
    for (const { url, headers, body } of peer.seen) {
      expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
      expect(url + body + JSON.stringify({ ...headers, authorization: '' })).not.toContain(TOKEN);
    }
  });

  it('is in no error when it cannot be read or cannot be a header', async () => {
    const readers: (() => Promise<string>)[] = [
      () => Promise.reject(new Error(`could not decrypt ${TOKEN}`)),
      () => Promise.resolve(`${TOKEN}\r\n`),
      () => Promise.resolve(`${TOKEN}\u00e9`),
      () => Promise.resolve(` ${TOKEN}`),
    ];
    for (const readCredential of readers) {
      const client = clientAt('http://127.0.0.1:1', { readCredential });
      for (const error of [await errorOf(client.describe()), await errorOf(client.openEvents())]) {
        expect((error as Error).name).toBe('CredentialRefused');
        expectNoToken(error);
      }
    }
  });

  it('is in no error of a fetch that fails with it', async () => {
    const broken = () => Promise.reject(new TypeError(`bad header Bearer ${TOKEN}`, { cause: new Error(TOKEN) }));
    const client = clientAt('http://127.0.0.1:1', { fetch: broken });
    expectNoToken(await errorOf(client.describe()));
    expectNoToken(await errorOf(client.openEvents()));
  });

  it('is in no field of the client, no event stream and no line of the log', async () => {
    const peer = await startPeer((response, { method, body }) => {
      if (method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${TOKEN}\n\n`);
        return;
      }
      const request = JSON.parse(body) as { id: number; method: string };
      answerJson(response, 200, { id: request.id, result: goodResult(request.method) });
    });
    const lines: string[] = [];
    const services = nodeServices({ log: (line) => lines.push(line), secrets: () => Promise.resolve(TOKEN) });
    const client = services.runtime(targetAt(peer.url));
    const results = [];
    for (const call of Object.values(CALLS)) results.push(await call(client));
    const stream = await client.openEvents();
    const chunks = [];
    for await (const chunk of stream.chunks) chunks.push(chunk);
    expect(chunks).toEqual([{ events: [], malformed: 1 }]);
    for (const value of [client, stream, results, chunks, services, lines]) expectNoToken(value);
  });
});

import { gzipSync, constants, createGzip } from 'node:zlib';
import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it, vi } from 'vitest';
import { RuntimeRefusal, TransportFault } from '../../src/protocol/refusal.js';
import { readEvents } from '../../src/services/events.js';
import { cutAt, hear, openLockstep, sumOf, texts } from './lockstep.js';
import { answerJson, clientAt, delta, errorOf, goodResult, readAll, startPeer, type Handler } from './peer.js';

const MIB = 1024 * 1024;
const frame = (sequence: number, text: string) => `data: ${delta(sequence, text)}\n\n`;
const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('framing', () => {
  it.each([
    ['LF', '\n', '\n'],
    ['CRLF', '\r\n', '\r\n'],
    ['CR', '\r', '\r'],
    ['CRLF then LF', '\r\n', '\n'],
    ['LF then CRLF', '\n', '\r\n'],
    ['CR then LF CR', '\r', '\n\r'],
  ])('[fault 1] [defect P2, P3] %s ends lines, wherever the reads cut them', async (_name, line, blank) => {
    const text = `data: ${delta(1, 'a')}${line}${blank}: hi${line}data: ${delta(2, 'b')}${line}${blank}`;
    const { send, next, response } = await openLockstep();
    const whole = await send(text);
    response.end();
    await next();
    expect(texts(whole)).toEqual(['a', 'b']);
    for (let cut = 0; cut <= text.length; cut += 1) {
      const heard = await hear(cutAt(text, [cut]));
      expect(texts(heard)).toEqual(['a', 'b']);
      expect(heard.malformed).toBe(0);
    }
    expect(texts(await hear(Array.from(text)))).toEqual(['a', 'b']);
  });

  it('[fault 1] [defect P1] CR|LF parted by two reads is one line end: a frame of two lines stays one', async () => {
    const { send } = await openLockstep();
    expect(await send('data: {"sequence":1,"kind":"text_delta",\r')).toEqual({ events: [], malformed: 0 });
    expect(await send('\ndata: "payload":{"text":"a"}}\r')).toEqual({ events: [], malformed: 0 });
    expect(await send('\n\r')).toEqual({ events: [{ sequence: 1, kind: 'text_delta', text: 'a' }], malformed: 0 });
    expect(await send(`\n${frame(2, 'b')}`)).toEqual({
      events: [{ sequence: 2, kind: 'text_delta', text: 'b' }],
      malformed: 0,
    });
  });

  it('[fault 2] [defect P2] a BOM at the start is no part of the first frame, however the reads cut it', async () => {
    const bytes = bytesOf(`\ufeff${frame(1, 'a')}${frame(2, 'b')}`);
    for (const cuts of [[], [1], [2], [3], [1, 2], [1, 2, 3]]) {
      const { send } = await openLockstep();
      const chunks = [];
      for (const piece of cutAt(bytes, cuts)) chunks.push(await send(piece));
      expect(texts(sumOf(chunks))).toEqual(['a', 'b']);
      expect(sumOf(chunks).malformed).toBe(0);
    }
  });

  it('[fault 2] [defect P2] an empty first read and then a BOM', async () => {
    const nothing = new Uint8Array(0);
    for (const cuts of [[], [1], [1, 2], [3]]) {
      const heard = await hear([nothing, ...cutAt(`\ufeff${frame(1, 'a')}`, cuts), nothing]);
      expect(texts(heard)).toEqual(['a']);
    }
  });

  it('[fault 2] only one BOM is dropped, and only at the start', async () => {
    expect(texts(await hear([`\ufeff\ufeff${frame(1, 'a')}${frame(2, 'b')}`]))).toEqual(['b']);
    expect(texts(await hear([frame(1, '\ufeffa'), `\ufeff${frame(2, 'b')}`, frame(3, 'c')]))).toEqual(['\ufeffa', 'c']);
  });

  it('[fault 3] a character cut at every byte comes out whole', async () => {
    const text = 'é€😀👩‍👩‍👧e\u0301\u2028\u{10ffff}';
    const bytes = bytesOf(frame(1, text));
    for (let cut = 1; cut < bytes.length; cut += 1) expect(texts(await hear(cutAt(bytes, [cut])))).toEqual([text]);
    const { send } = await openLockstep();
    const chunks = [];
    for (const byte of bytes) chunks.push(await send(Uint8Array.of(byte)));
    expect(texts(sumOf(chunks))).toEqual([text]);
    expect(chunks).toHaveLength(bytes.length);
  });

  it('[fault 3] bytes that are no UTF-8 spoil one character and nothing else', async () => {
    const bytes = bytesOf(frame(1, 'a?b') + frame(2, 'c')).map((byte) => (byte === 0x3f ? 0xff : byte));
    expect(texts(await hear([bytes]))).toEqual(['a\ufffdb', 'c']);
  });

  it.each([
    ['no space after the colon', `data:${delta(1, 'a')}\n\n`],
    ['several lines of data', 'data: {"sequence":1,\ndata: "kind":"text_delta",\ndata:"payload":{"text":"a"}}\n\n'],
    ['data without a colon, which is an empty line of data', `data\ndata: ${delta(1, 'a')}\ndata\n\n`],
    ['comments between the lines', `: x\n:\ndata: ${delta(1, 'a')}\n: data: {}\n\n:\n\n`],
    ['unknown fields', `foo: bar\nbaz\ndata: ${delta(1, 'a')}\n data: x\nDATA: x\n\n`],
    ['a retry that is no number', `retry: abc\ndata: ${delta(1, 'a')}\nretry: -1\n\nretry: 5\n\n`],
    ['another event name', `event: message\ndata: ${delta(1, 'a')}\n\n`],
    ['blank lines between', `\n\n\ndata: ${delta(1, 'a')}\n\n\n\n`],
  ])('[fault 4] %s: one event', async (_what, text) => {
    const { send } = await openLockstep();
    expect(await send(text)).toEqual({ events: [{ sequence: 1, kind: 'text_delta', text: 'a' }], malformed: 0 });
    expect(texts(await hear(Array.from(text)))).toEqual(['a']);
  });

  it('[fault 4] a comment is a sign of life: a chunk with nothing in it', async () => {
    const { send } = await openLockstep();
    expect(await send(': keep-alive\n\n')).toEqual({ events: [], malformed: 0 });
    expect(await send(':\n')).toEqual({ events: [], malformed: 0 });
    expect(await send(frame(1, 'a'))).toMatchObject({ malformed: 0, events: [{ sequence: 1 }] });
  });

  it.each([
    ['an id that holds NUL', `id: 7\u00007\ndata: ${delta(1, 'a')}\n\n`, 1],
    ['a block that is only an id', `id: 99\n\ndata: ${delta(1, 'a')}\n\n`, 1],
    ['an empty id', `id: 7\ndata: ${delta(1, 'a')}\n\nid\ndata: ${delta(2, 'b')}\n\nid:\n\n`, 2],
  ])('[fault 5] [defect P6] %s changes nothing: the cursor is the sequence in the event', async (_what, text, last) => {
    const { send } = await openLockstep();
    const chunk = await send(text);
    expect(chunk.malformed).toBe(0);
    expect(chunk.events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: last }, (_, at) => at + 1));
  });

  it('[fault 6] [defect P11] an error frame without data is nothing; one with data that is no event is counted', async () => {
    const { send } = await openLockstep();
    expect(await send('event: error\n\n')).toEqual({ events: [], malformed: 0 });
    expect(await send('event: error\nid: 3\n\n')).toEqual({ events: [], malformed: 0 });
    expect(await send('event: error\ndata: overloaded\n\n')).toEqual({ events: [], malformed: 1 });
    expect(await send('event: error\ndata\n\n')).toEqual({ events: [], malformed: 1 });
    expect(texts(await send(frame(1, 'a')))).toEqual(['a']);
  });
});

describe('large frames', () => {
  const inPieces = (text: string, size: number) =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, at) => bytesOf(text.slice(at * size, (at + 1) * size)));

  it('[fault 7] a frame of 8 MB in reads of 1 KB costs eight times one of 1 MB, not sixty-four times', async () => {
    const cost = async (megabytes: number) => {
      const pieces = inPieces(frame(1, 'x'.repeat(megabytes * MIB)), 1024);
      let least = Infinity;
      for (let run = 0; run < 3; run += 1) {
        const before = process.cpuUsage();
        const heard = await hear(pieces);
        const { user, system } = process.cpuUsage(before);
        least = Math.min(least, user + system);
        expect(texts(heard)[0]).toHaveLength(megabytes * MIB);
        expect(heard.chunks).toBe(pieces.length);
      }
      return least;
    };
    await cost(1);
    expect((await cost(8)) / (await cost(1))).toBeLessThan(24);
  });

  it('[fault 7] a frame of 8 MB arrives over the line too, and what follows it', async () => {
    const peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of inPieces(frame(1, 'x'.repeat(8 * MIB)), 1024)) response.write(piece);
      response.end(frame(2, 'after'));
    });
    const heard = sumOf(await readAll(await clientAt(peer.url).openEvents()));
    expect(texts(heard).map((text) => text.length)).toEqual([8 * MIB, 5]);
  });

  it.each([
    ['a line without an end', () => 'x'.repeat(64 * 1024)],
    ['lines of data without a blank one', () => `\ndata: ${'x'.repeat(64 * 1024)}`],
  ])('[fault 7] %s ends the stream at the bound, counted, with the connection given up', async (_what, more) => {
    const piece = more();
    let sent = 0;
    const peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${frame(1, 'a')}data: `);
      const pump = () => {
        while (!response.destroyed) {
          sent += piece.length;
          if (!response.write(piece)) {
            response.once('drain', pump);
            return;
          }
        }
      };
      pump();
    });
    const heard = sumOf(await readAll(await clientAt(peer.url).openEvents()));
    expect(texts(heard)).toEqual(['a']);
    expect(heard.malformed).toBe(1);
    await vi.waitFor(() => {
      expect(peer.openConnections()).toBe(0);
    });
    expect(sent).toBeGreaterThan(16 * MIB);
    expect(sent).toBeLessThan(40 * MIB);
  });

  it('[fault 7] a line without an end ends the stream even where nothing follows it', async () => {
    const { body, enqueue } = openBody();
    const iterator = readEvents(body).chunks[Symbol.asyncIterator]();
    enqueue('data: ');
    expect((await iterator.next()).value).toEqual({ events: [], malformed: 0 });
    enqueue('x'.repeat(16 * MIB));
    expect((await iterator.next()).value).toEqual({ events: [], malformed: 1 });
    expect((await iterator.next()).done).toBe(true);
  });

  it('[fault 7] a comment of 40 MB is passed over', async () => {
    const comment = bytesOf('y'.repeat(64 * 1024));
    const pieces = [bytesOf(':'), ...Array.from({ length: 640 }, () => comment), bytesOf(`\n${frame(1, 'a')}`)];
    expect(await hear(pieces)).toMatchObject({ events: [{ sequence: 1 }], malformed: 0 });
  });
});

describe('the end', () => {
  const last = frame(2, 'b');
  it.each([
    ['in the field name', last.slice(0, 3)],
    ['in the data', last.slice(0, 20)],
    ['after the data', last.slice(0, -2)],
    ['before the blank line', last.slice(0, -1)],
    ['inside a character', bytesOf(frame(2, 'é')).slice(0, -6)],
  ])('[fault 8] %s of a frame: the partial frame is not delivered, nor counted', async (_where, partial) => {
    for (const finish of ['end', 'destroy'] as const) {
      const { send, next, response } = await openLockstep();
      expect(texts(await send(frame(1, 'a')))).toEqual(['a']);
      expect(await send(partial)).toEqual({ events: [], malformed: 0 });
      response[finish]();
      expect(await next()).toEqual({ done: true, value: undefined });
      expect(await next()).toEqual({ done: true, value: undefined });
    }
  });

  it('[fault 16] [defect P12] after a silence that ends the body, the chunks end quietly and the approval can still be answered', async () => {
    const peer = await startPeer((response, request) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(frame(1, 'a'));
        return;
      }
      const { id, method } = JSON.parse(request.body) as { id: number; method: string };
      answerJson(response, 200, { id, result: goodResult(method) });
    });
    const dispatcher = impatientDispatcher(200);
    const client = clientAt(peer.url, { fetch: (url, init) => fetch(url, { ...init, dispatcher } as RequestInit) });
    const stream = await client.openEvents();
    expect(texts(sumOf(await readAll(stream)))).toEqual(['a']);

    const again = await client.openEvents();
    expect((await again.chunks[Symbol.asyncIterator]().next()).value).toMatchObject({ events: [{ sequence: 1 }] });
    await client.respond({ kind: 'approval', request_id: 4, decision: 'allow' });
    expect(peer.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    again.close();
  });

  it('from our side ends a read that waits, and the runtime sees the connection go', async () => {
    const { stream, next, send, peer } = await openLockstep();
    await send(frame(1, 'a'));
    const waiting = next();
    stream.close();
    stream.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await next()).toEqual({ done: true, value: undefined });
    await vi.waitFor(() => {
      expect(peer.openConnections()).toBe(0);
    });
  });

  it('from our side drops what has come and was not asked for', async () => {
    const { stream, response, next, send } = await openLockstep();
    await send(frame(1, 'a'));
    response.write(frame(2, 'b'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    stream.close();
    expect(await next()).toEqual({ done: true, value: undefined });
  });

  it('from our side drops a read that has just been made', async () => {
    const { body, enqueue } = openBody();
    const stream = readEvents(body);
    const waiting = stream.chunks[Symbol.asyncIterator]().next();
    enqueue(frame(1, 'a'));
    stream.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it('of a loop over the chunks that is left gives up the connection', async () => {
    const { stream, response, peer } = await openLockstep();
    response.write(frame(1, 'a'));
    for await (const chunk of stream.chunks) {
      expect(texts(chunk)).toEqual(['a']);
      break;
    }
    await vi.waitFor(() => {
      expect(peer.openConnections()).toBe(0);
    });
  });
});

describe('frames that are no events', () => {
  it('[fault 9] malformed JSON between good frames is counted, and the rest applies', async () => {
    const { send } = await openLockstep();
    const bad = ['{"sequence":2,', '', 'nonsense', '{"sequence":2}', "{'a':1}", '\u0000'];
    const text = bad.map((data, at) => `${frame(at + 1, `t${at}`)}data: ${data}\n\n`).join('') + frame(9, 'end');
    expect(await send(text)).toMatchObject({ malformed: bad.length });
    expect(texts(await hear([text]))).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 'end']);
  });

  it.each([
    ['a number', '1'],
    ['a text', '"text_delta"'],
    ['a truth', 'true'],
    ['null', 'null'],
    ['a list', '[{"sequence":2,"kind":"text_delta","payload":{"text":"x"}}]'],
    ['an event hidden in __proto__', '{"__proto__":{"sequence":2,"kind":"text_delta","payload":{"text":"x"}}}'],
    ['a sequence of 1e400', '{"sequence":1e400,"kind":"text_delta","payload":{"text":"x"}}'],
    ['duplicate keys of which the last is bad', '{"sequence":2,"sequence":"3","kind":"text_delta","payload":{}}'],
    ['a kind that is no text', '{"sequence":2,"kind":7,"payload":{}}'],
    ['lists 10,000 deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['lists 10,000 deep and not closed', '['.repeat(10_000)],
  ])('[fault 10] %s: is counted and hurts nothing', async (_what, data) => {
    const { send } = await openLockstep();
    expect(await send(`${frame(1, 'a')}data: ${data}\n\n${frame(3, 'b')}`)).toEqual({
      events: [
        { sequence: 1, kind: 'text_delta', text: 'a' },
        { sequence: 3, kind: 'text_delta', text: 'b' },
      ],
      malformed: 1,
    });
    expect(({} as { sequence?: unknown }).sequence).toBeUndefined();
  });

  it('[fault 10] duplicate keys: the last one counts', async () => {
    const data = '{"sequence":1,"sequence":2,"kind":"x","kind":"text_delta","payload":{"text":"x","text":"y"}}';
    expect(await hear([`data: ${data}\n\n`])).toMatchObject({
      events: [{ sequence: 2, kind: 'text_delta', text: 'y' }],
      malformed: 0,
    });
  });

  it('[fault 10] an event nested 10,000 deep is kept, bounded', async () => {
    const data = `{"sequence":1,"kind":"new","payload":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`;
    const { events, malformed } = await hear([`data: ${data}\n\n`]);
    expect(malformed).toBe(0);
    expect(events).toMatchObject([{ sequence: 1, kind: 'opaque', eventKind: 'new' }]);
    expect(JSON.stringify(events).length).toBeLessThan(4096);
  });

  it('[fault 11] a sequence is taken as it is or not at all: repeats pass, what is no whole number is counted', async () => {
    const good = [5, 5, 3, 9];
    const bad = ['-1', '1.5', '9007199254740993', '"7"', 'null'];
    const text =
      good.map((sequence) => frame(sequence, 'x')).join('') +
      bad.map((sequence) => `data: {"sequence":${sequence},"kind":"text_delta","payload":{"text":"x"}}\n\n`).join('');
    const heard = await hear([text]);
    expect(heard.events.map(({ sequence }) => sequence)).toEqual(good);
    expect(heard.malformed).toBe(bad.length);
  });
});

describe('the opening', () => {
  it('sends what the contract asks for, on a connection of its own', async () => {
    const { peer, send, client } = await openLockstep();
    await send(frame(1, 'a'));
    expect(peer.seen[0]).toMatchObject({
      method: 'GET',
      url: '/frontend/events',
      body: '',
      headers: {
        authorization: expect.stringMatching(/^Bearer [0-9a-f]{64}$/) as string,
        'x-supercode-client-id': 'editor-1',
        'x-supercode-permissions': 'observe,interact,approve',
        connection: 'close',
      },
    });
    const second = await client.openEvents();
    expect(peer.connections()).toBe(2);
    second.close();
  });

  const refused: readonly (readonly [string, Handler, object])[] = [
    [
      '200 with text/html',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      { kind: 'protocol' },
    ],
    ['200 with no type', (response) => response.writeHead(200).end(frame(1, 'a')), { kind: 'protocol' }],
    [
      '200 with a type that starts alike',
      (response) => response.writeHead(200, { 'content-type': 'text/event-stream2' }).end(),
      { kind: 'protocol' },
    ],
    ['204', (response) => response.writeHead(204).end(), { kind: 'protocol' }],
    ['401', (response) => response.writeHead(401).end(), { reason: 'unauthenticated' }],
    ['403', (response) => response.writeHead(403).end('<html>'), { reason: 'unauthorized' }],
    ['429', (response) => response.writeHead(429, { 'retry-after': '3' }).end(), { kind: 'http', retryAfterMs: 3000 }],
    ['503', (response) => response.writeHead(503, { 'retry-after': '4' }).end(), { kind: 'http', retryAfterMs: 4000 }],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: '/frontend/events?again' }).end(),
      { kind: 'protocol' },
    ],
    ['500', (response) => response.writeHead(500).end(), { kind: 'protocol' }],
  ];
  it.each(refused)('[fault 15] %s: opens no stream and gives the connection up', async (_what, handler, expected) => {
    const peer = await startPeer(handler);
    const error = await errorOf(clientAt(peer.url).openEvents());
    expect(error instanceof TransportFault || error instanceof RuntimeRefusal).toBe(true);
    expect(error).toMatchObject(expected);
    expect(peer.seen).toHaveLength(1);
    await vi.waitFor(() => {
      expect(peer.openConnections()).toBe(0);
    });
  });

  it('[fault 15] an endless answer that is no stream is given up', async () => {
    const peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write('<html>');
    });
    expect(await errorOf(clientAt(peer.url).openEvents())).toMatchObject({ kind: 'protocol' });
    await vi.waitFor(() => {
      expect(peer.openConnections()).toBe(0);
    });
  });

  it('[fault 15] a gzipped stream is read, event by event', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    const peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'content-encoding': 'gzip' });
      gzip.pipe(response);
      gzip.write(frame(1, 'a'));
    });
    const stream = await clientAt(peer.url).openEvents();
    const iterator = stream.chunks[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ events: [{ text: 'a' }] });
    gzip.end(frame(2, 'b'));
    expect((await iterator.next()).value).toMatchObject({ events: [{ text: 'b' }] });
    expect((await iterator.next()).done).toBe(true);
  });

  it('[fault 15] a gzipped stream that is broken ends quietly', async () => {
    const peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.end(gzipSync(frame(1, 'a')).subarray(0, 30));
    });
    expect(sumOf(await readAll(await clientAt(peer.url).openEvents())).events.length).toBeLessThan(2);
  });

  it('has no time limit once it is open', async () => {
    const peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      setTimeout(() => response.end(frame(1, 'late')), 200);
    });
    const stream = await clientAt(peer.url, { timeouts: { open: 100 } }).openEvents();
    expect(texts(sumOf(await readAll(stream)))).toEqual(['late']);
  });
});

describe('a burst', () => {
  it('[fault 19] of 50,000 events arrives whole and in order, and lets the event loop turn in between', async () => {
    const total = 50_000;
    const peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let first = 1; first <= total; first += 1000) {
        response.write(Array.from({ length: 1000 }, (_, at) => frame(first + at, 'word ')).join(''));
      }
      response.end();
    });
    let turns = 0;
    let busy = true;
    const turn = () => {
      turns += 1;
      if (busy) setImmediate(turn);
    };
    setImmediate(turn);
    const perTurn = new Map<number, number>();
    let expected = 1;
    let inOrder = true;
    for await (const { events, malformed } of (await clientAt(peer.url).openEvents()).chunks) {
      perTurn.set(turns, (perTurn.get(turns) ?? 0) + events.length);
      for (const { sequence } of events) inOrder &&= sequence === expected++;
      inOrder &&= malformed === 0;
    }
    busy = false;
    expect(inOrder).toBe(true);
    expect(expected - 1).toBe(total);
    expect(Math.max(...perTurn.values())).toBeLessThan(5000);
  });

  it('[fault 19] that nobody reads stays with the runtime: little of it is held here', async () => {
    const piece = frame(1, 'x'.repeat(64 * 1024));
    let written = 0;
    const peer = await startPeer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const pump = () => {
        while (!response.destroyed && written < 256 * MIB) {
          written += piece.length;
          if (!response.write(piece)) {
            response.once('drain', pump);
            return;
          }
        }
      };
      pump();
    });
    const stream = await clientAt(peer.url).openEvents();
    await stream.chunks[Symbol.asyncIterator]().next();
    let before = -1;
    while (before !== written) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(written).toBeLessThan(64 * MIB);
    stream.close();
  });
});

describe('any cut into reads', () => {
  const ending = fc.constantFrom('\n', '\r\n', '\r');
  const data = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.nat(), fc.string({ unit: 'binary', maxLength: 12 })).map(([at, text]) => delta(at, text)),
    },
    fc.constantFrom('{', '', 'null', '[]', '{"sequence":1}', '\ufeff', '{"sequence":2,"kind":"usage","payload":{}}'),
  );
  const line = fc.oneof(
    data.map((value) => `data: ${value}`),
    data.map((value) => `data:${value}`),
    fc.constantFrom(
      ': keep-alive',
      ':',
      'id: 3',
      'id',
      'event: error',
      'retry: x',
      'data',
      'foo',
      'dat',
      'é: ü',
      '\ufeff',
    ),
  );
  const block = fc
    .tuple(fc.array(line, { maxLength: 3 }), ending, ending)
    .map(([lines, end, blank]) => `${lines.map((text) => text + end).join('')}${blank}`);
  const body = fc
    .tuple(
      fc.boolean(),
      fc.array(block, { maxLength: 8 }),
      fc.constantFrom('', 'data: {"seq', `data: ${delta(9, 'é')}`),
    )
    .map(([bom, blocks, tail]) => bytesOf((bom ? '\ufeff' : '') + blocks.join('') + tail));

  property.prop([body, fc.array(fc.nat({ max: 2000 }), { maxLength: 40 })], { numRuns: 500 })(
    'gives the same events as one read',
    async (bytes, cuts) => {
      const whole = await hear([bytes]);
      const parts = await hear(
        cutAt(
          bytes,
          cuts.map((cut) => cut % (bytes.length + 1)),
        ),
      );
      expect({ ...parts, chunks: 0 }).toEqual({ ...whole, chunks: 0 });
    },
  );

  property.prop([body], { numRuns: 100 })('down to single bytes', async (bytes) => {
    const whole = await hear([bytes]);
    const parts = await hear(Array.from(bytes, (byte) => Uint8Array.of(byte)));
    expect({ ...parts, chunks: 0 }).toEqual({ ...whole, chunks: 0 });
  });
});

/** A body that brings what it is given and never ends. */
function openBody() {
  let enqueue: (text: string) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      enqueue = (text) => {
        controller.enqueue(bytesOf(text));
      };
    },
  });
  return { body, enqueue };
}

/** Node's own connection pool with a shorter patience for a silent body; there is no option of `fetch` for it. */
function impatientDispatcher(bodyTimeout: number): unknown {
  const pool = (globalThis as Record<symbol, unknown>)[Symbol.for('undici.globalDispatcher.1')];
  const Agent = (pool as { constructor: new (options: { bodyTimeout: number }) => unknown }).constructor;
  return new Agent({ bodyTimeout });
}

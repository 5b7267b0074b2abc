import { HttpAgent } from '@ag-ui/client';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { closedBody } from './body.js';
import { TextCheck } from './check.js';
import type { Side } from './sides.js';
import { agUiFrames, aiSdkChunks, aiSdkFrames, readsOf } from './wire.js';

/**
 * The way that its documentation shows from a response to messages. Each message is the whole one so far; the reader
 * takes what is new in it about as often as ours reads, once a network read.
 */
export const aiSdk: Side = {
  name: 'ai, readUIMessageStream',
  includes: 'SSE, JSON, schema (DefaultChatTransport), messages, the new text of one message a read',
  prepare(conversation, size) {
    const reads = readsOf(aiSdkFrames(conversation), size);
    const every = Math.ceil(conversation.deltas.length / reads.length);
    return async () => textOf(await chunksOf(reads), every, conversation.text);
  },
};

/** The same with nobody who looks at what comes, until the end. */
export const aiSdkUnread: Side = {
  name: 'ai, the same, read at the end only',
  includes: 'SSE, JSON, schema (DefaultChatTransport), messages',
  prepare(conversation, size) {
    const reads = readsOf(aiSdkFrames(conversation), size);
    return async () => textOf(await chunksOf(reads), Infinity, conversation.text);
  },
};

/** Only its last step, with the rest done before the clock runs: less work than any other side is given. */
export const aiSdkParsed: Side = {
  name: 'ai, the same, from parsed chunks',
  includes: 'messages (no SSE, no JSON, no schema)',
  prepare({ deltas, text }) {
    const chunks = aiSdkChunks(deltas) as UIMessageChunk[];
    let at = 0;
    const stream = new ReadableStream<UIMessageChunk>({
      pull(controller) {
        const chunk = chunks[at++];
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    return () => textOf(stream, Infinity, text);
  },
};

/** The way that its documentation shows, without subscribers: they would cost more. */
export const agUi: Side = {
  name: '@ag-ui/client, HttpAgent',
  includes: 'SSE, JSON, schema, verification, defaultApplyEvents, messages',
  prepare(conversation, size) {
    const body = closedBody(readsOf(agUiFrames(conversation), size));
    const agent = new HttpAgent({
      url: 'http://127.0.0.1:9/run',
      threadId: 'thread-1',
      fetch: () => Promise.resolve(eventStream(body)),
    });
    return async () => {
      await agent.runAgent({ runId: 'run-1' });
      const content = agent.messages.at(-1)?.content;
      const check = new TextCheck(conversation.text);
      check.take(typeof content === 'string' ? content : '');
      return check.verdict();
    };
  },
};

function chunksOf(reads: readonly Uint8Array[]): Promise<ReadableStream<UIMessageChunk>> {
  const transport = new DefaultChatTransport({
    api: 'http://127.0.0.1:9/chat',
    fetch: () => Promise.resolve(eventStream(closedBody(reads))),
  });
  return transport.sendMessages({
    trigger: 'submit-message',
    chatId: 'c1',
    messageId: undefined,
    messages: [],
    abortSignal: undefined,
  });
}

/** Reads one message in so many, and the last one. */
async function textOf(stream: ReadableStream<UIMessageChunk>, every: number, expected: string) {
  const check = new TextCheck(expected);
  let last: UIMessage | undefined;
  let seen = 0;
  let until = every;
  const look = () => {
    const text = (last?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
    check.take(text.slice(seen));
    seen = text.length;
  };
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
    last = message;
    if (--until > 0) continue;
    until = every;
    look();
  }
  look();
  return check.verdict();
}

function eventStream(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

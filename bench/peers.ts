import { HttpAgent } from '@ag-ui/client';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { closedBody } from './body.js';
import { TextCheck } from './check.js';
import type { Side } from './sides.js';
import { agUiFrames, aiSdkChunks, aiSdkFrames, readsOf } from './wire.js';

/** `readUIMessageStream` with its input parsed before the clock runs: less work than any of the others is given. */
export const aiSdkParsed: Side = {
  name: 'ai, readUIMessageStream alone',
  includes: 'parsed chunks → messages (no SSE, no JSON, no schema)',
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
    return async () => verdict(text, await lastText(stream));
  },
};

/** The way that its documentation shows from a response to messages. */
export const aiSdk: Side = {
  name: 'ai, transport and readUIMessageStream',
  includes: 'SSE, JSON, schema (DefaultChatTransport), messages',
  prepare(conversation, size) {
    const body = closedBody(readsOf(aiSdkFrames(conversation), size));
    const transport = new DefaultChatTransport({
      api: 'http://127.0.0.1:9/chat',
      fetch: () => Promise.resolve(eventStream(body)),
    });
    return async () => {
      const stream = await transport.sendMessages({
        trigger: 'submit-message',
        chatId: 'c1',
        messageId: undefined,
        messages: [],
        abortSignal: undefined,
      });
      return verdict(conversation.text, await lastText(stream));
    };
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
      return verdict(conversation.text, typeof content === 'string' ? content : '');
    };
  },
};

async function lastText(stream: ReadableStream<UIMessageChunk>): Promise<string> {
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return (last?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function verdict(expected: string, text: string): string | undefined {
  const check = new TextCheck(expected);
  check.take(text);
  return check.verdict();
}

function eventStream(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

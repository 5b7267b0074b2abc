import { HttpAgent } from '@ag-ui/client';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { createParser } from 'eventsource-parser';
import { closedBody } from './body.js';
import { openSession } from './ours.js';
import { agUiWire, aiSdkWire, runtimeWire, type Conversation, type ReadSize } from './wire.js';

/** One run, made ready outside of the measured time; called once, it brings the text from its input to the end. */
export interface Run {
  text(): Promise<string>;
  after?(): Promise<void>;
}

export interface Side {
  readonly name: string;
  readonly input: string;
  readonly prepare: (conversation: Conversation, size: ReadSize) => Run | Promise<Run>;
}

export const ours: Side = {
  name: 'this product',
  input: 'bytes → SSE → JSON → guard → action → store → new parts',
  async prepare(conversation, size) {
    const { reads, lastSequence } = runtimeWire(conversation, size);
    const session = await openSession();
    return {
      async text() {
        await session.send(reads, lastSequence);
        return session.text();
      },
      after: () => session.stop(),
    };
  },
};

export const parseAlone: Side = {
  name: 'SSE + JSON.parse alone',
  input: 'the same bytes from the same body → eventsource-parser → JSON.parse',
  prepare(conversation, size) {
    const reader = closedBody(runtimeWire(conversation, size).reads).getReader();
    return {
      async text() {
        const decoder = new TextDecoder();
        let text = '';
        const parser = createParser({
          onEvent: ({ data }) => {
            const { payload } = JSON.parse(data) as { payload: { text?: string } };
            // So that the text can be checked; a user message has no place in it.
            text += payload.text ?? '';
          },
        });
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          parser.feed(decoder.decode(read.value, { stream: true }));
        }
        return text.replace(/^Go on\./, '');
      },
    };
  },
};

export const aiSdk: Side = {
  name: 'ai: transport + readUIMessageStream',
  input: 'bytes → SSE → JSON → schema (DefaultChatTransport) → readUIMessageStream',
  prepare(conversation, size) {
    const { reads } = aiSdkWire(conversation, size);
    const transport = new DefaultChatTransport({
      api: 'http://127.0.0.1:9/chat',
      fetch: () => Promise.resolve(eventStream(closedBody(reads))),
    });
    return {
      text: async () =>
        lastText(
          await transport.sendMessages({
            trigger: 'submit-message',
            chatId: 'c1',
            messageId: undefined,
            messages: [],
            abortSignal: undefined,
          }),
        ),
    };
  },
};

export const aiSdkObjects: Side = {
  name: 'ai: readUIMessageStream alone',
  input: 'chunks that are parsed already → readUIMessageStream',
  prepare({ deltas }) {
    const chunks: UIMessageChunk[] = [
      { type: 'start', messageId: 'm1' },
      { type: 'start-step' },
      { type: 'text-start', id: 't1' },
      ...deltas.map((delta) => ({ type: 'text-delta', id: 't1', delta }) as const),
      { type: 'text-end', id: 't1' },
      { type: 'finish-step' },
      { type: 'finish' },
    ];
    let at = 0;
    const stream = new ReadableStream<UIMessageChunk>({
      pull(controller) {
        const chunk = chunks[at++];
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    return { text: () => lastText(stream) };
  },
};

export const agUi: Side = {
  name: '@ag-ui/client: HttpAgent',
  input: 'bytes → SSE → JSON → enforce, verify, defaultApplyEvents (HttpAgent.runAgent)',
  prepare(conversation, size) {
    const { reads } = agUiWire(conversation, size);
    const agent = new HttpAgent({
      url: 'http://127.0.0.1:9/run',
      threadId: 'thread-1',
      fetch: () => Promise.resolve(eventStream(closedBody(reads))),
    });
    return {
      async text() {
        await agent.runAgent({ runId: 'run-1' });
        const content = agent.messages.at(-1)?.content;
        return typeof content === 'string' ? content : '';
      },
    };
  },
};

async function lastText(stream: ReadableStream<UIMessageChunk>): Promise<string> {
  let last: UIMessage | undefined;
  const onError = (error: unknown) => {
    throw error instanceof Error ? error : new Error(String(error));
  };
  for await (const message of readUIMessageStream({ stream, onError })) last = message;
  return (last?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function eventStream(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

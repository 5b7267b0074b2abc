import type { HistoryMessage } from '../src/protocol/frontend-v2.js';

export const CALLS = 20;
/** A prompt, an answer with its calls, a result each, and a last answer. */
export const MESSAGES_A_TURN = CALLS + 3;

const LINE = 'src/store/root.ts:42:  return reduced === state ? state : withTranscript(reduced, connection);\n';

/** Turns of CALLS calls each, with results of this many bytes, which share their storage. */
export function longHistory(turns: number, bytes: number): readonly HistoryMessage[] {
  const output = LINE.repeat(Math.ceil(bytes / LINE.length)).slice(0, bytes);
  const none = { images: 0, toolCalls: [], toolCallId: null };
  const ids = Array.from({ length: CALLS }, (_, at) => `call_${at}`);
  const calls = ids.map((id, at) => ({
    id,
    name: at % 5 < 3 ? 'bash' : 'edit_file',
    arguments: '{"path":"src/a.ts"}',
  }));
  return Array.from({ length: turns }, (_, at): readonly HistoryMessage[] => [
    { ...none, role: 'user', text: `Prompt ${at}: go on with the next file.` },
    { ...none, role: 'assistant', text: `Turn ${at}: it has to be looked at first.`, toolCalls: calls },
    ...ids.map((toolCallId): HistoryMessage => ({ ...none, role: 'tool', text: output, toolCallId })),
    { ...none, role: 'assistant', text: `Done with ${at}.` },
  ]).flat();
}

/** The same as the wire has it (frontend.v2 §5.2). */
export function asWire(history: readonly HistoryMessage[]): readonly object[] {
  return history.map(({ role, text, toolCalls, toolCallId }) => ({
    role,
    content: text,
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
            id,
            type: 'function',
            function: { name, arguments: args },
          })),
        }),
    ...(toolCallId === null ? {} : { tool_call_id: toolCallId }),
  }));
}

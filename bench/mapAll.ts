import type { HistoryMessage } from '../src/protocol/frontend-v2.js';
import { HISTORY_TURNS_LIMIT } from '../src/selectors/bounds.js';
import { toolPart } from '../src/selectors/chatParts.js';
import type { HistoryTurn } from '../src/selectors/historyTurns.js';
import { textParts } from '../src/selectors/newParts.js';
import type { ChatPart } from '../src/selectors/parts.js';

/** What opening a history comes to without a budget: all of it is mapped, every part up to its own bound, then cut. */
export function mapAll(history: readonly HistoryMessage[]): readonly HistoryTurn[] {
  const turns: { prompt: string | null; marker: boolean; parts: ChatPart[] }[] = [];
  const results = resultsIn(history);
  for (const [at, message] of history.entries()) {
    if (message.role === 'user') turns.push({ prompt: message.text, marker: false, parts: [] });
    if (message.role !== 'assistant') continue;
    const parts = turns.at(-1)?.parts;
    parts?.push(...textParts(`saved.${at}`, 'markdown', message.text));
    for (const call of message.toolCalls) {
      const output = results.get(`${at}.${call.id}`) ?? '';
      const saved = { callId: call.id, name: call.name, arguments: call.arguments, output } as const;
      parts?.push(toolPart(`saved.${at}.${call.id}`, { ...saved, phase: 'completed', isError: false }));
    }
  }
  return turns.slice(-HISTORY_TURNS_LIMIT);
}

/** By the position of the message that called and the call's id; in one pass, unlike what it stands for. */
function resultsIn(history: readonly HistoryMessage[]): ReadonlyMap<string, string> {
  const results = new Map<string, string>();
  const calledAt = new Map<string, number>();
  for (const [at, { role, toolCalls, toolCallId, text }] of history.entries()) {
    for (const { id } of toolCalls) calledAt.set(id, at);
    if (role === 'tool' && toolCallId !== null) results.set(`${calledAt.get(toolCallId)}.${toolCallId}`, text);
  }
  return results;
}

import * as v from 'valibot';
import { boundedJson } from './bounded.js';
import { historyMessageSchema, type HistoryMessage } from './frontend-v2.js';

/** UTF-16 units of a message that nobody can read; the host itself keeps 16 000 of each. */
const OPAQUE_LIMIT = 2048;
/** What a host gives by contract; more is not looked at. */
const MESSAGES_LIMIT = 120;

/**
 * A conversation as a host keeps it. Its shape is not written down anywhere (host-controls §17): what reads as a message
 * of frontend.v2 is one, instructions are dropped, and whatever else there is stays, named and previewed.
 */
export function toHistory(members: readonly unknown[]): readonly HistoryMessage[] {
  return members.slice(-MESSAGES_LIMIT).flatMap((member) => {
    const read = v.safeParse(historyMessageSchema, withContent(member));
    if (!read.success) return [opaque(member)];
    if (read.output.role === 'system') return [];
    return [saysSomething(read.output) ? read.output : opaque(member)];
  });
}

/** Some harnesses say `text` for what others call `content`. */
function withContent(member: unknown): unknown {
  if (typeof member !== 'object' || member === null || 'content' in member) return member;
  return 'text' in member ? { ...member, content: member.text } : member;
}

function saysSomething({ text, images, toolCalls, toolCallId }: HistoryMessage): boolean {
  return text !== '' || images > 0 || toolCalls.length > 0 || toolCallId !== null;
}

/** As the result of a tool it is shown in a fence, and as nobody's words. */
function opaque(member: unknown): HistoryMessage {
  return { role: 'tool', text: boundedJson(member, OPAQUE_LIMIT), images: 0, toolCalls: [], toolCallId: null };
}

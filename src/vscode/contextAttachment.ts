import { revealedTitle } from '../selectors/bounds.js';
import { inlineCode } from '../selectors/markdown.js';

/** UTF-8 bytes of the text of one attachment. */
export const ATTACHMENT_LIMIT = 262_144;
/** UTF-8 bytes of the text of all attachments of a prompt. */
export const ATTACHMENTS_LIMIT = 1_048_576;

/** Paths get long, and one that is cut leads nowhere. */
const LABEL_LIMIT = 4_096;

/** One thing that a person attached to a prompt, as the agent is told of it. */
export interface Attachment {
  /** What it is and where it is from: one clean line of Markdown. */
  readonly label: string;
  /** Whole, however long; absent where naming it is all that is asked. */
  readonly text?: string;
  /** Of `text`, as fences name languages. */
  readonly language?: string;
}

/** Something was attached that an agent can't be given. The message says what, why and what to do, in Markdown. */
export class ContextRefused extends Error {
  override readonly name = 'ContextRefused';
}

/** A name from outside as one line that can't be taken for anything else. */
export function named(name: string): string {
  return inlineCode(revealedTitle(name, LABEL_LIMIT) || 'unnamed');
}

/**
 * The text as it can be sent. A lone half of a surrogate pair is no character and no UTF-8: it becomes what a file would
 * have in its place, were the buffer saved.
 */
export function sendable(text: string, who: string): string {
  if (text.includes('\0')) throw binary(who);
  const bytes = Buffer.byteLength(text);
  if (bytes > ATTACHMENT_LIMIT) throw tooLarge(who, bytes);
  return text.replace(/\p{Cs}/gu, '\ufffd');
}

export function binary(who: string): ContextRefused {
  return new ContextRefused(`${who} has binary content, and an agent is given text only. Remove it and send again.`);
}

export function tooLarge(who: string, bytes: number): ContextRefused {
  return new ContextRefused(
    `${who} has ${bytes.toLocaleString('en-US')} bytes of text; at most 256 KiB (262,144 bytes) of one attachment can be ` +
      'sent. Attach the lines that matter, or name the file in the message, and send again.',
  );
}

import { createHash } from 'node:crypto';

/** SHA-256 of the text's UTF-8 bytes, as lower-case hex. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

import type { ReadStream } from 'node:tty';
import type { Output } from './output.js';
import { paintFor } from './paint.js';
import type { Canvas } from './screen.js';

/** Longer lines than this are hard to read. */
const WIDEST = 100;

/** What a program reads from and writes to. */
export interface Io {
  readonly stdin: ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function canvasOn(stream: NodeJS.WriteStream, output: Output, { env }: Pick<Io, 'env'>): Canvas {
  return {
    paint: paintFor(stream),
    // One column stays free: in the last one terminals differ about where the cursor is.
    columns: () => Math.min(stream.columns > 0 ? stream.columns : 80, WIDEST) - 1,
    write: (text) => {
      output.write(text);
    },
    isLive: stream.isTTY && env['TERM'] !== 'dumb',
  };
}

/** All of standard input, as text. Throws where it is not UTF-8. */
export async function readAll(input: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}

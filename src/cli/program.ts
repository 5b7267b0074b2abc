import { messageOf } from '../protocol/messageOf.js';
import { EXIT, NotAttached, UsageError, type ExitCode } from './exitCodes.js';
import { Left } from './leaving.js';
import { Output } from './output.js';
import { plainLine } from './plainText.js';

/** Runs a program's work and turns whatever ends it into an exit code, with one sentence on standard error. */
export async function exitCodeOf(name: string, work: () => Promise<ExitCode>): Promise<ExitCode> {
  // Where nobody reads the complaints, there is nobody to complain to.
  process.stderr.on('error', () => undefined);
  try {
    return await work();
  } catch (error) {
    if (error instanceof Left) return error.code;
    const why = messageOf(error);
    const intro = error instanceof NotAttached ? `${name}: could not attach: ` : `${name}: `;
    process.stderr.write(`${intro}${plainLine(why)}\n`);
    if (error instanceof UsageError) return EXIT.usage;
    return error instanceof NotAttached ? EXIT.notAttached : EXIT.failed;
  }
}

/** Prints a text that was asked for, and is done. */
export async function printed(text: string): Promise<ExitCode> {
  const output = new Output(process.stdout);
  output.write(text);
  await output.flush();
  return EXIT.succeeded;
}

import { createInterface } from 'node:readline';
import type { ReadStream } from 'node:tty';
import type { JsonObject } from '../protocol/requests.js';
import { fieldsOf, type Field } from '../selectors/elicitation.js';
import { contentOf } from '../selectors/elicitationContent.js';
import { plainLine } from './plainText.js';
import type { Screen } from './screen.js';
import { wrapped } from './width.js';

/** What a person typed, or how they declined to: Ctrl-C, or Ctrl-D on an empty line. */
export type Line = { readonly text: string } | { readonly left: 'interrupt' | 'end' };

export interface AskOptions {
  readonly signal?: AbortSignal;
  /** Lines that the arrow keys bring back, newest first; the answer is put in front. */
  readonly history?: string[];
  /** What stands in the line already. */
  readonly draft?: string;
  /** Told what stands in the line when the signal ends the asking. */
  readonly onDraft?: (draft: string) => void;
}

/** Reads one line, with the keys that a shell has. Undefined where the signal came first. */
export function askLine(
  input: ReadStream,
  output: NodeJS.WriteStream,
  question: string,
  { signal, history = [], draft = '', onDraft }: AskOptions = {},
): Promise<Line | undefined> {
  return new Promise((resolve) => {
    const reader = createInterface({ input, output, terminal: true, history: [...history], historySize: 200 });
    let isDone = false;
    const done = (answer: Line | undefined) => {
      if (isDone) return;
      isDone = true;
      signal?.removeEventListener('abort', onAbort);
      reader.close();
      resolve(answer);
    };
    const onAbort = () => {
      onDraft?.(reader.line);
      // The line goes from the screen, so that what comes now stands in its place.
      reader.write(null, { ctrl: true, name: 'e' });
      reader.write(null, { ctrl: true, name: 'u' });
      output.write('\r\x1b[J');
      done(undefined);
    };
    if (signal?.aborted === true) {
      done(undefined);
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    reader.on('SIGINT', () => {
      output.write('\n');
      done({ left: 'interrupt' });
    });
    reader.on('close', () => {
      if (!isDone) output.write('\n');
      done({ left: 'end' });
    });
    reader.on('line', (text) => {
      if (text.trim() !== '' && text !== history[0]) history.unshift(text);
      done({ text });
    });
    reader.setPrompt(question);
    reader.prompt();
    if (draft !== '') reader.write(draft);
  });
}

/** Asks one line; undefined where it need not be asked any more. */
export type Ask = (question: string) => Promise<Line | undefined>;

/** What came of a form: its content, or nothing where the person left it or it is not wanted any more. */
export type Filled = { readonly content: JsonObject } | { readonly left: 'interrupt' | 'end' | 'withdrawn' };

/** Asks the fields of a schema one after the other, each again until its answer fits. */
export async function askForm(schema: JsonObject | null, screen: Screen, ask: Ask): Promise<Filled> {
  const fields = fieldsOf(schema);
  const answers: Record<string, string | readonly string[]> = Object.create(null) as Record<string, string>;
  for (const field of fields) {
    for (;;) {
      printField(field, screen);
      const line = await ask(`  ${screen.canvas.paint('cyan', '›')} `);
      if (line === undefined) return { left: 'withdrawn' };
      if ('left' in line) return line;
      const given = givenIn(field, line.text);
      const checked =
        misnumbered(field, given) ?? contentOf([field], given === undefined ? {} : { [field.name]: given });
      if ('content' in checked) {
        if (given !== undefined) answers[field.name] = given;
        break;
      }
      screen.line(screen.canvas.paint('red', `  ${checked.problem}`));
    }
  }
  const filled = contentOf(fields, answers);
  return 'content' in filled ? filled : { left: 'withdrawn' };
}

function printField(field: Field, screen: Screen): void {
  const { paint } = screen.canvas;
  screen.gap();
  const remarks = remarksOn(field);
  screen.line(`${paint('bold', field.title)}${remarks === '' ? '' : paint('dim', `  (${remarks})`)}`);
  const description = field.description?.split('\n') ?? [];
  for (const line of description.flatMap((each) => wrapped(each, screen.canvas.columns()))) screen.line(line);
  for (const [at, { label, description }] of field.options.entries()) {
    const told = description === undefined ? '' : paint('dim', `  ${description}`);
    screen.line(`  ${paint('cyan', String(at + 1))} ${label}${told}`);
  }
  screen.render();
}

function remarksOn({ options, multi, freeText, required, default: preset }: Field): string {
  const how = options.length === 0 ? [] : [multi ? 'numbers, with commas between' : 'a number'];
  return [
    ...how,
    ...(options.length > 0 && freeText ? ['or words of your own'] : []),
    ...(multi && options.length === 0 ? ['several, with commas between'] : []),
    ...(preset !== undefined
      ? [`Enter for ${plainLine(JSON.stringify(preset))}`]
      : required
        ? []
        : ['Enter to leave out']),
  ].join(', ');
}

/** A number stands for the option that has it. Undefined: nothing was given. */
function givenIn(field: Field, text: string): string | readonly string[] | undefined {
  const given = (field.multi ? text.split(',') : [text]).map((each) => each.trim()).filter((each) => each !== '');
  const [first] = given;
  if (first === undefined) return undefined;
  const chosen = given.map((each) => optionNumbered(field, each) ?? each);
  return field.multi ? chosen : (chosen[0] ?? first);
}

/** A bare number where numbers choose is a slip, not an answer in one's own words. */
function misnumbered({ options, type, itemType }: Field, given: string | readonly string[] | undefined) {
  const isNumeric = [type, itemType].some((each) => each === 'number' || each === 'integer');
  if (options.length === 0 || isNumeric || given === undefined) return undefined;
  const isOption = (text: string) => options.some(({ label }) => label === text);
  const wrong = [given].flat().find((text) => /^\d+$/.test(text) && !isOption(text));
  return wrong === undefined
    ? undefined
    : { problem: `There is no ${wrong}; give a number from 1 to ${options.length}.` };
}

function optionNumbered({ options }: Field, text: string): string | undefined {
  if (options.some(({ label }) => label === text) || !/^\d{1,3}$/.test(text)) return undefined;
  return options[Number(text) - 1]?.label;
}

import { EXIT, UsageError, type ExitCode } from './exitCodes.js';
import { interactive } from './interactive.js';
import { canvasOn, readAll, type Io } from './io.js';
import { Leaving } from './leaving.js';
import { oneTurn } from './oneTurn.js';
import type { ChatOptions } from './options.js';
import { Output } from './output.js';
import { plainLine } from './plainText.js';
import { attach, openSession, type Session } from './session.js';
import { Terminal, type Person } from './terminal.js';
import { both, JsonView, TextView, type View } from './view.js';

/** Shows text, a tool, an approval and a diff: what the demo runtime does where nobody is there to ask. */
const TOUR = '/demo tour';
/** What can't be ended in this time is left to the end of the process; ms. */
const CLOSE_MS = 2_000;

/** Runs supercode-chat with what its command line asks for. */
export async function chat(options: ChatOptions, process: Io & NodeJS.Process): Promise<ExitCode> {
  const isInteractive = options.prompt === undefined && !options.json && process.stdin.isTTY && process.stdout.isTTY;
  const prompt = isInteractive ? undefined : await promptOf(options, process);
  const leaving = new Leaving();
  leaving.listen(process);
  const program = new ChatProgram(options, process, leaving);
  return program.run(prompt);
}

async function promptOf({ prompt, where }: ChatOptions, { stdin }: Io): Promise<string> {
  if (prompt === undefined) {
    if (where === undefined) return TOUR;
    throw new UsageError('There is no terminal to ask for prompts. Give one by --prompt TEXT, or - to read it.');
  }
  if (prompt !== '-') return prompt;
  let text: string;
  try {
    text = await readAll(stdin);
  } catch {
    throw new UsageError('The prompt on standard input is not UTF-8 text. Convert it first.');
  }
  if (text.trim() === '') throw new UsageError('There was no prompt on standard input. Pipe one in, or give its text.');
  return text;
}

class ChatProgram {
  private readonly stdout: Output;
  private readonly stderr: Output;
  private terminal: Terminal | undefined;

  constructor(
    private readonly options: ChatOptions,
    private readonly io: Io,
    private readonly leaving: Leaving,
  ) {
    this.stdout = new Output(io.stdout, () => this.terminal?.draw());
    this.stderr = new Output(io.stderr, () => this.terminal?.draw());
    // Nobody reads any more (`head`): there is nothing left to do, and nobody to tell.
    void this.stdout.gone.then((error) => {
      if (!('code' in error && error.code === 'EPIPE')) this.log(`Standard output can't be written: ${error.message}`);
      leaving.leave(EXIT.failed);
    });
  }

  async run(prompt: string | undefined): Promise<ExitCode> {
    const session = await openSession({ ...this.options, log: this.log });
    try {
      return await this.converse(session, prompt);
    } finally {
      await withinTime(this.terminal?.rest() ?? Promise.resolve());
      await withinTime(session.close());
      // A slow reader gets all of it, unless somebody wants us gone.
      const impatient = this.leaving.left.then(() => withinTime(new Promise(() => undefined)));
      await Promise.race([Promise.all([this.stdout.flush(), this.stderr.flush()]), impatient]);
    }
  }

  private async converse(session: Session, prompt: string | undefined): Promise<ExitCode> {
    const { options, io, leaving } = this;
    const person = this.person(options.json ? io.stderr : io.stdout);
    const terminal = this.terminalFor(session, person, prompt === undefined);
    if (terminal?.screen.canvas.isLive) terminal.resume();
    await leaving.unlessLeft(attach(session));
    await terminal?.rest();
    const { history } = options;
    if (prompt === undefined) {
      if (!terminal || !person) throw new UsageError('There is no terminal to ask for prompts. Give --prompt TEXT.');
      return interactive(session, terminal, person, leaving, { policy: options.answer ?? 'ask', history });
    }
    const scripted = options.prompt === undefined;
    const policy = options.answer ?? (scripted ? 'allow' : person ? 'ask' : 'deny');
    return oneTurn(session, this.viewFor(session, terminal), leaving, { prompt, policy, history });
  }

  /** Who can be asked; nobody where standard input was read for the prompt or where what is asked can't be seen. */
  private person(output: NodeJS.WriteStream): Person | undefined {
    const { stdin } = this.io;
    if (!stdin.isTTY || !output.isTTY || this.options.prompt === '-') return undefined;
    return { input: stdin, output, interrupt: this.leaving.interrupt };
  }

  private terminalFor(session: Session, person: Person | undefined, followsOthers: boolean): Terminal | undefined {
    const { options, io } = this;
    if (options.json && !person) return undefined;
    const [stream, output] = options.json ? [io.stderr, this.stderr] : [io.stdout, this.stdout];
    this.terminal = new Terminal({
      session,
      canvas: canvasOn(stream, output, io),
      output,
      followsOthers,
      ...(person ? { person } : {}),
      ...(options.json ? { shows: ({ kind }) => kind === 'request' || kind === 'resolution' } : {}),
    });
    return this.terminal;
  }

  private viewFor(session: Session, terminal: Terminal | undefined): View {
    const text = terminal && new TextView(terminal, () => session.services.clock.monotonic());
    if (!this.options.json && text) return text;
    const json = new JsonView(session, this.stdout, (write) => {
      if (terminal) terminal.screen.aside(write);
      else write();
    });
    return text ? both(json, text) : json;
  }

  private readonly log = (line: string): void => {
    const write = () => {
      this.stderr.write(`${plainLine(line)}\n`);
    };
    if (this.terminal) this.terminal.screen.aside(write);
    else write();
  };
}

async function withinTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

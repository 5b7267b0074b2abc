import { InvalidArguments, jsonComplaint } from './arguments.js';
import type { Approvals } from './approvals.js';
import { BackgroundJobs, UnknownJob } from './background.js';
import { complaintOf, toolNamed, type Arguments, type ToolContext } from './tools.js';
import { isObject, type EventPayload, type ToolCall } from './wire.js';

export interface ToolResult {
  readonly output: string;
  readonly isError: boolean;
}

/** A call that passed every gate and only has to be run, or one that already has its result. */
type Prepared = { readonly run: () => Promise<ToolResult> } | { readonly result: ToolResult };

const failed = (output: string): Prepared => ({ result: { output, isError: true } });

/** Takes the model's tool calls through the gates and runs them (§6.5, order of the events of a call). */
export class ToolRunner {
  constructor(
    readonly approvals: Approvals,
    readonly jobs: BackgroundJobs,
    readonly publish: (payload: EventPayload) => void,
  ) {}

  /** One call after the other; a result is kept as soon as it is there, so that an interrupt loses only its own. */
  async runInTurn(
    calls: readonly ToolCall[],
    context: ToolContext,
    preapproved: boolean,
    keep: (call: ToolCall, result: ToolResult) => void,
  ): Promise<void> {
    for (const call of calls) {
      this.#started(call);
      const prepared = await this.#prepare(call, context, preapproved);
      const result = 'result' in prepared ? prepared.result : await this.#run(prepared.run, context);
      this.#completed(call, result);
      keep(call, result);
    }
  }

  /** All starts first, then the approvals in turn, then everything at once; completed in the order of the calls. */
  async runTogether(
    calls: readonly ToolCall[],
    context: ToolContext,
    preapproved: boolean,
    keep: (call: ToolCall, result: ToolResult) => void,
  ): Promise<void> {
    for (const call of calls) this.#started(call);
    const prepared: Prepared[] = [];
    for (const call of calls) prepared.push(await this.#prepare(call, context, preapproved));
    const results = await Promise.all(
      prepared.map(async (each) => ('result' in each ? each.result : this.#run(each.run, context))),
    );
    for (const [index, call] of calls.entries()) {
      const result = results[index];
      if (result === undefined) continue;
      this.#completed(call, result);
      keep(call, result);
    }
  }

  async #run(run: () => Promise<ToolResult>, { signal }: ToolContext): Promise<ToolResult> {
    signal.throwIfAborted();
    const result = await run();
    signal.throwIfAborted();
    return result;
  }

  async #prepare(call: ToolCall, context: ToolContext, preapproved: boolean): Promise<Prepared> {
    const { name } = call.function;
    const background = this.#background(call, preapproved);
    if (background !== undefined) return { result: background };
    const tool = toolNamed(name);
    if (tool === undefined) return failed(`Error: model requested unknown tool: ${name}`);
    const args = parseArguments(call.function.arguments);
    if (args instanceof InvalidArguments) {
      return failed(this.approvals.malformedDenial(name) ?? complaintOf(name, args));
    }
    // The approval holds the turn: an interrupt waits for its answer (§8.2).
    const denial = await this.approvals.denial(name, args);
    if (denial !== undefined) return failed(denial);
    const run = async (): Promise<ToolResult> => {
      try {
        return { output: await tool.run(args, context), isError: false };
      } catch (error) {
        context.signal.throwIfAborted();
        return { output: complaintOf(name, error), isError: true };
      }
    };
    return { run };
  }

  #background(call: ToolCall, preapproved: boolean): ToolResult | undefined {
    const { name } = call.function;
    if (!name.startsWith('background_')) return undefined;
    const args = parseArguments(call.function.arguments);
    try {
      if (args instanceof InvalidArguments) throw args;
      const output = this.#runBackground(name, args, preapproved);
      return typeof output === 'string' ? { output, isError: false } : output;
    } catch (error) {
      const output = error instanceof UnknownJob ? `Error: ${error.message}` : complaintOf(name, error);
      return { output, isError: true };
    }
  }

  #runBackground(name: string, args: Arguments, preapproved: boolean): string | ToolResult | undefined {
    if (name === 'background_status') return this.jobs.status(args, this.publish);
    if (name === 'background_list') return this.jobs.list();
    if (name === 'background_kill') return this.jobs.kill(args);
    if (name !== 'background_exec') return undefined;
    const command = args['command'];
    if (typeof command !== 'string' || command === '') {
      throw new InvalidArguments('`command` is required and must be non-empty');
    }
    const denial = this.approvals.backgroundDenial(preapproved);
    return denial === undefined ? this.jobs.start(command) : { output: denial, isError: true };
  }

  #started({ id, function: { name, arguments: text } }: ToolCall): void {
    this.publish({ type: 'tool_call_started', id, name, arguments: text });
  }

  #completed({ id, function: { name } }: ToolCall, { output, isError }: ToolResult): void {
    this.publish({ type: 'tool_call_completed', id, name, output, is_error: isError });
  }
}

/** The arguments object, or the reason why there is none. */
const parseArguments = (text: string): Arguments | InvalidArguments => {
  try {
    const parsed: unknown = JSON.parse(text === '' ? '{}' : text);
    return isObject(parsed) ? parsed : new InvalidArguments('invalid type: expected an object');
  } catch (error) {
    return new InvalidArguments(jsonComplaint(text, error));
  }
};

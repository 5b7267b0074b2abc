import { InvalidArguments } from './arguments.js';
import { Command } from './commands.js';
import type { Arguments } from './tools.js';
import type { EventPayload } from './wire.js';

/** Commands that outlive the tool call that started them, and the four tools that see to them. */
export class BackgroundJobs {
  readonly #jobs = new Map<string, Command>();
  readonly #cwd: string;
  #count = 0;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  get newest(): string | undefined {
    return [...this.#jobs.keys()].at(-1);
  }

  start(line: string): string {
    const job = new Command(line, this.#cwd);
    const id = `bg-${Date.now().toString(16)}-${this.#count}`;
    this.#count += 1;
    this.#jobs.set(id, job);
    return JSON.stringify({ job_id: id, status: 'running', pid: job.pid ?? null, command: line });
  }

  /** Reports one job, its new output as an event, and forgets it once it has ended. */
  status(args: Arguments, publish: (payload: EventPayload) => void): string {
    const [id, job] = this.#find(args);
    const chunk = job.takeNewOutput();
    if (chunk !== '') publish({ type: 'background_output', job_id: id, chunk, truncated: job.truncated });
    const status = statusOf(job);
    if (status !== 'running') this.#jobs.delete(id);
    return JSON.stringify({
      job_id: id,
      command: job.line,
      status,
      exit_code: status === 'exited' ? (job.exitCode ?? null) : null,
      pid: job.pid ?? null,
      started_at_ms: job.startedAtMs,
      output: job.printed,
      output_truncated: job.truncated,
    });
  }

  list(): string {
    const jobs = [...this.#jobs].map(([job_id, job]) => ({
      job_id,
      command: job.line,
      status: statusOf(job),
      pid: job.pid ?? null,
      started_at_ms: job.startedAtMs,
    }));
    return JSON.stringify({ jobs });
  }

  kill(args: Arguments): string {
    const [id, job] = this.#find(args);
    this.#jobs.delete(id);
    job.kill();
    return JSON.stringify({ job_id: id, status: 'killed', pid: job.pid ?? null });
  }

  killAll(): void {
    for (const job of this.#jobs.values()) job.kill();
    this.#jobs.clear();
  }

  #find(args: Arguments): [string, Command] {
    const id = args['job_id'];
    if (typeof id !== 'string') throw new InvalidArguments('`job_id` is required');
    const job = this.#jobs.get(id);
    if (job === undefined) throw new UnknownJob(id);
    return [id, job];
  }
}

export class UnknownJob extends Error {
  constructor(id: string) {
    super(`unknown background job id \`${id}\``);
  }
}

const statusOf = (job: Command): string => {
  if (job.killed) return 'killed';
  return job.exitCode === undefined ? 'running' : 'exited';
};

/** What the two programs end with. The last two are a shell's own codes for a process ended by that signal. */
export const EXIT = {
  succeeded: 0,
  failed: 1,
  usage: 2,
  notAttached: 3,
  damaged: 4,
  interrupted: 130,
  hungUp: 129,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line can't be carried out. The message says what to do, in words fit to be shown. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** There is no runtime to talk to. The message says why. */
export class NotAttached extends Error {
  override readonly name = 'NotAttached';
}

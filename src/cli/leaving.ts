import { EXIT, type ExitCode } from './exitCodes.js';

/** Why the program ends before its work is done. */
export class Left extends Error {
  override readonly name = 'Left';

  constructor(readonly code: ExitCode) {
    super('Left before the turn ended.');
  }
}

/**
 * Ctrl-C and the signals. The first Ctrl-C of a turn stops the turn; one more, or one where there is nothing to stop,
 * leaves. Whatever leaves does it by `left`, so that logs are ended and the terminal is as it was.
 */
export class Leaving {
  /** Resolves when the program must end at once. */
  readonly left: Promise<Left>;
  private announce: (left: Left) => void = () => undefined;
  private stop: (() => void) | undefined;

  constructor() {
    this.left = new Promise((resolve) => {
      this.announce = resolve;
    });
  }

  /** Told once: what the next Ctrl-C stops. Returns the way back. */
  stopping(stop: () => void): () => void {
    this.stop = stop;
    return () => {
      this.stop = undefined;
    };
  }

  readonly interrupt = (): void => {
    const { stop } = this;
    this.stop = undefined;
    if (stop) stop();
    else this.leave(EXIT.interrupted);
  };

  leave(code: ExitCode): void {
    this.announce(new Left(code));
  }

  /** What `work` brings, or a `Left` thrown as soon as the program must end. */
  async unlessLeft<T>(work: Promise<T>): Promise<T> {
    const first = await Promise.race([work, this.left]);
    if (first instanceof Left) throw first;
    return first;
  }

  listen(signals: NodeJS.Process): void {
    signals.on('SIGINT', this.interrupt);
    signals.on('SIGTERM', () => {
      this.leave(EXIT.terminated);
    });
    signals.on('SIGHUP', () => {
      this.leave(EXIT.hungUp);
    });
  }
}

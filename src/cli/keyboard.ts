import type { ReadStream } from 'node:tty';

/** Keys while no line is being written: each is heard at once and none is echoed. */
export class Keyboard {
  private stop: (() => void) | undefined;

  /** `onInterrupt`: Ctrl-C, which raises no signal while single keys are read. */
  constructor(
    private readonly input: ReadStream,
    private readonly onInterrupt: () => void,
  ) {}

  /** Passes each key on until `rest`. What an arrow or a function key sends is left out. */
  listen(onKey: (key: string) => void): void {
    this.rest();
    const { input } = this;
    const onData = (bytes: Buffer) => {
      const text = bytes.toString('utf8');
      if (text.startsWith('\x1b')) return;
      for (const key of text) {
        if (key === '\x03') this.onInterrupt();
        else onKey(key);
      }
    };
    input.setRawMode(true);
    input.on('data', onData);
    input.resume();
    this.stop = () => {
      input.off('data', onData);
      input.pause();
      input.setRawMode(false);
    };
  }

  /** The terminal reads lines again. */
  rest(): void {
    this.stop?.();
    this.stop = undefined;
  }
}

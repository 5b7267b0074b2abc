import type { Writable } from 'node:stream';

/**
 * Where a program's result goes. A reader that is slow is waited for, one that went away (`head`) is no error: writing
 * then does nothing and `gone` resolves.
 */
export class Output {
  /** Resolves when nobody reads any more, with what went wrong; never otherwise. */
  readonly gone: Promise<Error>;
  private isOpen = true;
  private isFull = false;

  constructor(
    private readonly stream: Writable,
    onReady: () => void = () => undefined,
  ) {
    this.gone = new Promise((resolve) => {
      stream.on('error', (error) => {
        this.isOpen = false;
        resolve(error);
      });
    });
    stream.on('drain', () => {
      this.isFull = false;
      onReady();
    });
  }

  /** False while the reader has enough to read; `onReady` is called when it wants more. */
  get isReady(): boolean {
    return !this.isFull;
  }

  write(text: string): void {
    if (this.isOpen && !this.stream.write(text)) this.isFull = true;
  }

  /** Resolves when all that was written is out of our hands. */
  async flush(): Promise<void> {
    if (!this.isOpen) return;
    await Promise.race([
      new Promise<void>((done) =>
        this.stream.write('', () => {
          done();
        }),
      ),
      this.gone,
    ]);
  }
}

/** Compares a text that comes in pieces with the one that is expected, and keeps nothing of it. */
export class TextCheck {
  #expected: string;
  #length = 0;
  #right = true;

  constructor(expected: string) {
    this.#expected = expected;
  }

  take(piece: string): void {
    this.#right &&= this.#expected.startsWith(piece, this.#length);
    this.#length += piece.length;
  }

  /** What is wrong, in words; undefined where nothing is. */
  verdict(): string | undefined {
    if (this.#length !== this.#expected.length) {
      return `${this.#length} UTF-16 units came instead of ${this.#expected.length}`;
    }
    return this.#right ? undefined : 'the text differs';
  }
}

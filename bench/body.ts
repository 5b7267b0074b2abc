/** The body of an event stream that stays open: a read gives the next piece that was sent, or waits for one. */
export interface OpenBody {
  readonly stream: ReadableStream<Uint8Array>;
  send(reads: readonly Uint8Array[]): void;
}

export function openBody(): OpenBody {
  let reads: readonly Uint8Array[] = [];
  let at = 0;
  let wake: (() => void) | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (at === reads.length) await new Promise<void>((resolve) => (wake = resolve));
        const piece = reads[at++];
        if (piece) controller.enqueue(piece);
      },
    },
    // As with a socket that is read on demand: nothing is taken before somebody reads.
    { highWaterMark: 0 },
  );
  return {
    stream,
    send(more) {
      reads = more;
      at = 0;
      wake?.();
      wake = undefined;
    },
  };
}

/** A body that ends after these reads, in the same manner. */
export function closedBody(reads: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = reads[at++];
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

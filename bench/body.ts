/** A body that gives its reads one at a time and only when asked, without a socket, so that no side waits for one. */
export interface Body {
  readonly stream: ReadableStream<Uint8Array>;
  /** Gives these reads next, and then waits for more. */
  send(reads: readonly Uint8Array[]): void;
}

/** A body that stays open, as the event stream of a runtime does. */
export function openBody(): Body {
  let reads: readonly Uint8Array[] = [];
  let at = 0;
  let more: (() => void) | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const give = () => {
          const read = reads[at++];
          if (read) controller.enqueue(read);
        };
        if (at < reads.length) give();
        else return new Promise<void>((resolve) => (more = resolve)).then(give);
        return undefined;
      },
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    send(next) {
      reads = next;
      at = 0;
      more?.();
      more = undefined;
    },
  };
}

/** A body that ends after these reads. */
export function closedBody(reads: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const read = reads[at++];
        if (read) controller.enqueue(read);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

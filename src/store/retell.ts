import type { UnknownAction } from '@reduxjs/toolkit';
import type { ConnectionId } from './connections.js';
import { eventMeta, eventReceived } from './events.js';
import type { RecentActions, Stretch } from './recentActions.js';
import { rootReducer } from './root.js';
import type { RootState } from './state.js';
import { wholeText } from './streamedText.js';
import { endOf, entryAt, type Transcript } from './transcript.js';

/** An action as the reducer saw it. `at`: epoch ms. */
export interface Seen {
  readonly at: number;
  readonly action: UnknownAction;
}

/** Told of one action after the other, with the states around it. */
export type Look = (seen: Seen, before: RootState, after: RootState) => void;

/**
 * Folds the actions of one conversation anew, oldest first; what concerns others is not in these states. The text that
 * streamed is read where the state has it at the end of each stretch.
 */
export function retell(recent: RecentActions, connection: ConnectionId, look: Look): void {
  const stretches = recent.stretches();
  const ends = [...stretches.slice(1).map(({ base }) => base), recent.now()];
  let now = stretches[0]?.base;
  for (const [index, stretch] of stretches.entries()) {
    const written = new Written(ends[index]?.transcript[connection]);
    for (const [at, kept] of stretch.kept.entries()) {
      const before: RootState = now ?? stretch.base;
      const action = actionAt(stretch, at, kept, connection, (length) =>
        written.read(before.transcript[connection], stretch.sequences[at] ?? 0, length),
      );
      if (action === undefined) continue;
      now = rootReducer(before, action);
      look({ at: stretch.times[at] ?? 0, action }, before, now);
    }
  }
}

function actionAt(
  { times, lengths, sequences }: Stretch,
  at: number,
  kept: UnknownAction | ConnectionId,
  connection: ConnectionId,
  read: (length: number) => string,
): UnknownAction | undefined {
  if (typeof kept !== 'string') return connectionOf(kept) === connection ? kept : undefined;
  if (kept !== connection) return undefined;
  const text = read(lengths[at] ?? 0);
  return eventReceived({ sequence: sequences[at] ?? 0, kind: 'text_delta', text }, eventMeta(kept, times[at] ?? 0));
}

/** Which conversation an action is about; undefined where it is about none, or about them all. */
function connectionOf({
  payload,
  meta,
}: UnknownAction & { payload?: unknown; meta?: unknown }): ConnectionId | undefined {
  for (const carrier of [meta, payload]) {
    const connection = (carrier as { readonly connection?: unknown } | null | undefined)?.connection;
    if (typeof connection === 'string') return connection;
  }
  return undefined;
}

/** The text of a transcript, for whoever writes it once more piece by piece. */
class Written {
  #at = -1;
  #text = '';

  constructor(private readonly whole: Transcript | undefined) {}

  /** The next piece behind what `sofar` has; nothing where the piece was a repeat, which adds nothing. */
  read(sofar: Transcript | undefined, sequence: number, length: number): string {
    if (!sofar || sequence <= sofar.cursor || sofar.generation !== this.whole?.generation) return '';
    const { open } = sofar;
    const seen = open?.kind === 'text' ? open.text.length : 0;
    const at = open?.kind === 'text' ? sofar.count : endOf(sofar);
    if (at !== this.#at) {
      const entry = entryAt(this.whole, at);
      this.#at = at;
      this.#text = entry?.kind === 'text' ? wholeText(entry.text) : '';
    }
    return this.#text.slice(seen, seen + length);
  }
}

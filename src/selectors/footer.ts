import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { EMPTY_TRANSCRIPT, endOf, entryAt } from '../store/transcript.js';
import { title } from './bounds.js';
import { selectIdentity } from './identity.js';
import type { PartCursor } from './newParts.js';

/**
 * What stands below a reply: who wrote it, how long it took, how much went over. Its cost is that of the reply.
 *
 * @param from where the reply began
 * @param took ms
 */
export function selectReplyFooter(root: RootState, connection: ConnectionId, from: PartCursor, took: number): string {
  const transcript = root.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const start = from.generation === transcript.generation ? from.at : endOf(transcript);
  let { model } = selectIdentity(root, connection);
  let tokens = 0;
  for (let at = start; at < endOf(transcript); at++) {
    const entry = entryAt(transcript, at);
    if (entry?.kind !== 'event') continue;
    const { event } = entry;
    if (event.kind === 'usage') tokens += event.prompt + event.completion;
    // The descriptor keeps naming the model that the runtime was started with (frontend.v2 §5.1).
    if (event.kind === 'model_changed') model = title(event.to);
  }
  const { harness } = selectIdentity(root, connection);
  return [model ?? harness, duration(took), ...(tokens > 0 ? [`${tokens.toLocaleString('en-US')} tokens`] : [])].join(
    ' · ',
  );
}

function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`;
}

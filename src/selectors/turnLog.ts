import type { UnknownAction } from '@reduxjs/toolkit';
import type { Snapshot } from '../protocol/frontend-v2.js';
import { TERMINAL_KINDS, type RuntimeEvent } from '../protocol/frontend-v2-events.js';
import { attached, NOTHING_BEFORE, opened, type ConnectionId } from '../store/connections.js';
import type { LogHeader, LogRecord } from '../store/recorder.js';
import { emptyState } from '../store/replay.js';
import { unresolvedIds, type Requests } from '../store/requests.js';
import { isBusy, type RetainedTurn } from '../store/retainedTurns.js';
import { rootReducer } from '../store/root.js';
import { STATE_VERSION, type RootState } from '../store/state.js';
import { add, EMPTY_TRANSCRIPT, endOf, entryAt, type Transcript } from '../store/transcript.js';
import type { Redactor } from './redaction.js';
import { RedactedCopy } from './redactedCopy.js';

/** What the conversation is called in a log of one turn. */
export const LOGGED_CONVERSATION = 'conversation';

export interface TurnLogOptions {
  readonly product: string;
  readonly version: string;
  readonly redactor: Redactor;
}

/**
 * A log of one turn, line by line, as the recorder writes one: it replays to what was seen. It is redacted, so it has no
 * hash, and nothing is in it that was said before the turn, or in another conversation.
 */
export function turnLog(turn: RetainedTurn, { product, version, redactor }: TurnLogOptions): readonly string[] {
  const copy = new RedactedCopy(redactor);
  const base = copy.base(baseOf(turn), LOGGED_CONVERSATION);
  const actions = actionsOf(turn).map((action) => renamed(copy.of(action) as UnknownAction, turn.connection));
  copy.finish();
  const header: LogHeader = {
    format: 1,
    product,
    version,
    stateVersion: STATE_VERSION,
    startedAt: turn.seen[0]?.at ?? 0,
    firstN: 1,
    base,
  };
  const records = actions.map((action, at): LogRecord => ({ n: at + 1, at: turn.seen[at]?.at ?? 0, action }));
  return [header, ...records].map((line) => JSON.stringify(line));
}

/** The state that a turn starts from, with that conversation alone and nothing that was said in it before. */
function baseOf({ base, connection }: RetainedTurn): RootState {
  const transcript = ofTurn(base, connection);
  const turn = base.turn[connection];
  const of = <T>(slice: Readonly<Record<ConnectionId, T>>): Readonly<Record<ConnectionId, T>> => {
    const own = slice[connection];
    return own === undefined ? {} : { [LOGGED_CONVERSATION]: own };
  };
  return {
    ...emptyState(),
    connections: Object.fromEntries(
      Object.entries(of(base.connections)).map(([id, known]) => [id, { ...known, before: NOTHING_BEFORE }]),
    ),
    transcript: transcript ? { [LOGGED_CONVERSATION]: transcript } : {},
    // The names of the turns before make sure that no other turn gets one of them.
    turn: turn
      ? { [LOGGED_CONVERSATION]: { ...turn, ended: turn.ended.map((ended) => ({ ...ended, message: '' })) } }
      : {},
    requests: { [LOGGED_CONVERSATION]: requestsOf(base.requests[connection] ?? {}, transcript) },
    lease: of(base.lease),
    permissions: of(base.permissions),
    conversations: of(base.conversations),
    focus: { connection: LOGGED_CONVERSATION },
  };
}

/** What still waits, and what stands in the transcript. */
function requestsOf(requests: Requests, transcript: Transcript | undefined): Requests {
  const told = new Set(unresolvedIds(requests));
  for (let at = 0; transcript && at < transcript.count; at++) {
    const entry = entryAt(transcript, at);
    if (entry?.kind === 'event' && entry.event.kind === 'request') told.add(entry.event.request.id);
  }
  return Object.fromEntries(Object.entries(requests).filter(([id]) => told.has(Number(id))));
}

/** The transcript from the running turn's beginning on; empty where none runs. */
function ofTurn(base: RootState, connection: ConnectionId): Transcript | undefined {
  const transcript = base.transcript[connection];
  if (transcript === undefined) return undefined;
  const start = isBusy(base, connection) ? startOfTurn(transcript) : endOf(transcript);
  const { cursor, sessionId, epoch, generation } = transcript;
  let kept: Transcript = { ...EMPTY_TRANSCRIPT, cursor, sessionId, epoch, generation };
  for (let at = start; at < transcript.count; at++) {
    const entry = entryAt(transcript, at);
    if (entry?.kind === 'tool' && entry.endedAt !== null)
      kept = add(kept, { ...entry, endedAt: entry.endedAt - start });
    else if (entry) kept = add(kept, entry);
  }
  const openCalls = transcript.openCalls
    .filter(({ at }) => at >= start)
    .map((call) => ({ ...call, at: call.at - start }));
  return { ...kept, openCalls, open: start > transcript.count ? null : transcript.open };
}

function startOfTurn(transcript: Transcript): number {
  for (let at = transcript.count - 1; at >= 0; at--) {
    if (entryAt(transcript, at)?.kind === 'turnEnd') return at + 1;
  }
  return 0;
}

/** The turn's actions, with nothing in a snapshot that belongs to what came before it. */
function actionsOf({ base, seen, connection, prompt }: RetainedTurn): readonly UnknownAction[] {
  let state = base;
  return seen.map(({ action }, at) => {
    const before = state;
    state = rootReducer(before, action);
    if (opened.match(action)) return { ...action, payload: { ...action.payload, before: NOTHING_BEFORE } };
    if (!attached.match(action)) return action;
    const snapshot = ofTurnOnly(
      action.payload.snapshot,
      before.transcript[connection] ?? EMPTY_TRANSCRIPT,
      prompt,
      at === 0,
    );
    return { ...action, payload: { ...action.payload, snapshot } };
  });
}

function ofTurnOnly(snapshot: Snapshot, known: Transcript, prompt: string | null, isFirst: boolean): Snapshot {
  const { descriptor, history, historyCursor, replay } = snapshot;
  if (known.sessionId !== null && known.sessionId !== descriptor.sessionId)
    return { ...snapshot, history: [], replay: [] };
  const asked = history.findLastIndex(({ role, text }) => role === 'user' && text.trim() === prompt?.trim());
  const reach = Math.max(historyCursor, replay.at(-1)?.sequence ?? 0);
  const goesOn = known.sessionId !== null && reach >= known.cursor;
  const start = isFirst ? startIn(replay) : 0;
  return {
    ...snapshot,
    history: asked === -1 ? [] : history.slice(asked),
    // What was heard before keeps its number, which tells whether the runtime is the same process.
    replay: replay.map((event, at) =>
      at < start || (goesOn && event.sequence <= known.cursor)
        ? ({ sequence: event.sequence, kind: 'turn_completed' } as const)
        : event,
    ),
  };
}

/** Where in a replay the turn begins that runs behind it. */
function startIn(replay: readonly RuntimeEvent[]): number {
  const behindEnd = replay.findLastIndex(({ kind }) => TERMINAL_KINDS.some((terminal) => terminal === kind)) + 1;
  const asked = replay.findIndex(({ kind }, at) => at >= behindEnd && kind === 'user_message');
  return Math.max(behindEnd, asked);
}

function renamed(action: UnknownAction, from: ConnectionId): UnknownAction {
  const named = (carrier: unknown) =>
    (carrier as { readonly connection?: unknown } | undefined)?.connection === from
      ? { ...(carrier as object), connection: LOGGED_CONVERSATION }
      : carrier;
  return {
    ...action,
    ...('payload' in action ? { payload: named(action['payload']) } : {}),
    ...('meta' in action ? { meta: named(action['meta']) } : {}),
  };
}

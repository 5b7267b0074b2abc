/**
 * What a person sees, as plain data, derived from the tree of `store`. Stable input gives the identical output object.
 * All text is clean (no control characters) and bounded: 64 KiB a part, 256 units a title, 500 turns of history.
 */
export * from './parts.js';
export { endCursor, selectNewParts, startCursor, type NewParts, type PartCursor } from './newParts.js';
export { HISTORY_MARKER, selectHistoryTurns, type HistoryTurn } from './historyTurns.js';
export { isTurnGoingOn, selectEndedTurn, selectTurn, selectTurnLabel } from './turn.js';
export { selectControlLabel } from './lease.js';
export { fallbackOf } from './fallback.js';

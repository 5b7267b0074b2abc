import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import type { RequestAnswer, Resolution, RuntimeRequest } from '../protocol/requests.js';
import { forgotten, without, type ConnectionId } from './connections.js';
import type { WithdrawalReason } from './transcript.js';

/** What the runtime asked in its present process, by request id. Drawn where the transcript has the request. */
export type Requests = Readonly<Record<number, RequestState>>;

export interface RequestState {
  /** Null while only its resolution has arrived. */
  readonly request: RuntimeRequest | null;
  /** The call that the request holds up, as far as can be told: the newest unfinished one of the same tool. */
  readonly callId: string | null;
  readonly status: RequestStatus;
}

export type RequestStatus =
  /** `problem`: why the last answer did not get through; the request may be answered again. */
  | { readonly phase: 'pending'; readonly problem: string | null }
  | { readonly phase: 'answering'; readonly answer: RequestAnswer; readonly label: string; readonly by: Answerer }
  /** `label`: the words of the answer that was given here; null where somebody else answered. */
  | {
      readonly phase: 'answered';
      readonly label: string | null;
      readonly by: Answerer | 'elsewhere';
      readonly resolution: Resolution | null;
    }
  | { readonly phase: 'withdrawn'; readonly reason: WithdrawalReason };

/** Who answered here: a person, the permission policy, or Stop. */
export type Answerer = 'person' | 'policy' | 'stop';

export type RequestsState = Readonly<Record<ConnectionId, Requests>>;

export interface AnswerIntent {
  readonly connection: ConnectionId;
  readonly answer: RequestAnswer;
  /** The words that the answer was offered with. */
  readonly label: string;
  readonly by: Answerer;
}

type Of<T = object> = PayloadAction<T & { readonly connection: ConnectionId; readonly requestId: number }>;

const initialState: RequestsState = {};

const slice = createSlice({
  name: 'requests',
  initialState,
  reducers: {
    /** Of two answers to one request the first counts. */
    answerRequested: (state, { payload }: PayloadAction<AnswerIntent>) =>
      change(state, payload.connection, payload.answer.request_id, ({ status, ...known }) =>
        status.phase === 'pending'
          ? { ...known, status: { phase: 'answering', answer: payload.answer, label: payload.label, by: payload.by } }
          : undefined,
      ),
    answerAcknowledged: (state, { payload }: Of) =>
      change(state, payload.connection, payload.requestId, ({ status, ...known }) =>
        status.phase === 'answering'
          ? { ...known, status: { phase: 'answered', label: status.label, by: status.by, resolution: null } }
          : undefined,
      ),
    /** The answer did not get through, or its fate is unknown: the request waits again. */
    answerFailed: (state, { payload }: Of<{ problem: string }>) =>
      change(state, payload.connection, payload.requestId, ({ status, ...known }) =>
        status.phase === 'answering' ? { ...known, status: { phase: 'pending', problem: payload.problem } } : undefined,
      ),
  },
  extraReducers: (builder) => {
    builder.addCase(forgotten, (state, { payload }) => without(state, payload.connection));
  },
});

export const { answerRequested, answerAcknowledged, answerFailed } = slice.actions;
export const requestsReducer = slice.reducer;

/** A request as the runtime raised it; undefined where it is known already. */
export function afterRequest(requests: Requests, request: RuntimeRequest, callId: string | null): Requests | undefined {
  const known = requests[request.id];
  if (known?.request) return undefined;
  const status = known?.status ?? { phase: 'pending', problem: null };
  return { ...requests, [request.id]: { request, callId, status } };
}

/** A request as the runtime says it was resolved; undefined where that is known already. */
export function afterResolution(requests: Requests, id: number, resolution: Resolution): Requests | undefined {
  const known = requests[id];
  const status = known?.status;
  if (status?.phase === 'answered' && status.resolution) return undefined;
  const here =
    status?.phase === 'answered' || (status?.phase === 'answering' && mayResolve(status.answer, resolution))
      ? status
      : undefined;
  return {
    ...requests,
    [id]: {
      request: known?.request ?? null,
      callId: known?.callId ?? null,
      status: { phase: 'answered', label: here?.label ?? null, by: here?.by ?? 'elsewhere', resolution },
    },
  };
}

/** Whether a resolution can be what came of this answer: it carries the answer that was taken (frontend.v2 §8.3). */
function mayResolve(answer: RequestAnswer, resolution: Resolution): boolean {
  switch (resolution.kind) {
    case 'decision':
      return answer.kind === 'approval' && answer.decision === resolution.decision;
    case 'action':
      return answer.kind !== 'approval' && answer.action === resolution.action;
    case 'unnamed':
      return true;
  }
}

/** The requests of a transcript that starts over: the runtime tells of them again, and each is drawn where it does. */
export function undrawn(requests: Requests): Requests {
  return Object.fromEntries(
    Object.entries(requests).map(([id, { callId, status }]) => [
      id,
      { request: null, callId, status: status.phase === 'answered' ? { ...status, resolution: null } : status },
    ]),
  );
}

/** The ids of the requests that wait for an answer, or for ours to arrive. */
export function unresolvedIds(requests: Requests): readonly number[] {
  return Object.keys(requests)
    .map(Number)
    .filter((id) => {
      const phase = requests[id]?.status.phase;
      return phase === 'pending' || phase === 'answering';
    });
}

export function afterWithdrawal(requests: Requests, ids: readonly number[], reason: WithdrawalReason): Requests {
  return ids.reduce<Requests>((current, id) => {
    const known = current[id];
    return known ? { ...current, [id]: { ...known, status: { phase: 'withdrawn', reason } } } : current;
  }, requests);
}

function change(
  state: RequestsState,
  connection: ConnectionId,
  id: number,
  to: (known: RequestState) => RequestState | undefined,
): RequestsState {
  const requests = state[connection];
  const known = requests?.[id];
  const next = known && to(known);
  return next ? { ...state, [connection]: { ...requests, [id]: next } } : state;
}

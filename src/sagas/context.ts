import type { UnknownAction } from '@reduxjs/toolkit';
import type { Channel } from 'redux-saga';
import { call, getContext, put, select, take } from 'typed-redux-saga';
import { messageOf } from '../protocol/messageOf.js';
import { CredentialRefused, RuntimeRefusal, type Refusal } from '../protocol/refusal.js';
import type { EventChunk, RuntimeClient, Services } from '../services/services.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import type { TurnId } from '../store/turn.js';
import type { Timings } from './timings.js';

/** What the sagas of one connection share: whom they speak for, the runtime's calls, and what its stream brings. */
export interface Link {
  readonly connection: ConnectionId;
  readonly runtime: RuntimeClient;
  readonly inbox: Channel<Arrival>;
  /** When the stream last brought an event (ms, monotonic). */
  lastEventAt: number;
  /** The turns that Stop is at work on. */
  readonly stopping: Set<TurnId>;
}

/** What the saga that follows the stream is told. */
export type Arrival =
  | { readonly kind: 'chunk'; readonly chunk: EventChunk; readonly stream: number }
  | { readonly kind: 'ended'; readonly stream: number }
  | { readonly kind: 'silent'; readonly stream: number }
  /** Somebody needs a fresh snapshot on the stream that is open. */
  | { readonly kind: 'resync' }
  /** A call met a runtime that no longer knows us: that is final for the connection. */
  | { readonly kind: 'refused'; readonly error: RuntimeRefusal };

/** The store itself, for the streaming path: an effect costs more than the delta that it would be for. */
export interface DirectStore {
  dispatch(action: UnknownAction): unknown;
  getState(): RootState;
}

export function* services() {
  return (yield* getContext('services')) as Services;
}

export function* directStore() {
  return (yield* getContext('store')) as DirectStore;
}

export function* timings() {
  return (yield* getContext('timings')) as Timings;
}

export function* state() {
  return yield* select((root: RootState) => root);
}

/** Waits until the state is as wanted. Streamed text is not looked at: nothing waits for it. */
export function* until(wanted: (root: RootState) => boolean) {
  while (!wanted(yield* state())) yield* take('*');
}

export function isRefusal(error: unknown, ...reasons: readonly Refusal['reason'][]): error is RuntimeRefusal {
  return error instanceof RuntimeRefusal && reasons.includes(error.reason);
}

/** A final refusal as data: a credential that can't be used reads like one that the runtime does not know. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof RuntimeRefusal) return error.refusal;
  return { reason: error instanceof CredentialRefused ? 'unauthenticated' : 'unknown', message: messageOf(error) };
}

/** Calls the runtime. That it no longer knows us is the whole connection's affair, so its stream is told as well. */
export function* ask<T>({ runtime, inbox }: Link, question: (runtime: RuntimeClient) => Promise<T>) {
  try {
    return yield* call(question, runtime);
  } catch (error) {
    if (isRefusal(error, 'unauthenticated')) yield* put(inbox, { kind: 'refused', error });
    throw error;
  }
}

/** Epoch ms, for an action. */
export function* now() {
  const { clock } = yield* services();
  return yield* call(() => clock.wall());
}

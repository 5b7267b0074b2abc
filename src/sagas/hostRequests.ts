import { call, put } from 'typed-redux-saga';
import { failed, requested, succeeded } from '../store/host.js';
import type { HostRequest, HostResult } from '../store/hostState.js';
import { state } from './context.js';
import { readState } from './hostCalls.js';
import type { Answer, HostLink, Mutation, Outcome } from './hostLink.js';

/** Does what an intent asks for, and writes down what came of it. */
export function* serve(link: HostLink, { payload }: ReturnType<typeof requested>) {
  const { operation, request } = payload;
  const known = (yield* state()).host.operations[operation];
  if (known?.phase !== 'asked' || known.intent !== payload || link.taken.has(payload)) return;
  link.taken.add(payload);
  const outcome = yield* call(perform, link, request);
  if (!outcome.ok) yield* put(failed({ operation, message: outcome.message }));
  else yield* put(succeeded({ operation, result: resultOf(request, outcome.answer, yield* activeSession()) }));
}

function* activeSession() {
  return (yield* state()).host.snapshot?.activeSession ?? null;
}

function resultOf({ kind }: HostRequest, { step }: Answer, active: string | null): HostResult {
  return step ? { kind: 'setup', step } : { kind: kind === 'setup' ? 'refresh' : kind, activeSession: active };
}

/** Does it when its turn has come. */
export function* perform(link: HostLink, request: HostRequest) {
  if (request.kind === 'refresh') return yield* call(readState, link);
  return yield* call(
    () =>
      new Promise<Outcome>((tell) => {
        if (request.kind === 'setup') link.steps.put({ ...mutationOf(request), tell });
        else link.mutations.put({ ...mutationOf(request), tell });
      }),
  );
}

function mutationOf(request: Exclude<HostRequest, { kind: 'refresh' }>): Omit<Mutation, 'tell'> {
  switch (request.kind) {
    case 'select':
      return {
        run: async (client) => ({ snapshot: await client.select(request.selection) }),
        isStart: true,
        rereads: true,
      };
    case 'open':
      return { run: (client) => client.open(request.id), isStart: true, rereads: true };
    case 'remember':
      return {
        run: async (client) => ({ snapshot: await client.remember(request.id, request.nativeId) }),
        isStart: false,
        rereads: false,
      };
    case 'setup':
      return {
        run: async (client) => ({ step: await client.setup(request.step, request.harness) }),
        isStart: false,
        // Most often a step that is refused is not needed any more.
        rereads: true,
      };
  }
}

import { readdirSync, readFileSync } from 'node:fs';
import type { UnknownAction } from '@reduxjs/toolkit';
import * as v from 'valibot';
import { descriptorSchema, leaseSchema, snapshotSchema, toRefusal } from '../../src/protocol/frontend-v2.js';
import { toRuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import type { RequestAnswer } from '../../src/protocol/requests.js';
import { attached, described, malformedSeen, opened, replayRefused } from '../../src/store/connections.js';
import { eventMeta, eventReceived } from '../../src/store/events.js';
import { reported } from '../../src/store/lease.js';
import { answerAcknowledged, answerFailed, answerRequested } from '../../src/store/requests.js';
import { inputAccepted, interruptAcknowledged, interruptRequested, submitRequested } from '../../src/store/turn.js';
import { requestGone, turnEnded } from '../../src/store/verdicts.js';
import type { RootState } from '../../src/store/state.js';

const FIXTURES = new URL('../fixtures/frontend-v2/', import.meta.url);

interface Line {
  readonly direction: 'in' | 'out' | 'note';
  readonly at_ms: number;
  readonly kind: string;
  readonly client?: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly body?: {
    id?: unknown;
    method?: string;
    params?: Record<string, unknown>;
    result?: unknown;
    error?: unknown;
  };
  readonly data?: unknown;
}

export function scenarios(): readonly string[] {
  return readdirSync(FIXTURES)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => name.replace('.jsonl', ''));
}

export function traffic(scenario: string): readonly Line[] {
  return readFileSync(new URL(`${scenario}.jsonl`, FIXTURES), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** The clients of a scenario that watched it: by its events, or by snapshots. */
export function observers(scenario: string): readonly string[] {
  const watching = traffic(scenario).filter(
    (line) => (line.kind === 'sse' && line.data !== undefined) || line.body?.method === 'frontend.v2.attach',
  );
  return [...new Set(watching.flatMap(({ client }) => client ?? []))];
}

/**
 * What one client's traffic is as actions of ours, in the order in which our sagas would dispatch them: events that
 * came before the snapshot wait for it.
 *
 * @param state reads the state so far: an answer or a Stop means the turn and the requests of that moment
 */
export function* actionsOf(scenario: string, client: string, state: () => RootState): Generator<UnknownAction> {
  const connection = client;
  const calls = new Map<unknown, NonNullable<Line['body']>>();
  const turns = new Map<unknown, string>();
  let early: UnknownAction[] | undefined = [];
  let sent = 0;
  yield opened({
    connection,
    origin: 'api',
    target: {
      baseUrl: 'http://127.0.0.1:1',
      clientId: client,
      credential: { kind: 'secret', key: client },
      permissions: null,
    },
  });
  for (const line of traffic(scenario)) {
    if (line.client !== client) continue;
    const at = line.at_ms;
    if (line.kind === 'sse' && line.data !== undefined) {
      const event = toRuntimeEvent(line.data);
      const action = event ? eventReceived(event, eventMeta(connection, at)) : malformedSeen({ connection, count: 1 });
      if (early) early.push(action);
      else yield action;
    }
    const { body } = line;
    if (line.kind !== 'http' || body === undefined || typeof body !== 'object') continue;
    if (line.direction === 'out') {
      calls.set(body.id, body);
      switch (body.method) {
        case 'frontend.v2.send_input': {
          const turnId = `turn-${++sent}`;
          turns.set(body.id, turnId);
          yield submitRequested({ connection, turnId, prompt: String(body.params?.['prompt']), at });
          break;
        }
        case 'frontend.v2.interrupt': {
          const turn = state().turn[connection]?.current;
          if (turn && turn.phase !== 'idle') yield interruptRequested({ connection, turnId: turn.turnId, at });
          turns.set(body.id, turn && turn.phase !== 'idle' ? turn.turnId : '');
          break;
        }
        case 'frontend.v2.respond':
          yield answerRequested({
            connection,
            answer: body.params?.['response'] as RequestAnswer,
            label: 'as recorded',
            by: 'person',
          });
          break;
        default:
          break;
      }
      continue;
    }
    const call = calls.get(body.id);
    const result = body.result;
    const refusal = body.error === undefined ? undefined : toRefusal(body.error);
    const turnId = turns.get(body.id) ?? '';
    switch (call?.method) {
      case 'frontend.v2.attach':
        if (refusal) {
          if (refusal.reason === 'transport') yield replayRefused({ connection, message: refusal.message, at });
          else continue;
        } else {
          yield attached({ connection, snapshot: v.parse(snapshotSchema, result), at });
        }
        yield* early ?? [];
        early = undefined;
        break;
      case 'frontend.v2.describe':
        if (!refusal) yield described({ connection, descriptor: v.parse(descriptorSchema, result) });
        break;
      case 'frontend.v2.send_input':
        if (refusal) yield turnEnded({ connection, turnId, outcome: 'failed', message: refusal.message });
        else yield inputAccepted({ connection, turnId });
        break;
      case 'frontend.v2.interrupt':
        if (!refusal) yield interruptAcknowledged({ connection, turnId, at });
        break;
      case 'frontend.v2.respond': {
        const requestId = (call.params?.['response'] as RequestAnswer).request_id;
        if (!refusal) yield answerAcknowledged({ connection, requestId });
        else if (refusal.reason === 'not_found') yield requestGone({ connection, requestId });
        else yield answerFailed({ connection, requestId, problem: refusal.message });
        break;
      }
      case 'frontend.v2.take_control':
      case 'frontend.v2.acquire_control':
      case 'frontend.v2.heartbeat':
        if (!refusal) {
          const lease = v.parse(leaseSchema, result);
          const holder = lease.controller?.clientId ?? null;
          yield reported({ connection, holder, mine: holder !== null, ttlMs: lease.ttlMs, sentAt: at });
        }
        break;
      default:
        break;
    }
  }
}

import { TextCheck } from './check.js';
import { costOf, type Entrant } from './measure.js';
import { openSession, type Session } from './ours.js';
import { conversation, readsOf, runtimeFrame } from './wire.js';

const READ = 4096;
const ENTRIES_IN_TURN = 600;

export interface Retained {
  readonly name: string;
  readonly entrant: Entrant;
  stop(): Promise<void>;
}

/**
 * A session with so many finished entries, and what the deltas of further turns cost in it while so many calls are
 * open. How the rest of a turn comes and goes is not measured.
 */
export async function openRetained(entries: number, openCalls: number, deltas: number): Promise<Retained> {
  const name = `${entries.toLocaleString('en-US')} entries, ${openCalls} calls open`;
  const session = await openSession();
  const runtime = new Runtime(session);
  while (session.entries() < entries) {
    await runtime.say(finishedTurn(Math.min(ENTRIES_IN_TURN, entries - session.entries())));
  }
  const { deltas: pieces, text } = conversation(deltas);
  const streamed = pieces.map((piece): Event => ['text_delta', { text: piece }]);
  const calls = Array.from({ length: openCalls }, (_, at) => call(`open-${at}`));
  const once = async () => {
    await runtime.say([...TURN_STARTED, ...calls]);
    const check = new TextCheck(text);
    session.check(check);
    const send = runtime.prepare(streamed);
    const run = async () => {
      await send();
      return check.verdict();
    };
    const cost = await costOf(name, run, deltas);
    session.check(undefined);
    await runtime.say([TURN_ENDED]);
    return cost;
  };
  return { name, entrant: { name, once }, stop: () => session.stop() };
}

type Event = readonly [kind: string, body: object];

/** The other end of a session, which numbers its events. */
class Runtime {
  #session: Session;
  #sequence = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  prepare(events: readonly Event[]): () => Promise<void> {
    const frames = events.map(([kind, body]) => runtimeFrame(++this.#sequence, kind, body));
    const reads = readsOf(frames, READ);
    const last = this.#sequence;
    return () => this.#session.send(reads, last);
  }

  say(events: readonly Event[]): Promise<void> {
    return this.prepare(events)();
  }
}

const TURN_STARTED: readonly Event[] = [
  ['user_message', { text: 'Go on.' }],
  ['turn_started', {}],
];
const TURN_ENDED: Event = ['turn_succeeded', {}];
/** What the prompt and the end of a turn leave behind. */
const ENTRIES_AROUND = 2;

/** Texts, calls with their results, and usage in equal parts. */
function finishedTurn(entries: number): readonly Event[] {
  const events = [...TURN_STARTED];
  for (let at = 0; at < entries - ENTRIES_AROUND; at++) {
    switch (at % 3) {
      case 0:
        events.push(['text_delta', { text: 'Now the next file has to be looked at.' }]);
        break;
      case 1:
        events.push(call(`call-${at}`), result(`call-${at}`));
        break;
      default:
        events.push(['usage', { prompt_tokens: 12_000 + at, completion_tokens: 40, cached_tokens: 11_000 }]);
    }
  }
  return [...events, TURN_ENDED];
}

function call(id: string): Event {
  return ['tool_call_started', { id, name: 'bash', arguments: '{"command":"git status --short"}' }];
}

function result(id: string): Event {
  const output = ' M src/store/root.ts\n'.repeat(8);
  return ['tool_call_completed', { id, name: 'bash', output, is_error: false }];
}

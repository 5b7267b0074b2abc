import { selectHistoryTurns } from '../selectors/historyTurns.js';
import { endCursor } from '../selectors/newParts.js';
import { selectTurn } from '../selectors/turn.js';
import { policyChosen, type Policy } from '../store/permissions.js';
import { EXIT, type ExitCode } from './exitCodes.js';
import { Left, type Leaving } from './leaving.js';
import { NewsReader } from './news.js';
import { CHAT, type Session } from './session.js';
import { runTurn, type Settled } from './turnRunner.js';
import type { View } from './view.js';

export interface OneTurnOptions {
  readonly prompt: string;
  readonly policy: Policy;
  readonly history: boolean;
}

const CODES = { succeeded: EXIT.succeeded, failed: EXIT.failed, interrupted: EXIT.interrupted } as const;

/** Runs one turn of an attached session and shows it. Rejects with `Left` where the program must end before the turn does. */
export async function oneTurn(
  session: Session,
  view: View,
  leaving: Leaving,
  { prompt, policy, history }: OneTurnOptions,
): Promise<ExitCode> {
  const { app, services } = session;
  const root = app.getState();
  if (history) view.history(selectHistoryTurns(root, CHAT));
  // What another client's turn asks is that client's to answer; ours is refused while it runs.
  if (selectTurn(root, CHAT).phase === 'idle') app.dispatch(policyChosen({ connection: CHAT, policy }));
  const turnId = services.newId();
  const cursor = endCursor(app.getState(), CHAT);
  view.begin(turnId, prompt, () => new NewsReader(CHAT, cursor, turnId));
  try {
    const settled = await runTurn(session, turnId, prompt, leaving);
    await view.settled(settled);
    return CODES[settled.outcome];
  } catch (error) {
    if (error instanceof Left) await view.settled(LEFT);
    throw error;
  }
}

const LEFT: Settled = {
  outcome: 'interrupted',
  message: 'Left before the turn ended; what the runtime makes of it is not known here.',
};

import { untilState } from '../sagas/untilState.js';
import { selectEndedTurn, selectTurn } from '../selectors/turn.js';
import { interruptRequested, submitRequested, type EndedTurn, type TurnId } from '../store/turn.js';
import { turnLeft } from '../store/verdicts.js';
import type { Leaving } from './leaving.js';
import { plainText } from './plainText.js';
import { isOver, whyOver } from '../selectors/connections.js';
import { CHAT, phaseOf, type Session } from './session.js';

/** How a turn ended. */
export type Settled = Pick<EndedTurn, 'outcome' | 'message'>;

/** How long an ended connection may take to say what became of the turn; ms. */
const LAST_WORDS_MS = 250;

/** Sends a prompt and resolves when its turn is over. Rejects with `Left` where the program must end before that. */
export async function runTurn(session: Session, turnId: TurnId, prompt: string, leaving: Leaving): Promise<Settled> {
  const { app, services } = session;
  app.dispatch(submitRequested({ connection: CHAT, turnId, prompt, at: services.clock.wall() }));
  const goOn = leaving.stopping(() => {
    stopTurn(session);
  });
  try {
    await leaving.unlessLeft(
      untilState(app, (root) => selectEndedTurn(root, CHAT, turnId) !== undefined || isOver(phaseOf(root))),
    );
    return await leaving.unlessLeft(verdict(session, turnId));
  } finally {
    goOn();
  }
}

/** Asks the runtime to stop what it does for this conversation. */
export function stopTurn({ app, services }: Session): void {
  const turn = selectTurn(app.getState(), CHAT);
  if (turn.phase === 'idle') return;
  app.dispatch(interruptRequested({ connection: CHAT, turnId: turn.turnId, at: services.clock.wall() }));
}

async function verdict({ app }: Session, turnId: TurnId): Promise<Settled> {
  const late = new Promise<void>((resolve) => setTimeout(resolve, LAST_WORDS_MS));
  await Promise.race([untilState(app, (root) => selectEndedTurn(root, CHAT, turnId) !== undefined), late]);
  const phase = phaseOf(app.getState());
  if (isOver(phase)) {
    // Whoever ended the connection ended the turn that it knew of; ours may have come a moment later.
    const known = selectEndedTurn(app.getState(), CHAT, turnId);
    if (!known) app.dispatch(turnLeft({ connection: CHAT, turnId, message: whyOver(phase) }));
  }
  const { outcome = 'failed', message = '' } = selectEndedTurn(app.getState(), CHAT, turnId) ?? {};
  return { outcome, message: plainText(message) };
}

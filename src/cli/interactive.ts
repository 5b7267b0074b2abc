import { untilState } from '../sagas/untilState.js';
import { selectHistoryTurns } from '../selectors/historyTurns.js';
import { selectNewParts, startCursor } from '../selectors/newParts.js';
import { selectTurn } from '../selectors/turn.js';
import { policyChosen, type Policy } from '../store/permissions.js';
import { EXIT, type ExitCode } from './exitCodes.js';
import type { Leaving } from './leaving.js';
import { NewsReader } from './news.js';
import { plainLine } from './plainText.js';
import { askLine, type Line } from './prompts.js';
import { isOver, whyOver } from '../selectors/connections.js';
import { CHAT, phaseOf, type Session } from './session.js';
import type { Person, Terminal } from './terminal.js';
import { runTurn, stopTurn } from './turnRunner.js';

export interface InteractiveOptions {
  readonly policy: Policy;
  readonly history: boolean;
}

/** Asks for prompts and runs their turns until the person leaves or the connection is gone. */
export async function interactive(
  session: Session,
  terminal: Terminal,
  person: Person,
  leaving: Leaving,
  { policy, history }: InteractiveOptions,
): Promise<ExitCode> {
  const { app, services } = session;
  if (policy !== 'ask') app.dispatch(policyChosen({ connection: CHAT, policy }));
  greet(session, terminal);
  readOn(session, terminal, history);
  const typed: string[] = [];
  let draft = '';
  for (;;) {
    await followOthers(session, terminal, leaving);
    const over = whyEnded(session);
    if (over !== undefined) throw new Error(over);
    const line = await leaving.unlessLeft(
      askPrompt(session, terminal, person, {
        history: typed,
        draft: draft + terminal.takeTyped(),
        onDraft: (unsent) => {
          draft = unsent;
        },
      }),
    );
    if (line === undefined) continue;
    draft = '';
    if ('left' in line || line.text.trim() === '/quit') return EXIT.succeeded;
    if (line.text.trim() === '') continue;
    const turnId = services.newId();
    terminal.knowTurn(turnId);
    terminal.resume();
    await runTurn(session, turnId, line.text, leaving);
    await terminal.rest();
  }
}

function greet({ app, origin }: Session, { screen }: Terminal): void {
  const { paint } = screen.canvas;
  const descriptor = app.getState().connections[CHAT]?.descriptor;
  const where = origin === 'embedded' ? 'demo runtime' : plainLine(descriptor?.sourceHarness ?? 'supercode runtime');
  const model = descriptor?.model ? ` · ${plainLine(descriptor.model)}` : '';
  const hint = origin === 'embedded' ? 'Try /demo tour. ' : '';
  screen.line(`${paint(['bold', 'cyan'], 'supercode chat')}  ${paint('dim', where + model)}`);
  screen.line(paint('dim', `${hint}Ctrl-C stops a turn; /quit, or Ctrl-C here, leaves.`));
  screen.render();
}

/** Draws the past where that is wanted, and a turn that goes on in any case; then what comes. */
function readOn({ app }: Session, terminal: Terminal, history: boolean): void {
  const root = app.getState();
  const start = startCursor(root, CHAT);
  const turn = selectTurn(root, CHAT);
  if (history) {
    for (const each of selectHistoryTurns(root, CHAT)) terminal.drawTurn(each);
    if (turn.phase !== 'idle') terminal.knowTurn(turn.turnId);
  }
  const isSeen = history || turn.phase === 'idle';
  terminal.readFrom(new NewsReader(CHAT, isSeen ? selectNewParts(root, CHAT, start).cursor : start));
}

/** Shows what came meanwhile, and a turn of another client until it is over. */
async function followOthers(session: Session, terminal: Terminal, leaving: Leaving): Promise<void> {
  const { app } = session;
  if (!isBusy(session) && !terminal.hasNews) return;
  const goOn = leaving.stopping(() => {
    stopTurn(session);
  });
  terminal.resume();
  try {
    await leaving.unlessLeft(untilState(app, () => !isBusy(session)));
  } finally {
    goOn();
    await terminal.rest();
  }
}

/** Asks for a prompt; undefined where something else needs the screen first. */
async function askPrompt(
  session: Session,
  terminal: Terminal,
  { input, output }: Person,
  line: { readonly history: string[]; readonly draft: string; readonly onDraft: (draft: string) => void },
): Promise<Line | undefined> {
  const elsewhere = new AbortController();
  const look = () => {
    if (isBusy(session) || terminal.hasNews || whyEnded(session) !== undefined) elsewhere.abort();
  };
  const { screen } = terminal;
  screen.gap();
  screen.render();
  const unsubscribe = session.app.subscribe(look);
  look();
  try {
    return await askLine(input, output, `${screen.canvas.paint(['bold', 'magenta'], '›')} `, {
      ...line,
      signal: elsewhere.signal,
    });
  } finally {
    unsubscribe();
    screen.continueBelow();
  }
}

function isBusy({ app }: Session): boolean {
  const root = app.getState();
  return selectTurn(root, CHAT).phase !== 'idle' && !isOver(phaseOf(root));
}

function whyEnded({ app }: Session): string | undefined {
  const phase = phaseOf(app.getState());
  return isOver(phase) ? whyOver(phase) : undefined;
}

import * as vscode from 'vscode';
import { untilState } from '../sagas/untilState.js';
import { title } from '../selectors/bounds.js';
import { filesOfDiff } from '../selectors/diffFiles.js';
import { selectChangedTurns, type TurnChanges } from '../selectors/turnChanges.js';
import { turnPatch } from '../selectors/turnPatch.js';
import type { ConnectionId } from '../store/connections.js';
import {
  changesUri,
  digestOf,
  referenceOf,
  turnReference,
  turnReferenceIn,
  type TurnReference,
} from './changesResource.js';
import type { Front } from './front.js';
import { narrate } from './narrate.js';
import { shownText } from './shownText.js';

const UNKNOWN = 'The changes of this turn are not known here any more. The runtime tells of a turn only for so long.';

/** Shows the patch of the turn that a button names. */
export async function reviewNamed(front: Front, argument: unknown): Promise<void> {
  const reference = turnReferenceIn(argument);
  if (reference) await settled(front, reference.connection);
  const changes = reference && changesOf(front, reference);
  if (reference && changes) await show(front, reference, changes);
  else void vscode.window.showWarningMessage(`Volter Harness: ${UNKNOWN}`);
}

/** Shows the patch of a turn of this conversation: of the one that changed something, or of the one that a person picks. */
export async function reviewPicked(front: Front, connection: ConnectionId): Promise<void> {
  const root = front.app.getState();
  const turns = selectChangedTurns(root, connection).toReversed();
  if (turns.length === 0) {
    narrate('Volter Harness: no turn of this conversation is known to have changed a file.');
    return;
  }
  const items = turns.map((changes) => ({
    changes,
    label: shownText(changes.prompt ?? '') || '(no prompt)',
    detail: shownText(filesIn(changes).join(', ')),
  }));
  const picked =
    items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: 'Review the changes of a turn' });
  if (picked) await show(front, turnReference(root, connection, picked.changes), picked.changes);
}

/** What a document of ours holds: also of one that the editor opens again after a reload. */
export async function changesText(front: Front, uri: vscode.Uri): Promise<string> {
  const reference = referenceOf(uri);
  if (reference) await settled(front, reference.connection);
  const changes = reference && changesOf(front, reference);
  return changes ? turnPatch(changes) : `# ${UNKNOWN}\n`;
}

async function show(front: Front, reference: TurnReference, { prompt }: TurnChanges): Promise<void> {
  const uri = changesUri(reference, prompt);
  // One that is open already may be of a turn that went on since.
  front.changesShown.fire(uri);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: true });
}

/** The turn by its name, or the only one of that conversation with this prompt: a name does not outlive its window. */
function changesOf({ app }: Front, { connection, sessionId, turnId, prompt }: TurnReference): TurnChanges | undefined {
  const root = app.getState();
  const asked = selectChangedTurns(root, connection).filter(
    (turn) => (turn.prompt === null ? null : digestOf(turn.prompt)) === prompt,
  );
  const named = turnId === null ? undefined : asked.findLast((turn) => turn.turnId === turnId);
  if (named) return named;
  const isSameConversation = sessionId !== null && sessionId === root.transcript[connection]?.sessionId;
  return isSameConversation && asked.length === 1 ? asked[0] : undefined;
}

/** A window that was just opened hears of its conversations after a while. */
async function settled({ app }: Front, connection: ConnectionId): Promise<void> {
  await untilState(app, ({ connections }) => connections[connection]?.phase.name !== 'connecting');
}

function filesIn({ diff, edits }: TurnChanges): readonly string[] {
  if (diff !== undefined) return filesOfDiff(diff);
  return [...new Set(edits.map(({ name }) => title(name)))];
}

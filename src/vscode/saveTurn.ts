import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import { Redactor } from '../selectors/redaction.js';
import { turnLog } from '../selectors/turnLog.js';
import { turnReport } from '../selectors/turnReport.js';
import type { ConnectionId } from '../store/connections.js';
import { retainedTurns, type RetainedTurn } from '../store/retainedTurns.js';
import type { Front } from './front.js';
import { narrate } from './narrate.js';
import { knownSecrets } from './knownSecrets.js';
import { shownText } from './shownText.js';

/** Where the two files go. */
interface Place {
  readonly log: vscode.Uri;
  readonly report: vscode.Uri;
}

/** Writes one turn to a log and a report that a person may share, and shows the report. */
export async function saveTurn(front: Front, connection: ConnectionId): Promise<void> {
  const turn = await pickedTurn(retainedTurns(front.recent, connection));
  if (turn === undefined) return;
  const redactor = new Redactor(await knownSecrets(front, turn));
  const version = versionOf(front);
  const lines = turnLog(turn, { product: 'supercode-frontend', version, redactor });
  const log = new TextEncoder().encode(`${lines.join('\n')}\n`);
  for (;;) {
    const place = await askPlace(turn);
    if (place === undefined) return;
    const report = turnReport(lines, {
      versions: [
        ['Extension', version],
        ['Editor', `${vscode.env.appName} ${vscode.version}`],
        ['Runtime', 'frontend.v2, which tells no version of its own'],
        ['System', `${process.platform} ${process.arch}, Node ${process.versions.node}`],
      ],
      redacted: redactor.counts,
      ended: turn.ended,
      log: nameOf(place.log),
    });
    const problem = await written(place, log, new TextEncoder().encode(report));
    if (problem === undefined) {
      await tell(place);
      return;
    }
    front.log.error(problem);
    const again = await vscode.window.showErrorMessage(shownText(`Volter Harness: ${problem}`), ANOTHER_PLACE);
    if (again !== ANOTHER_PLACE) return;
  }
}

const ANOTHER_PLACE = 'Choose Another Place';
const REPLACE = 'Replace';

/** The only one there is, or the one that the person picks, the newest first. */
async function pickedTurn(turns: readonly RetainedTurn[]): Promise<RetainedTurn | undefined> {
  if (turns.length === 0) narrate('Volter Harness: this window has seen no turn of this conversation lately.');
  if (turns.length < 2) return turns[0];
  const items = turns.toReversed().map((turn) => ({
    turn,
    label: shownText(turn.prompt ?? '') || '(no prompt)',
    description: `${new Date(turn.seen[0]?.at ?? 0).toLocaleString()}, ${turn.ended?.outcome ?? 'still going on'}`,
  }));
  return (await vscode.window.showQuickPick(items, { title: 'Save which turn?' }))?.turn;
}

/** The editor asks before a file is replaced that the person named; of the other one nobody has asked yet. */
async function askPlace({ seen }: RetainedTurn): Promise<Place | undefined> {
  const began = new Date(seen[0]?.at ?? 0).toISOString().slice(0, 16).replace(/\D+/g, '-');
  for (;;) {
    const chosen = await vscode.window.showSaveDialog({
      title: 'Save This Turn (its prompt, its answers and what its tools said are in it)',
      saveLabel: 'Save Turn',
      defaultUri: vscode.Uri.file(join(homedir(), `turn-${began}.md`)),
      filters: { 'Report, with a log beside it': ['md'] },
    });
    if (chosen === undefined) return undefined;
    const base = chosen.path.replace(/\.(?:md|jsonl)$/i, '');
    const place = { log: chosen.with({ path: `${base}.jsonl` }), report: chosen.with({ path: `${base}.md` }) };
    const others = [place.log, place.report].filter((each) => each.toString() !== chosen.toString());
    const inTheWay = [];
    for (const other of others) if (await isThere(other)) inTheWay.push(nameOf(other));
    if (inTheWay.length === 0) return place;
    const question = `${inTheWay.join(' and ')} ${inTheWay.length === 1 ? 'exists' : 'exist'} already.`;
    const answer = await vscode.window.showWarningMessage(shownText(question), { modal: true }, REPLACE);
    if (answer === REPLACE) return place;
  }
}

async function isThere(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch (error) {
    // Of what can't be looked at it is not known: asking costs little.
    return !(error instanceof vscode.FileSystemError && error.code === 'FileNotFound');
  }
}

/** Undefined once both are written; else what is wrong, and what became of the other one. */
async function written(
  { log, report }: Place,
  ...contents: readonly [Uint8Array, Uint8Array]
): Promise<string | undefined> {
  const done: string[] = [];
  for (const [at, uri] of [log, report].entries()) {
    try {
      await vscode.workspace.fs.writeFile(uri, contents[at] ?? new Uint8Array());
      done.push(nameOf(uri));
    } catch (error) {
      const rest = done.length === 0 ? 'Nothing was saved.' : `Only ${done.join()} was.`;
      return `${nameOf(uri)} could not be written: ${messageOf(error)} ${rest}`;
    }
  }
  return undefined;
}

async function tell({ log, report }: Place): Promise<void> {
  void vscode.window.showInformationMessage(
    shownText(
      `Volter Harness: the turn was saved as ${nameOf(report)} and ${nameOf(log)}. Its prompt and its answers are in both; ` +
        'only what looks secret was replaced. Read it before you share it.',
    ),
  );
  const document = await vscode.workspace.openTextDocument(report);
  await vscode.window.showTextDocument(document, { preview: false });
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.slice(uri.path.lastIndexOf('/') + 1);
}

function versionOf({ context }: Front): string {
  const { version } = context.extension.packageJSON as { readonly version?: unknown };
  return typeof version === 'string' ? version : 'unknown';
}

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { showReplay } from '../../src/cli/replayProgram.js';
import { startEmbeddedRuntime } from '../../src/runtime/embedded.js';
import { FileSystemError } from '../doubles/vscode/basics.js';
import { Uri } from '../doubles/vscode/uri.js';
import { picker } from './askedForm.js';
import { AttachedEditor, script, until } from './attachedEditor.js';

const UNASKED = { toolApproval: 'never' } as const;
const REPORT = Uri.file('/reports/bug.md');
const LOG = Uri.file('/reports/bug.jsonl');
const HEX = 'fedcba9876543210'.repeat(4);
const GITHUB = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';

const open = () => AttachedEditor.open({ runtime: UNASKED });

/** What a file holds; undefined where there is none. */
function fileIn({ editor }: AttachedEditor, uri: Uri): string | undefined {
  const content = editor.host.files.get(uri.toString());
  return content instanceof Uint8Array ? new TextDecoder().decode(content) : undefined;
}

/** Answers the save dialog that opens next; undefined closes it. */
async function choose({ editor: { host } }: AttachedEditor, uri: Uri | undefined, at = host.saveDialogs.length) {
  await until(() => host.saveDialogs.length > at, 'a save dialog');
  host.saveDialogs[at]?.choose(uri);
}

async function save(attached: AttachedEditor): Promise<void> {
  await Promise.all([choose(attached, REPORT), attached.run('saveTurn')]);
}

const message = async ({ editor: { host } }: AttachedEditor, has: string) => {
  await until(() => host.messages.some((each) => each.text.includes(has)), `a message with "${has}"`);
  return host.messages.findLast((each) => each.text.includes(has));
};

/** What `supercode-replay` prints of a log. */
async function replayed(log: string, show: 'parts' | 'actions' = 'parts'): Promise<{ code: number; printed: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'saved-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const file = join(folder, 'bug.jsonl');
  writeFileSync(file, log);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const streams = { stdin: process.stdin, stdout, stderr } as unknown as Parameters<typeof showReplay>[1];
  const code = await showReplay({ file, show, json: false }, { ...streams, env: {} });
  stdout.end();
  stderr.end();
  return { code, printed: (await text(stdout)) + (await text(stderr)) };
}

describe('Save This Turn…', () => {
  it('writes a log that replays to the turn, and a report, and shows the report', async () => {
    const attached = await open();
    await attached.send('an earlier turn').result;
    await attached.send(
      script(
        { text: 'I look.', calls: [{ name: 'bash', id: 'c', args: { command: 'printf seen' } }] },
        { text: 'Done.' },
      ),
    ).result;
    attached.editor.pick(
      '[[script]] [{"text":"I look.","calls":[{"name":"bash","id":"c","args":{"command":"printf seen"}}]},{"text":"Done."}]',
    );
    await save(attached);
    const log = fileIn(attached, LOG) ?? '';
    const { code, printed } = await replayed(log);
    expect(code).toBe(0);
    for (const piece of ['I look.', 'bash', 'seen', 'Done.', 'not compared']) expect(printed).toContain(piece);
    expect(log + printed).not.toContain('an earlier turn');
    const report = fileIn(attached, REPORT) ?? '';
    for (const piece of ['I look.', 'seen', 'Done.', 'Fake 1\\.138\\.0', 'bug.jsonl']) expect(report).toContain(piece);
    const { document } = attached.editor.host.shownDocuments.at(-1) ?? {};
    expect([document?.uri.toString(), document?.languageId]).toEqual([REPORT.toString(), 'markdown']);
  });

  it('says that prompts and answers are in it, before and after', async () => {
    const attached = await open();
    await attached.send('hello').result;
    await save(attached);
    expect(attached.editor.host.saveDialogs[0]?.options.title).toContain('its prompt, its answers');
    expect((await message(attached, 'was saved'))?.text).toMatch(/prompt and its answers are in both.*Read it before/);
  });

  it('has no secret, name or place in either file, however it came there', async () => {
    const attached = await open();
    const { workspace, url } = attached.runtime;
    const credential = process.env['SUPERCODE_FRONTEND_CREDENTIAL_FILE'] ?? '';
    const token = readFileSync(credential, 'utf8').trim();
    const planted = [token, HEX, GITHUB, 'hunter2hunter2', `${homedir()}/x`, workspace, credential, new URL(url).port];
    const said = planted.map((secret, at) => `${at}: password=${at === 3 ? secret : 'none'} ${secret} !`).join('\n');
    const quiet = said.replaceAll(/ hunter2hunter2 /g, ' ');
    const command = `printf '%s' '${quiet}'`;
    await attached.send(
      script(
        { reasoning: quiet, text: quiet, calls: [{ name: 'bash', id: 'c', args: { command } }] },
        { calls: [{ name: 'write_file', id: 'w', args: { path: 'x', content: quiet } }], diff: true },
        { text: 'Done.' },
      ),
    ).result;
    await save(attached);
    const [log, report] = [fileIn(attached, LOG) ?? '', fileIn(attached, REPORT) ?? ''];
    for (const file of [log, report]) {
      for (const secret of [...planted, 'editor-1']) expect(file).not.toContain(secret);
      for (const label of ['⟨token 1⟩', '⟨password 1⟩', '⟨workspace 1⟩']) expect(file).toContain(label);
    }
    expect(log).toContain('"clientId":"⟨client id 1⟩"');
    expect(log).toContain('http://127.0.0.1:⟨port 1⟩');
    expect(report).toMatch(/It was redacted\..*token \(\d\)/);
    expect((await replayed(log)).code).toBe(0);
  });

  it('has nothing of other conversations', async () => {
    const attached = await open();
    await attached.send('of the first').result;
    const runtime = await startEmbeddedRuntime({ model: 'another/model' });
    onTestFinished(() => runtime.kill());
    const options = { baseUrl: runtime.url, token: runtime.mint('c-2-client'), clientId: 'c-2-client' };
    const id = (await attached.api.connect(options)) ?? '';
    await until(() => attached.api.connections.find((each) => each.id === id)?.phase === 'attached');
    await attached.send('of the second').result;
    await save(attached);
    const log = fileIn(attached, LOG) ?? '';
    expect(log).toContain('of the second');
    expect(log).not.toMatch(/of the first|environment|runtime-[0-9a-f]{12}|c-2-client|editor-1/);
    expect((await replayed(log, 'actions')).code).toBe(0);
  });

  it('asks which where several are there, the newest first; Escape saves nothing', async () => {
    const attached = await open();
    await attached.send('one').result;
    await attached.send('two').result;
    attached.editor.escape();
    await attached.run('saveTurn');
    expect(picker(attached.editor).items.map(({ label }) => label)).toEqual(['two', 'one']);
    attached.editor.pick('one');
    await save(attached);
    expect(fileIn(attached, REPORT)).toContain('```\none\n```');
    expect(fileIn(attached, REPORT)).not.toContain('two');
  });

  it('saves what there is of a turn that still goes on', async () => {
    const attached = await open();
    const turn = attached.send(script({ repeat: { n: 300, text: 'x', pad: 3 }, delay: 10 }));
    await turn.stream.until((stream) => stream.text.includes('x003'));
    await save(attached);
    expect(fileIn(attached, REPORT)).toContain('x003');
    expect(fileIn(attached, REPORT)).toContain('it was still going on when this was saved');
    turn.stop();
    await turn.result;
  });

  it('without a turn says so, and opens nothing', async () => {
    const attached = await open();
    await attached.run('saveTurn');
    expect(attached.narrated).toEqual([expect.stringContaining('has seen no turn')]);
    expect(attached.editor.host.saveDialogs).toEqual([]);
  });

  it('left at the dialog writes nothing', async () => {
    const attached = await open();
    await attached.send('hello').result;
    const files = attached.editor.host.files.size;
    await Promise.all([choose(attached, undefined), attached.run('saveTurn')]);
    expect(attached.editor.host.files.size).toBe(files);
  });

  it('stands in the status menu once there is a turn', async () => {
    const attached = await open();
    await attached.send('hello').result;
    attached.editor.pick('$(save) Save this turn…');
    await Promise.all([choose(attached, REPORT), attached.run('showStatus')]);
    expect(fileIn(attached, LOG)).toBeDefined();
  });
});

describe('a file that is there already', () => {
  it('beside the one that was named is replaced only when the person says so', async () => {
    const attached = await open();
    await attached.send('hello').result;
    attached.editor.writeFile(LOG, 'mine');
    const saving = attached.run('saveTurn');
    await choose(attached, REPORT, 0);
    const question = await message(attached, 'bug.jsonl exists already');
    expect([question?.options.modal, question?.choices]).toEqual([true, ['Replace']]);
    question?.choose();
    await choose(attached, undefined, 1);
    await saving;
    expect([fileIn(attached, LOG), fileIn(attached, REPORT)]).toEqual(['mine', undefined]);
    const again = attached.run('saveTurn');
    await choose(attached, REPORT, 2);
    await until(() => attached.editor.host.messages.length === 2);
    attached.editor.host.messages[1]?.choose('Replace');
    await again;
    expect(fileIn(attached, LOG)).toContain('"format":1');
  });

  it('under another name than the dialog asked about is asked about too', async () => {
    const attached = await open();
    await attached.send('hello').result;
    attached.editor.writeFile(REPORT, 'mine');
    const saving = attached.run('saveTurn');
    await choose(attached, Uri.file('/reports/bug'), 0);
    (await message(attached, 'bug.md exists already'))?.choose('Replace');
    await saving;
    expect(fileIn(attached, REPORT)).toContain('# A turn');
  });
});

describe('a place that takes no files', () => {
  it('is told, and the turn can go elsewhere', async () => {
    const attached = await open();
    await attached.send('hello').result;
    attached.editor.host.writeError = FileSystemError.Unavailable('There is no space left on the disk.');
    const saving = attached.run('saveTurn');
    await choose(attached, REPORT, 0);
    const problem = await message(attached, 'could not be written');
    expect([problem?.level, problem?.text]).toEqual([
      'error',
      expect.stringMatching(/bug\.jsonl.*no space left.*Nothing was saved/),
    ]);
    attached.editor.host.writeError = undefined;
    problem?.choose('Choose Another Place');
    await choose(attached, Uri.file('/elsewhere/bug.md'), 1);
    await saving;
    expect(fileIn(attached, Uri.file('/elsewhere/bug.md'))).toContain('hello');
    expect(fileIn(attached, Uri.file('/elsewhere/bug.jsonl'))).toContain('hello');
  });

  it('for the report alone: what was written is named, and nothing is said to be saved', async () => {
    const attached = await open();
    await attached.send('hello').result;
    attached.editor.lockFile(REPORT);
    const saving = attached.run('saveTurn');
    await choose(attached, REPORT, 0);
    const problem = await message(attached, 'could not be written');
    expect(problem?.text).toMatch(/bug\.md could not be written.*Only bug\.jsonl was/);
    problem?.choose();
    await saving;
    expect(attached.editor.host.messages.some(({ text: said }) => said.includes('was saved as'))).toBe(false);
    expect(attached.editor.host.shownDocuments).toEqual([]);
  });
});

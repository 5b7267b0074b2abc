import { describe, expect, it } from 'vitest';
import { activate } from '../../src/vscode/extension.js';
import { Uri } from '../doubles/vscode/uri.js';
import { workspace } from '../doubles/vscode/workspace.js';
import { picker } from './askedForm.js';
import { AttachedEditor, script, until } from './attachedEditor.js';

const UNASKED = { toolApproval: 'never' } as const;
const write = (path: string, content: string, id = path) => ({ name: 'write_file', id, args: { path, content } });
const CHANGING = script({ text: 'I write.', calls: [write('a.txt', 'one\n')], diff: true }, { text: 'Done.' });

const shown = ({ editor }: AttachedEditor) => editor.host.shownDocuments.map(({ document }) => document);
const warnings = ({ editor }: AttachedEditor) =>
  editor.host.messages.flatMap(({ level, text }) => (level === 'warning' ? [text] : []));

describe('the button under a response', () => {
  it.each([true, false])(
    'stands at the end where files changed, and shows the patch (granted: %s)',
    async (granted) => {
      const attached = await AttachedEditor.open({ granted, runtime: UNASKED });
      const turn = attached.send(CHANGING);
      await turn.result;
      expect(turn.stream.buttons.map(({ title }) => title)).toEqual(['Review changes']);
      await attached.click(turn, 'Review changes');
      const [document] = shown(attached);
      expect([document?.uri.scheme, document?.languageId, document?.isDirty]).toEqual([
        'supercode-changes',
        'diff',
        false,
      ]);
      expect(document?.getText()).toContain('# As the runtime reported them.');
      expect(document?.getText()).toContain('+one\n');
    },
  );

  it('is not there where none changed', async () => {
    const attached = await AttachedEditor.open({ runtime: UNASKED });
    const turn = attached.send('hello');
    await turn.result;
    expect(turn.stream.buttons).toEqual([]);
  });

  it('does its work after a reload, or says plainly that the turn is not known', async () => {
    const attached = await AttachedEditor.open({ runtime: UNASKED });
    const turn = attached.send(script({ text: 'I write.', calls: [write('a.txt', 'one\n')] }, { text: 'Done.' }));
    await turn.result;
    const command = turn.stream.buttons.at(-1);
    const api = activate(await attached.editor.reload());
    await until(() => api.connections.some(({ phase }) => phase === 'attached'));
    await attached.run('reviewChanges', command?.arguments?.[0]);
    expect(shown(attached)[0]?.getText()).toContain('# write_file a.txt\n');
    const [reference] = (command?.arguments ?? []) as [object];
    for (const other of [{ prompt: 'another' }, { connection: 'gone' }, { turnId: null, sessionId: 'another' }]) {
      await attached.run('reviewChanges', { ...reference, ...other });
    }
    await attached.run('reviewChanges', 'rubbish');
    expect(shown(attached)).toHaveLength(1);
    expect(warnings(attached)).toEqual(Array(4).fill(expect.stringContaining('not known here any more')));
  });
});

describe('Review Changes of a Turn…', () => {
  it('without one says so', async () => {
    const attached = await AttachedEditor.open({ runtime: UNASKED });
    await attached.run('reviewChanges');
    expect(attached.narrated).toEqual([expect.stringContaining('no turn of this conversation is known')]);
  });

  it('with one shows it, with several asks which, the newest first', async () => {
    const attached = await AttachedEditor.open({ runtime: UNASKED });
    await attached.send(CHANGING).result;
    await attached.run('reviewChanges');
    expect(shown(attached)).toHaveLength(1);
    await attached.send(script({ calls: [write('b.txt', 'two\n')] }, { text: 'Done.' })).result;
    const labels = () => picker(attached.editor).items.map(({ detail }) => detail);
    attached.editor.escape();
    await attached.run('reviewChanges');
    expect(labels()).toEqual(['write_file', 'a.txt']);
    expect(shown(attached)).toHaveLength(1);
  });

  it('stands in the status menu once there is something to review', async () => {
    const attached = await AttachedEditor.open({ runtime: UNASKED });
    await attached.send(CHANGING).result;
    attached.editor.pick('$(diff) Review changes of a turn…');
    await attached.run('showStatus');
    expect(shown(attached)).toHaveLength(1);
  });
});

it('a document of changes that the editor opens by itself says what is known of it', async () => {
  const attached = await AttachedEditor.open({ runtime: UNASKED });
  const turn = attached.send(CHANGING);
  await turn.result;
  await attached.click(turn, 'Review changes');
  const uri = shown(attached)[0]?.uri;
  attached.editor.host.documents.length = 0;
  expect((await workspace.openTextDocument(Uri.parse(uri?.toString() ?? ''))).getText()).toContain('+one');
  const unknown = Uri.from({ scheme: 'supercode-changes', path: '/Changes.diff', query: '{' });
  expect((await workspace.openTextDocument(unknown)).getText()).toContain('not known here any more');
});

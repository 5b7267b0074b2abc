import { describe, expect, it } from 'vitest';
import * as vscode from '../doubles/vscode.js';
import type { ProxiedAnswer } from '../faults/proxy.js';
import { AttachedEditor, until } from './attachedEditor.js';
import { ProxiedEditor } from './proxiedEditor.js';

interface Offered {
  readonly id: string;
  readonly name: string;
  readonly maxInputTokens: number;
  readonly targetChatSessionType?: string;
  readonly statusIcon?: { readonly id: string };
}

const offeredIn = async ({ editor }: AttachedEditor) =>
  (await editor.host.modelProviders
    .get('supercode')
    ?.provideLanguageModelChatInformation({ silent: true }, new vscode.CancellationTokenSource().token)) as unknown as
    readonly Offered[] | undefined;

/** The runtime as a host would have it that runs another agent. */
const hosted = (harness: string) => (answer: ProxiedAnswer) => {
  const result = answer.result as { descriptor: object };
  return {
    ...answer,
    result: { ...result, descriptor: { ...result.descriptor, source_harness: harness, model: harness } },
  };
};

const open = (harness: string) =>
  ProxiedEditor.open({
    granted: true,
    faults: { call: ({ name }) => (name === 'attach' ? { kind: 'edit', edit: hosted(harness) } : undefined) },
  });

describe('who answers', () => {
  it('is the one model of the sessions, and the one that Chat shows, without limits that nobody stated', async () => {
    const attached = await AttachedEditor.open({ granted: true });
    const offered = await offeredIn(attached);
    expect(offered?.map(({ id, targetChatSessionType }) => [id, targetChatSessionType])).toEqual([
      ['runtime', undefined],
      ['session', 'supercode'],
    ]);
    expect(new Set(offered?.map(({ name }) => name))).toEqual(new Set(['Volter Harness · scripted/model']));
    expect(offered?.map(({ maxInputTokens }) => maxInputTokens)).toEqual([0, 0]);
  });

  it('is one model where the editor knows of no sessions', async () => {
    const offered = await offeredIn(await AttachedEditor.open());
    expect(offered?.map(({ id, targetChatSessionType }) => [id, targetChatSessionType])).toEqual([
      ['runtime', undefined],
    ]);
  });

  it.each([
    ['claude-code', 'Claude Code', 'claude'],
    ['codex', 'Codex', 'openai'],
  ])(
    'wears the name and the icon of %s in the picker, in the list and beside each reply',
    async (harness, name, icon) => {
      const { attached } = await open(harness);
      const offered = await offeredIn(attached);
      expect(offered?.map((model) => [model.name, model.statusIcon?.id])).toEqual([
        [name, icon],
        [name, icon],
      ]);
      const { participants, sessionControllers } = attached.editor.host;
      for (const id of ['supercode', 'supercode.chat', 'supercode.chat.default']) {
        expect(participants.get(id)?.iconPath).toEqual(new vscode.ThemeIcon(icon));
      }
      const { publications } = sessionControllers.get('supercode') as unknown as {
        readonly publications: readonly (readonly { iconPath: object; description: string }[])[];
      };
      await until(() => (publications.at(-1)?.length ?? 0) > 0);
      expect(publications.at(-1)).toMatchObject([{ iconPath: new vscode.ThemeIcon(icon), description: name }]);
    },
  );

  it('of no known provider wears the product’s own icon', async () => {
    const { attached } = await open('pi');
    expect(attached.editor.host.participants.get('supercode')?.iconPath).toBeInstanceOf(vscode.Uri);
    expect((await offeredIn(attached))?.[0]?.statusIcon).toBeUndefined();
  });
});

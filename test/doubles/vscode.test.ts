import * as vscode from 'vscode';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeEditor } from './editor.js';
import { ChatResponseWarningPart, ChatToolInvocationPart } from './vscode.js';

let editor: FakeEditor;
beforeEach(() => {
  editor = new FakeEditor();
});

describe('a response stream', () => {
  it('keeps what it was given in its order, each part as it was then', () => {
    const stream = editor.responseStream();
    const button = { title: 'Allow', command: 'allow' };
    const progress = new vscode.ChatResponseProgressPart('Looking…');
    stream.markdown('one ');
    stream.push(progress);
    progress.value = 'changed afterwards';
    stream.button(button);
    stream.markdown(new vscode.MarkdownString('two'));
    expect(stream.parts.map((part) => part.constructor.name)).toEqual([
      'ChatResponseMarkdownPart',
      'ChatResponseProgressPart',
      'ChatResponseCommandButtonPart',
      'ChatResponseMarkdownPart',
    ]);
    expect(stream.parts[1]).toEqual(new vscode.ChatResponseProgressPart('Looking…'));
    expect([stream.text, stream.buttons]).toEqual(['one two', [button]]);
  });

  it('refuses what is proposed as long as it is not granted', () => {
    const tool = new ChatToolInvocationPart('shell', 'call-1');
    const stock = editor.responseStream();
    for (const proposed of [
      () => stock.push(tool),
      () => stock.push(new ChatResponseWarningPart('careful')),
      () => stock.warning('careful'),
      () => stock.thinkingProgress({ text: 'hm' }),
      () => stock.codeblockUri(vscode.Uri.file('/a.ts')),
      () => stock.usage({ promptTokens: 1 }),
    ]) {
      expect(proposed).toThrow('CANNOT use API proposal: chatParticipantAdditions');
    }
    expect(stock.parts).toEqual([]);

    editor = new FakeEditor({ proposals: ['chatParticipantAdditions'] });
    const granted = editor.responseStream();
    granted.push(tool).warning('careful').usage({ promptTokens: 1 });
    expect(granted.parts).toHaveLength(3);
    expect(editor.context.extension.packageJSON).toEqual({ enabledApiProposals: ['chatParticipantAdditions'] });
  });

  it('throws once it is closed, granted or not, and takes no Markdown that is trusted as a whole', () => {
    const stream = editor.responseStream();
    const trusted = new vscode.MarkdownString('[x](command:x)');
    trusted.isTrusted = true;
    expect(() => stream.markdown(trusted)).toThrow('boolean form of MarkdownString.isTrusted');
    stream.close();
    for (const late of [() => stream.markdown('x'), () => stream.warning('x'), () => stream.progress('x')]) {
      expect(late).toThrow('Response stream has been closed');
    }
  });
});

describe('a prompt', () => {
  it('reaches the handler with its token and its context, and closes the stream behind it', async () => {
    vscode.chat.createChatParticipant('supercode.chat', async (request, context, stream, token) => {
      stream.markdown(request.prompt);
      await new Promise((resolve) => token.onCancellationRequested(resolve));
      return { metadata: { yielded: (context as { yieldRequested?: boolean }).yieldRequested } };
    });
    const turn = editor.send('supercode.chat', 'hello');
    await turn.stream.until(({ text }) => text === 'hello');
    expect(turn.stream.isClosed).toBe(false);
    turn.askToYield();
    turn.stop();
    expect(await turn.result).toEqual({ metadata: { yielded: true } });
    expect(turn.stream.isClosed).toBe(true);
  });
});

describe('a cancellation token', () => {
  it('tells once, and tells who asks too late', async () => {
    const source = new vscode.CancellationTokenSource();
    const [early, late] = [vi.fn(), vi.fn()];
    source.token.onCancellationRequested(early);
    source.cancel();
    source.cancel();
    expect([early.mock.calls.length, source.token.isCancellationRequested]).toEqual([1, true]);
    source.token.onCancellationRequested(late);
    expect(late).not.toHaveBeenCalled();
    await vi.waitFor(() => {
      expect(late).toHaveBeenCalledOnce();
    });
  });
});

describe('secrets', () => {
  it('are kept over a reload', async () => {
    await editor.context.secrets.store('token', 'abc');
    const { secrets } = await editor.reload();
    expect([await secrets.get('token'), await secrets.keys()]).toEqual(['abc', ['token']]);
  });

  it('may throw, hang or be forgotten', async () => {
    const { secrets } = editor.context;
    editor.secrets.mode = 'throws';
    await expect(secrets.get('token')).rejects.toThrow('locked');
    editor.secrets.mode = 'forgets';
    await secrets.store('token', 'abc');
    expect(await secrets.get('token')).toBeUndefined();
    editor.secrets.mode = 'hangs';
    const waited = await Promise.race([secrets.get('token'), editor.settled().then(() => 'still waiting')]);
    expect(waited).toBe('still waiting');
  });
});

describe('a URI', () => {
  it.each([
    ['file:///home/me/a%20b.ts', '/home/me/a b.ts'],
    ['file:///c%3A/Users/x.ts', 'c:/Users/x.ts'],
    ['file://server/share/x', '//server/share/x'],
    ['untitled:Untitled-1', 'Untitled-1'],
    ['vscode-remote://ssh-remote%2Bhost/home/%C3%A4%23.ts?q%3D1#L3', '/home/ä#.ts'],
  ])('%s comes back as it went in', (text, fsPath) => {
    const uri = vscode.Uri.parse(text);
    expect([uri.toString(), uri.fsPath, vscode.Uri.parse(uri.toString())]).toEqual([text, fsPath, uri]);
    expect(vscode.Uri.from(uri).toString()).toBe(text);
  });

  it('is made of a path, joined, changed and shown', () => {
    const uri = vscode.Uri.joinPath(vscode.Uri.file('/home'), 'src', '../a b#.ts');
    expect([uri.toString(), uri.toString(true)]).toEqual(['file:///home/a%20b%23.ts', 'file:///home/a b%23.ts']);
    expect(uri.with({ scheme: 'git', query: 'ref' }).toString()).toBe('git:/home/a%20b%23.ts?ref');
    expect(vscode.Uri.parse('file:///%E2%28').path).toBe('/%E2(');
  });
});

describe('the rest of the window', () => {
  it('keeps messages until somebody chooses, commands, context keys and settings', async () => {
    const chosen = vscode.window.showWarningMessage('Waits', 'Show', 'Later');
    editor.host.messages[0]?.choose('Show');
    expect(await chosen).toBe('Show');

    await vscode.commands.executeCommand('setContext', 'supercodeWaiting', true);
    await expect(vscode.commands.executeCommand('supercode.frontend.none')).rejects.toThrow('not found');
    expect(editor.host.contextKeys.get('supercodeWaiting')).toBe(true);

    const changes: boolean[] = [];
    vscode.workspace.onDidChangeConfiguration((event) =>
      changes.push(event.affectsConfiguration('supercode.frontend')),
    );
    editor.changeSetting('supercode.frontend.baseUrl', 'http://127.0.0.1:1');
    const settings = vscode.workspace.getConfiguration('supercode.frontend');
    expect([settings.get('baseUrl'), settings.get('clientId', 'none'), changes]).toEqual([
      'http://127.0.0.1:1',
      'none',
      [true],
    ]);
  });

  it('asks what a test answers', async () => {
    editor.pick('two');
    expect(await vscode.window.showQuickPick(['one', 'two'])).toBe('two');
    editor.escape();
    expect(await vscode.window.showQuickPick(['one'])).toBeUndefined();
    const asked = vscode.window.showInputBox({
      validateInput: (text) => (text === '' ? 'Write something.' : undefined),
    });
    editor.type('');
    editor.type('something');
    expect(await asked).toBe('something');
    expect(editor.host.questions.at(-1)).toMatchObject({ problems: ['Write something.'] });
  });

  it('offers the models of a provider, which another extension may ask', async () => {
    vscode.lm.registerLanguageModelChatProvider('supercode', {
      provideLanguageModelChatInformation: () => [
        {
          id: 'm',
          name: 'Model',
          family: 'f',
          version: '1',
          maxInputTokens: 1,
          maxOutputTokens: 1,
          capabilities: { toolCalling: true },
        },
      ],
      provideLanguageModelChatResponse: () => Promise.reject(vscode.LanguageModelError.NoPermissions('Ask in Chat.')),
      provideTokenCount: () => Promise.resolve(1),
    });
    const [model] = await vscode.lm.selectChatModels({ vendor: 'supercode' });
    expect(model).toMatchObject({ name: 'Model', vendor: 'supercode' });
    const message = vscode.LanguageModelChatMessage.User('hi');
    await expect(model?.sendRequest([message])).rejects.toMatchObject({ code: 'NoPermissions' });
  });
});

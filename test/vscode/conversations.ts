import { onTestFinished } from 'vitest';
import type * as vscode from 'vscode';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../src/runtime/embedded.js';
import type { SessionContent, SessionItem } from '../../src/vscode/proposed.js';
import { FaultProxy, type Faults } from '../faults/proxy.js';
import { CancellationTokenSource } from '../doubles/vscode/basics.js';
import { ChatRequestTurn2, ChatResponseMarkdownPart, ChatResponseTurn2 } from '../doubles/vscode/chatParts.js';
import type { FakeEditor } from '../doubles/editor.js';
import { Uri } from '../doubles/vscode/uri.js';
import type { AttachedEditor } from './attachedEditor.js';
import { until } from './attachedEditor.js';

/** Another runtime behind a proxy that counts, and the name that its connection has once `connect` was called. */
export interface AnotherRuntime {
  readonly runtime: EmbeddedRuntime;
  readonly proxy: FaultProxy;
  /** Hands it over, and waits for the attachment unless that is not wanted. */
  connect(options?: { readonly wait?: boolean }): Promise<string>;
}

export async function anotherRuntime({ api }: AttachedEditor, faults: Faults = {}): Promise<AnotherRuntime> {
  const runtime = await startEmbeddedRuntime();
  const proxy = await new FaultProxy({ url: runtime.url, token: runtime.mint('c-2') }).listen();
  proxy.faults = faults;
  onTestFinished(async () => {
    proxy.close();
    await runtime.kill();
  });
  return {
    runtime,
    proxy,
    connect: async ({ wait = true } = {}) => {
      const id = await api.connect({ baseUrl: proxy.url, token: proxy.token, clientId: 'c-2' });
      if (id === undefined) throw new Error('nothing was connected');
      if (wait) await until(() => api.connections.find((each) => each.id === id)?.phase === 'attached');
      return id;
    },
  };
}

/** One whose attachment takes until `release` is called. */
export async function slowRuntime(attached: AttachedEditor) {
  let release: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  const other = await anotherRuntime(attached, {
    call: ({ name }) => (name === 'attach' ? { kind: 'hold', until } : undefined),
  });
  return { ...other, id: await other.connect({ wait: false }), release };
}

export const resource = (connection = 'environment') => Uri.parse(`supercode://${connection}/conversation`);

/** What the editor asks for when a session is opened. */
export const contentOf = ({ editor }: AttachedEditor, of?: vscode.Uri) => contentIn(editor, of);

export async function contentIn(editor: FakeEditor, of: vscode.Uri = resource()): Promise<SessionContent> {
  const provider = editor.host.sessionContents.get('supercode') as {
    provideChatSessionContent(resource: object): Promise<SessionContent>;
  };
  return provider.provideChatSessionContent(of);
}

/** A session's turns, as a person reads them. */
export const toldIn = ({ history }: SessionContent) =>
  history.map((turn) => {
    if (turn instanceof ChatRequestTurn2) return `> ${turn.prompt}`;
    const parts = turn instanceof ChatResponseTurn2 ? turn.response : [];
    return parts
      .map((part) => (part instanceof ChatResponseMarkdownPart ? part.value.value.trim() : part.constructor.name))
      .join(' ');
  });

/** What the active response of a session draws, and its end. */
export function follow({ editor }: AttachedEditor, content: SessionContent) {
  const stream = editor.responseStream();
  const source = new CancellationTokenSource();
  const drawn = content.activeResponseCallback?.(stream, source.token);
  const stop = () => {
    source.cancel();
  };
  return { stream, drawn: Promise.resolve(drawn), stop };
}

export interface InputState {
  readonly groups: readonly {
    readonly id: string;
    readonly name: string;
    readonly kind?: string;
    readonly items: readonly { readonly id: string; readonly name: string }[];
    readonly selected?: { readonly id: string };
  }[];
  change(groups: readonly object[]): void;
}

export interface ItemController {
  readonly publications: readonly (readonly SessionItem[])[];
  refreshHandler(): Promise<void>;
  getChatSessionInputState(resource: object | undefined): Promise<InputState>;
}

export const controllerOf = ({ editor }: AttachedEditor) =>
  editor.host.sessionControllers.get('supercode') as unknown as ItemController;

export const pickedIn = (state: InputState) => state.groups[0]?.selected?.id;

/** What a person picks below the composer. */
export function pickPermission(state: InputState, id: string): void {
  const [group] = state.groups;
  state.change([{ ...group, selected: group?.items.find((item) => item.id === id) }]);
}

/** A command as another extension calls it. */
export const command = ({ editor }: AttachedEditor, name: string, ...args: readonly unknown[]) =>
  Promise.resolve(editor.host.commands.get(`supercode.frontend.${name}`)?.(...args));

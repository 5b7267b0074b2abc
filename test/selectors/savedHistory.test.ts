import { describe, expect, it } from 'vitest';
import type { HistoryMessage } from '../../src/protocol/frontend-v2.js';
import { selectConversationRows } from '../../src/selectors/conversations.js';
import { selectHistoryTurns } from '../../src/selectors/historyTurns.js';
import { opened } from '../../src/store/connections.js';
import type { RootState } from '../../src/store/state.js';
import { delta, event, turnStart } from '../doubles/runtime.js';
import { assistant, attach, fold, receive, system, user } from '../store/conversation.js';

const ENVIRONMENT = '<environment_context>\n  <cwd>/home</cwd>\n</environment_context>';

/** A host hands a runtime over together with the conversation as it keeps it. */
function handedOver(transcript: readonly HistoryMessage[]) {
  const credential = { kind: 'secret', key: 'k' } as const;
  const target = { baseUrl: 'http://127.0.0.1:1', clientId: 'me', credential, permissions: null };
  return opened({ connection: 'c', origin: 'host', target, before: { transcript } });
}

const told = (root: RootState) =>
  selectHistoryTurns(root, 'c').flatMap(({ prompt, parts }) => [
    `> ${prompt ?? '(marker)'}`,
    ...parts.map((part) => ('text' in part ? part.text : part.kind)),
  ]);
const LIVE = [...turnStart(1, 'three'), delta(3, 'C.'), event(4, 'turn_succeeded')];
const KEPT = [user('one'), assistant('A.'), user('two'), assistant('B.')];

describe('the conversation as a host keeps it', () => {
  it.each([
    ['nothing', []],
    ['the system prompt', [system('You are an agent.')]],
    ['what the harness wrote itself', [system('You are an agent.'), user(ENVIRONMENT)]],
  ])('is shown where the runtime has saved %s, in front of what happens live', (_, history) => {
    const root = fold([handedOver(KEPT), attach({ history })]);
    expect(told(root)).toEqual(['> one', 'A.', '> two', 'B.']);
    expect(selectConversationRows(root)[0]?.label).toBe('one');
    const later = fold(receive(LIVE), root);
    expect(told(later)).toEqual(['> one', 'A.', '> two', 'B.', '> three', 'C.']);
    // Memoised, and not for a moment what it was before.
    expect(selectHistoryTurns(later, 'c')).toBe(selectHistoryTurns(later, 'c'));
  });

  it('gives way to what the runtime itself has saved', () => {
    const root = fold([handedOver(KEPT), attach({ history: [user('mine'), assistant('M.')] }), ...receive(LIVE)]);
    expect(told(root)).toEqual(['> mine', 'M.', '> three', 'C.']);
  });

  it('takes the place of nothing that was seen live, however late it comes', () => {
    const root = fold([handedOver([]), attach(), ...receive(LIVE)]);
    expect(told(root)).toEqual(['> three', 'C.']);
    expect(told(fold([handedOver(KEPT)], root))).toEqual(['> one', 'A.', '> two', 'B.', '> three', 'C.']);
  });
});

describe('[defect E63] what a harness wrote in a person’s name', () => {
  it('is no turn of the history, saved or heard; what mixes it with a person’s words is', () => {
    const mixed = `${ENVIRONMENT}\nand fix it`;
    const history = [user(ENVIRONMENT), user('one'), assistant('A.'), user(mixed), assistant('B.')];
    const root = fold([
      handedOver([]),
      attach({ history }),
      ...receive([...turnStart(1, ENVIRONMENT), ...turnStart(3, 'go')]),
    ]);
    expect(told(root).filter((line) => line.startsWith('>'))).toEqual(['> one', `> ${mixed}`, '> go']);
    // What the runtime sent stays as it is.
    expect(root.transcript['c']?.history).toBe(history);
  });
});

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { hostSnapshotSchema } from '../../src/protocol/host.js';
import {
  effortsOf,
  selectAgents,
  selectConversationRows,
  selectDefaultPermission,
  selectEffective,
  selectEffectiveOf,
  selectIsManaged,
  selectIsReady,
  selectModels,
  selectNewChatPermission,
  selectPause,
} from '../../src/selectors/host.js';
import { answered, gone, joined, requested, succeeded, watchedChanged } from '../../src/store/host.js';
import { emptyState } from '../../src/store/replay.js';
import { rootReducer } from '../../src/store/root.js';
import { lacking, NOTHING_READY, READY } from '../support/hostAnswers.js';

const snapshotOf = (answer: object) => v.parse(hostSnapshotSchema, answer);
const after = (...actions: Parameters<typeof rootReducer>[1][]) => actions.reduce(rootReducer, emptyState());
const saying = (answer: object) => after(joined(), answered({ snapshot: snapshotOf(answer) }));

describe('what is seen of a host', () => {
  it('is nothing, and not “nothing ready”, before its first answer', () => {
    for (const root of [emptyState(), after(joined())]) {
      expect([selectIsReady(root), selectConversationRows(root), selectAgents(root)]).toEqual([undefined, [], []]);
      expect(selectNewChatPermission(root)).toBe('ask');
      expect(selectEffective(root)).toBeUndefined();
    }
    expect(selectConversationRows(emptyState())).toBe(selectConversationRows(after(joined())));
  });

  it('are its conversations, the newest first, with their true times, and which of them is open', () => {
    const root = saying(READY);
    expect(selectConversationRows(root)).toEqual([
      {
        id: 'live-1',
        title: 'codex',
        created: 1791500000000,
        harness: 'codex',
        model: '',
        effort: '',
        isActive: true,
        isBound: false,
      },
      {
        id: 'saved-2',
        title: 'Repair the lap timer',
        created: 1791412345678,
        harness: 'claude-code',
        model: 'opus',
        effort: 'xhigh',
        isActive: false,
        isBound: true,
      },
    ]);
    expect(selectConversationRows(root)).toBe(selectConversationRows(root));
    expect([selectIsManaged(root, 'saved-2'), selectIsManaged(root, 'outside')]).toEqual([true, false]);
  });

  it('are titles fit for a list', () => {
    const long = { ...READY.sessions[0], title: `\u001b[31mred\u0007 ${'x'.repeat(1000)}` };
    const [row] = selectConversationRows(saying({ ...READY, sessions: [long] }));
    expect(row?.title.startsWith('red x')).toBe(true);
    expect(row?.title.length).toBeLessThanOrEqual(256);
  });

  it('F17: is how a conversation starts, of its own row alone; a new one shows the host’s choice', () => {
    const root = saying(READY);
    expect(selectDefaultPermission(root, 'live-1')).toBe('autoApprove');
    expect(selectDefaultPermission(root, 'saved-2')).toBe('ask');
    expect(selectDefaultPermission(root, 'outside')).toBeUndefined();
    expect(selectNewChatPermission(root)).toBe('autoApprove');
  });

  it('[defect F83, F87] are the agents that it lists, and no others; one of unknown sign-in can be chosen', () => {
    expect(
      selectAgents(saying(READY)).map(({ harness, startable, signedIn, offers }) => [
        harness,
        startable,
        signedIn,
        offers,
      ]),
    ).toEqual([
      ['codex', true, true, null],
      ['claude-code', true, false, 'login'],
    ]);
    const [codex] = READY.setup.agents;
    const one = { ...READY, setup: { ...READY.setup, agents: [codex] } };
    expect(selectAgents(saying(one)).map(({ harness }) => harness)).toEqual(['codex']);
  });

  it('[defect F74] are the agents all the same where the host has a reason to complain', () => {
    const root = saying({ ...NOTHING_READY, setup: { ...NOTHING_READY.setup, reason: 'npm refused a folder.' } });
    expect(selectAgents(root).map(({ harness, offers }) => [harness, offers])).toEqual([
      ['codex', 'install'],
      ['claude-code', 'install'],
    ]);
  });

  it('are the agents that can be told from what an older host offers', () => {
    const actions = [...READY.setup.actions, { kind: 'install', harness: 'pi', name: 'Pi', command: 'x' }];
    const root = saying({ ...READY, setup: { ...lacking(READY.setup, 'agents'), actions } });
    expect(
      selectAgents(root).map(({ harness, installed, signedIn, startable, offers }) => [
        harness,
        installed,
        signedIn,
        startable,
        offers,
      ]),
    ).toEqual([
      ['codex', true, true, true, null],
      ['claude-code', true, false, true, 'login'],
      ['pi', false, false, false, 'install'],
    ]);
    expect(selectIsReady(saying(lacking(READY, 'setup')))).toBe(true);
    expect(selectIsReady(saying(lacking(READY, 'setup', 'connection')))).toBe(false);
  });

  it('[defect E69] are exactly the levels of reasoning of a model, in its order; three for a host that says nothing of them', () => {
    const root = saying({
      ...READY,
      modelsByHarness: {
        codex: [
          { id: '', name: 'Default' },
          { id: 'm', name: 'M', efforts: ['low', 'xhigh', 'max'] },
          { id: 'n', name: 'N', efforts: [] },
        ],
      },
    });
    expect(selectModels(root, 'codex').map(effortsOf)).toEqual([
      ['low', 'medium', 'high'],
      ['low', 'xhigh', 'max'],
      [],
    ]);
    expect(selectModels(root, 'nobody').map(({ id }) => id)).toEqual(['']);
    expect(selectModels(saying(lacking(READY, 'modelsByHarness')), 'codex')).toHaveLength(1);
    expect(selectModels(root, 'codex')).toBe(selectModels(root, 'codex'));
  });

  it('[defect E67] is the model that really runs, and none that is made up', () => {
    const root = saying(READY);
    expect(selectEffective(root)).toEqual(READY.effective);
    expect(selectEffectiveOf(root, 'claude-code')?.modelName).toBe('Claude Opus 5.5');
    for (const effective of [null, undefined, { model: '', modelName: '', effort: 'high' }]) {
      expect(selectEffective(saying({ ...READY, effective }))).toBeUndefined();
    }
    expect(selectEffectiveOf(root, 'nobody')).toBeUndefined();
  });

  it('is asked for again while nothing is ready, sooner while a step is outstanding, and only while somebody looks', () => {
    const look = watchedChanged({ watched: true });
    const ready = answered({ snapshot: snapshotOf(READY) });
    const step = {
      kind: 'login',
      harness: 'codex',
      name: '',
      command: '',
      cwd: '',
      program: '/p',
      arguments: [],
      env: null,
    } as const;
    const setup = [
      requested({ operation: 'o', request: { kind: 'setup', step: 'login', harness: 'codex' } }),
      succeeded({ operation: 'o', result: { kind: 'setup', step } }),
    ];
    expect(selectPause(after(joined()))).toBeUndefined();
    expect(selectPause(after(joined(), look))).toBe(5_000);
    expect(selectPause(after(joined(), look, ...setup))).toBe(1_000);
    expect(selectPause(after(joined(), look, ready))).toBeUndefined();
    expect(selectPause(after(joined(), look, ready, ...setup))).toBe(1_000);
    expect(selectPause(after(joined(), look, ...setup, gone({ message: 'm' })))).toBeUndefined();
    expect(selectPause(after(look))).toBeUndefined();
  });
});

import type { UnknownAction } from '@reduxjs/toolkit';
import { describe, expect, it } from 'vitest';
import { attemptStarted, closed, gaveUp, refused, replayRefused } from '../../src/store/connections.js';
import { connectionFocused } from '../../src/store/focus.js';
import { reported } from '../../src/store/lease.js';
import { policyChosen } from '../../src/store/permissions.js';
import { answerRequested } from '../../src/store/requests.js';
import { interruptAcknowledged, interruptFailed, interruptRequested } from '../../src/store/turn.js';
import { statusText } from '../../src/vscode/statusBar.js';
import { approval, DESCRIPTOR, turnStart } from '../doubles/runtime.js';
import { attach, fold, open, receive } from '../store/conversation.js';

const C = { connection: 'c' };
const attached = [open(), attach()];
const shown = (...actions: readonly UnknownAction[]) => statusText(fold(actions));
const tooltipLines = (...actions: readonly UnknownAction[]) => shown(...actions)?.tooltip.split('  \n') ?? [];
const IDENTITY = '**Volter Harness · scripted\\/model** at http\\:\\/\\/127\\.0\\.0\\.1\\:1';

describe('the status bar', () => {
  it('says nothing where there is no runtime', () => {
    expect(statusText(fold([]))).toBeUndefined();
  });

  it.each<[phase: string, actions: readonly UnknownAction[], text: string, why: string | undefined]>([
    ['connecting', [open()], '$(sync~spin) Connecting', undefined],
    ['attached', attached, '$(comment-discussion) Volter Harness · scripted/model', undefined],
    [
      'attached, at a gap',
      [...attached, replayRefused({ ...C, message: 'gone', at: 1 })],
      '$(comment-discussion) Volter Harness · scripted/model',
      undefined,
    ],
    [
      'reconnecting',
      [...attached, attemptStarted({ ...C, attempt: 2, lost: 'ended', at: 1 })],
      '$(sync~spin) Reconnecting',
      undefined,
    ],
    [
      'refused',
      [...attached, refused({ ...C, refusal: { reason: 'unauthenticated', message: 'Who are you?' } })],
      '$(debug-disconnect) Refused',
      'Who are you\\?',
    ],
    [
      'lost',
      [...attached, gaveUp({ ...C, message: 'nobody [there](command:x)' })],
      '$(debug-disconnect) Connection lost',
      'The runtime could not be reached\\: nobody \\[there\\]\\(command\\:x\\)',
    ],
    ['closed', [...attached, closed(C)], '$(debug-disconnect) Not connected', 'The connection was closed\\.'],
  ])('names a connection that is %s', (_, actions, text, why) => {
    expect(shown(...actions)).toMatchObject({ text, waits: false });
    const lines = tooltipLines(...actions);
    expect(lines[0]).toContain('at http\\:\\/\\/127\\.0\\.0\\.1\\:1');
    expect(lines[1]).toBe(text.includes('·') ? 'Connected' : text.replace(/^\$\(\S+\) /, ''));
    expect(lines[2]).toBe(why);
  });

  it.each([
    [{ holder: 'me', mine: true }, undefined, 'In control'],
    [{ holder: null, mine: false }, undefined, 'Watching'],
    [{ holder: '*rival*', mine: false }, undefined, 'Watching \\(\\*rival\\* is in control\\)'],
    [{ holder: 'me', mine: true }, { holder: 'rival-1', mine: false }, 'Control taken by rival\\-1'],
    [{ holder: 'me', mine: true }, { holder: null, mine: false }, 'Control lost'],
  ])('says who has control: %j, then %j', (first, then, said) => {
    const reports = [first, ...(then ? [then] : [])].map((each) =>
      reported({ ...C, ttlMs: 30_000, sentAt: 1, ...each }),
    );
    expect(tooltipLines(...attached, ...reports)).toEqual([IDENTITY, 'Connected', said]);
    // Of a connection that is not there it is not known.
    expect(tooltipLines(...attached, ...reports, closed(C))).not.toContain(said);
  });

  it('says what the turn does, and keeps what went wrong as text', () => {
    const running = [...attached, ...receive(turnStart(1))];
    const turnId = fold(running).turn['c']?.current;
    const id = turnId && 'turnId' in turnId ? turnId.turnId : '';
    const stop = interruptRequested({ ...C, turnId: id, at: 1 });
    expect(tooltipLines(...running).at(-1)).toBe('Working');
    expect(tooltipLines(...running, stop).at(-1)).toBe('Stop requested');
    expect(tooltipLines(...running, stop, interruptAcknowledged({ ...C, turnId: id, at: 1 })).at(-1)).toBe('Stopping');
    const problem = '![x](https://evil.test) [y](command:y)';
    const failed = interruptFailed({ ...C, turnId: id, problem, at: 1 });
    expect(tooltipLines(...running, stop, failed).at(-1)).toBe(
      'Working \\(Stop did not get through\\: \\!\\[x\\]\\(https\\:\\/\\/evil\\.test\\) \\[y\\]\\(command\\:y\\)\\)',
    );
  });

  it('counts what waits for a person, in all conversations', () => {
    const both = [...attached, ...receive([approval(1, 7), approval(2, 8)]), open('d'), attach({ connection: 'd' })];
    const waiting = [...both, ...receive([approval(1, 7)], 'd')];
    expect(shown(...waiting)).toMatchObject({
      text: '$(bell-dot) Volter Harness · scripted/model (3 waiting)',
      waits: true,
    });
    const [first, other] = shown(...waiting)?.tooltip.split('\n\n') ?? [];
    expect(first).toContain('2 requests wait for your answer');
    expect(other).toContain('One request waits for your answer');
    const answer = { kind: 'approval', request_id: 7, decision: 'allow' } as const;
    const answering = answerRequested({ ...C, answer, label: 'Allow', by: 'person' });
    expect(shown(...waiting, answering)?.text).toContain('(2 waiting)');
    // A policy answers by itself.
    expect(shown(...waiting, policyChosen({ ...C, policy: 'allow' }))?.text).toContain('(1 waiting)');
  });

  it('is about the conversation in focus', () => {
    const actions = [...attached, open('d'), gaveUp({ connection: 'd', message: 'x' })];
    expect(shown(...actions)?.text).toBe('$(debug-disconnect) Connection lost');
    expect(shown(...actions, connectionFocused(C))?.text).toBe('$(comment-discussion) Volter Harness · scripted/model');
  });

  it('draws no icon and makes no link of what a runtime calls itself, and keeps the count however long that is', () => {
    const named = (model: string) => [open(), attach({ descriptor: { ...DESCRIPTOR, model } })];
    const hostile = shown(...named('$(trash) [x](command:y)'));
    expect(hostile?.text).toBe('$(comment-discussion) Volter Harness · \\$(trash) [x] (command:y)');
    expect(hostile?.tooltip).toContain('\\$\\(trash\\) \\[x\\]\\(command\\:y\\)');
    const long = shown(...named('👩‍👩‍👧'.repeat(60)), ...receive([approval(1, 7)]));
    expect(long?.text).toMatch(/^\$\(bell-dot\) Volter Harness · (?:👩‍👩‍👧)+… \(1 waiting\)$/u);
    expect(long?.text.length).toBeLessThan(100);
  });
});

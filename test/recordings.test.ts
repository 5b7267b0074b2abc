import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { selectHistoryTurns } from '../src/selectors/historyTurns.js';
import { selectNewParts, startCursor } from '../src/selectors/newParts.js';
import { sha256Hex } from '../src/services/node/hash.js';
import { canonicalJson } from '../src/store/canonical.js';
import { emptyState, replay } from '../src/store/replay.js';
import { STATE_VERSION } from '../src/store/state.js';
import { drawParts, drawTurns } from './support/draw.js';
import { makeRecording, RECORDINGS } from './support/makeRecordings.js';

/** Writes the logs and their golden files anew; see `support/makeRecordings`. */
const RESET = process.env['RESET_RECORDINGS'] === '1';
const FOLDER = new URL('./recordings/', import.meta.url);

const fileOf = (name: string) => new URL(`${name}.jsonl`, FOLDER);
const linesOf = (name: string) =>
  readFileSync(fileOf(name), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

function expectGolden(name: string, lines: readonly string[]) {
  const file = new URL(`./golden/recordings/${name}.txt`, import.meta.url);
  const text = `${lines.join('\n')}\n`;
  if (RESET) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the recordings', () => {
  if (RESET) {
    it('are made anew', async () => {
      for (const name of RECORDINGS) writeFileSync(fileOf(name), `${(await makeRecording(name)).join('\n')}\n`);
    });
  }

  it('are those that can be made', () => {
    const files = readdirSync(FOLDER).flatMap((name) => (name.endsWith('.jsonl') ? name.replace('.jsonl', '') : []));
    expect(files.sort()).toEqual([...RECORDINGS].sort());
  });

  it.each(RECORDINGS)('of %s replays whole, to the state that was recorded', (name) => {
    const replayed = replay(linesOf(name));
    expect(replayed.damage).toEqual([]);
    expect(replayed.n).toBeGreaterThan(10);
    // A log of an older shape of the state keeps its parts; its hash is no longer compared.
    if (replayed.header?.stateVersion !== STATE_VERSION) expect(replayed.recordedHash).toBeUndefined();
    else expect(sha256Hex(canonicalJson(replayed.state))).toBe(replayed.recordedHash);
  });

  it.each(RECORDINGS)('of %s looks as it did', (name) => {
    const { state } = replay(linesOf(name));
    const { current, ended } = state.turn['c'] ?? { current: { phase: 'idle' }, ended: [] };
    expectGolden(name, [
      '# parts',
      ...drawParts(selectNewParts(state, 'c', startCursor(state, 'c')).parts),
      '# turns',
      ...ended.map(({ turnId, outcome, message }) => `${turnId} ${outcome} ${message}`.trim()),
      `now ${current.phase}`,
      '# history',
      ...drawTurns(selectHistoryTurns(state, 'c')),
    ]);
  });

  it.each(RECORDINGS)('of %s reads the same step by step, and from any step on', (name) => {
    const lines = linesOf(name);
    let cursor = startCursor(emptyState(), 'c');
    let texts: Record<string, string> = {};
    const { state, n } = replay(lines, {
      onAction: (_, stepped) => {
        if (cursor.generation !== (stepped.transcript['c']?.generation ?? 0)) {
          cursor = startCursor(stepped, 'c');
          texts = {};
        }
        const news = selectNewParts(stepped, 'c', cursor);
        cursor = news.cursor;
        for (const part of news.parts) {
          if (part.kind === 'markdown') texts[part.id] = (texts[part.id] ?? '') + part.text;
        }
      },
    });
    const whole = selectNewParts(state, 'c', startCursor(state, 'c')).parts;
    expect(texts).toEqual(
      Object.fromEntries(whole.flatMap((part) => (part.kind === 'markdown' ? [[part.id, part.text]] : []))),
    );
    expect(Object.keys(texts).length).toBeGreaterThan(0);
    for (let at = 0; at <= n; at++) expect(replay(lines, { at }).n).toBe(at);
  });
});

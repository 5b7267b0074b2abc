import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { selectHistoryTurns } from '../src/selectors/historyTurns.js';
import { selectNewParts, startCursor } from '../src/selectors/newParts.js';
import type { ChatPart } from '../src/selectors/parts.js';
import { emptyState } from '../src/store/replay.js';
import { rootReducer } from '../src/store/root.js';
import { drawParts, drawTurns } from './support/draw.js';
import { actionsOf, observers, scenarios } from './support/traffic.js';

const RESET = process.env['RESET_GOLDEN'] === '1';

/** `RESET_GOLDEN=1` writes the files anew; read the difference before you keep it. */
function expectGolden(name: string, lines: readonly string[]) {
  const file = new URL(`./golden/${name}.txt`, import.meta.url);
  const text = `${lines.join('\n')}\n`;
  if (RESET) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

describe.each(scenarios().filter((scenario) => observers(scenario).length > 0))(
  'the recorded traffic of %s',
  (scenario) => {
    const clients = observers(scenario);

    it.each(clients)('folds to what client %s sees', (client) => {
      let state = emptyState();
      for (const action of actionsOf(scenario, client, () => state)) state = rootReducer(state, action);
      const { parts } = selectNewParts(state, client, startCursor(state, client));
      const ended = (state.turn[client]?.ended ?? []).map(({ turnId, outcome, message }) =>
        `${turnId} ${outcome} ${message}`.trim(),
      );
      expectGolden(`${scenario}.${client}`, [
        '# parts',
        ...drawParts(parts),
        '# turns',
        ...ended,
        `now ${state.turn[client]?.current.phase ?? 'idle'}`,
        '# history',
        ...drawTurns(selectHistoryTurns(state, client)),
      ]);
    });

    it.each(clients)('reads the same to client %s at once and piece by piece', (client) => {
      let state = emptyState();
      let cursor = startCursor(state, client);
      const pieces: ChatPart[] = [];
      for (const action of actionsOf(scenario, client, () => state)) {
        state = rootReducer(state, action);
        if (cursor.generation !== (state.transcript[client]?.generation ?? 0)) {
          cursor = startCursor(state, client);
          pieces.length = 0;
        }
        const read = selectNewParts(state, client, cursor);
        cursor = read.cursor;
        pieces.push(...read.parts);
      }
      const whole = selectNewParts(state, client, startCursor(state, client)).parts;
      expect(textOf(pieces)).toEqual(textOf(whole));
      expect(new Set(pieces.map(({ id }) => id))).toEqual(new Set(whole.map(({ id }) => id)));
    });
  },
);

it('is not vacuous: most scenarios have a client that watches', () => {
  expect(scenarios().filter((scenario) => observers(scenario).length > 0).length).toBeGreaterThan(35);
});

function textOf(parts: readonly ChatPart[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const part of parts) {
    if (part.kind === 'markdown' || part.kind === 'thinking') texts[part.id] = (texts[part.id] ?? '') + part.text;
  }
  return texts;
}

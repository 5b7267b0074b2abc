import { describe, expect, it } from 'vitest';
import type { TurnDouble } from '../doubles/editor.js';
import { AskingRuntime } from './askingRuntime.js';
import { AttachedEditor, until } from './attachedEditor.js';
import { ProxiedEditor, type ProxiedOptions } from './proxiedEditor.js';

const QUESTION = '/demo question';
/** To ask a person is a tool too: here it needs no leave. */
const OPEN: ProxiedOptions = { granted: true, runtime: { toolApproval: 'never' } };
const CHOSEN = { q1: { selectedValue: 'PostgreSQL' }, q2: { selectedValues: ['Linux'], freeformValue: 'BeOS' } };
const CONTENT = { q1: 'PostgreSQL', q2: ['Linux', 'BeOS'] };

async function asked(turn: TurnDouble, nth = 0) {
  await turn.stream.until(({ carousels }) => carousels.length > nth);
  const carousel = turn.stream.carousels[nth];
  if (!carousel) throw new Error('nothing was asked');
  return carousel;
}

describe('the questions of an elicitation, where the editor has a form of its own', () => {
  it('are asked there, and what was chosen reaches the agent once', async () => {
    const line = await ProxiedEditor.open(OPEN);
    const turn = line.attached.send(QUESTION);
    const carousel = await asked(turn);
    expect(carousel.questions).toMatchObject([
      { id: 'q1', type: 2, title: 'Database', options: [{ value: 'SQLite' }, { value: 'PostgreSQL' }] },
      { id: 'q2', type: 3, title: 'Platforms', allowFreeformInput: true },
    ]);
    // A question that may be skipped is skipped by the editor with the next prompt.
    expect(carousel.allowSkip).toBe(false);
    // Whoever likes the buttons better has them.
    expect(turn.stream.buttons.map(({ title }) => title)).toEqual(['Answer…', 'Decline', 'Cancel']);
    carousel.answer(CHOSEN);
    await turn.result;
    expect(line.proxy.calls.filter(({ name }) => name === 'respond').map(({ params }) => params)).toEqual([
      { response: { kind: 'elicitation', request_id: 1, action: 'accept', content: CONTENT } },
    ]);
    expect(turn.stream.carousels).toHaveLength(1);
  });

  it('[defect C40] are asked again with what was answered, where that did not get through', async () => {
    const line = await ProxiedEditor.open({
      ...OPEN,
      faults: {
        call: ({ name, nth }) => (name === 'respond' && nth === 0 ? { kind: 'answer', status: 400 } : undefined),
      },
    });
    const turn = line.attached.send(QUESTION);
    (await asked(turn)).answer(CHOSEN);
    const again = await asked(turn, 1);
    expect(line.attached.editor.host.messages.map(({ text }) => text).join()).toContain('can be given again');
    expect(again.questions).toMatchObject([{ defaultValue: 'PostgreSQL' }, { defaultValue: ['Linux', 'BeOS'] }]);
    again.answer(CHOSEN);
    await turn.result;
    expect(line.accepted).toEqual(['1 accept']);
  });

  it('are asked again where an answer does not fit, and nothing is sent', async () => {
    const runtime = await AskingRuntime.open({ granted: true });
    const { attached } = runtime;
    const turn = attached.send('/demo slow');
    await turn.stream.until(({ text }) => text.includes('item'));
    await runtime.form({ port: { type: 'integer', minimum: 1 } });
    (await asked(turn)).answer({ port: 'many' });
    const again = await asked(turn, 1);
    expect(attached.editor.host.messages.map(({ text }) => text)).toEqual(['port: write a whole number, at least 1.']);
    expect([runtime.answers, runtime.waiting]).toEqual([[], 1]);
    again.answer({ port: '8080' });
    await until(() => runtime.answers.length === 1);
    expect(runtime.answers).toMatchObject([{ content: { port: 8080 } }]);
    turn.stop();
    await turn.result;
  });

  it('wait on when the response is over before they were answered', async () => {
    const runtime = await AskingRuntime.open({ granted: true });
    const { attached } = runtime;
    const turn = attached.send('/demo slow');
    await turn.stream.until(({ text }) => text.includes('item'));
    await runtime.form({ name: { type: 'string' } });
    const carousel = await asked(turn);
    turn.stream.close();
    carousel.answer(undefined);
    await attached.run('respond', undefined);
    expect([runtime.answers, runtime.waiting]).toEqual([[], 1]);
    turn.stop();
    await turn.result;
  });

  it.each(['first', 'last'] as const)('are answered by whoever is first: this form is %s', async (order) => {
    const line = await ProxiedEditor.open(OPEN);
    const turn = line.attached.send(QUESTION);
    const carousel = await asked(turn);
    if (order === 'first') carousel.answer(CHOSEN);
    await line.attached.click(turn, 'Decline');
    if (order === 'last') carousel.answer(CHOSEN);
    await turn.result;
    expect(line.accepted).toEqual([order === 'first' ? '1 accept' : '1 decline']);
    expect(line.proxy.count('respond')).toBe(1);
    expect(line.attached.narrated).toContain('Volter Harness: already resolved.');
  });

  it('stand under buttons alone in an editor that grants nothing, and where they are more than its form carries', async () => {
    const stock = await AttachedEditor.open({ runtime: { toolApproval: 'never' } });
    const turn = stock.send(QUESTION);
    await stock.click(turn, 'Decline');
    await turn.result;
    expect(turn.stream.carousels).toEqual([]);
  });

  it('that may be left open, or are a free list, are asked by the form', async () => {
    const runtime = await AskingRuntime.open({ granted: true });
    const turn = runtime.attached.send('/demo slow');
    await turn.stream.until(({ text }) => text.includes('item'));
    await runtime.ask('elicitation', {
      message: 'Optional',
      requested_schema: { type: 'object', properties: { note: { type: 'string' } } },
    });
    await runtime.form({ tags: { type: 'array', items: { type: 'string' } } });
    await turn.stream.until(({ buttons }) => buttons.length === 6);
    expect(turn.stream.carousels).toEqual([]);
    turn.stop();
    await turn.result;
  });
});

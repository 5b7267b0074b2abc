import { describe, expect, it } from 'vitest';
import { selectConversationRows } from '../../src/selectors/conversations.js';
import { isHarnessText } from '../../src/selectors/harnessText.js';
import { turnStart } from '../doubles/runtime.js';
import { attach, fold, heard, open, user } from '../store/conversation.js';

const ENVIRONMENT = '<environment_context>\n  <cwd>/home</cwd>\n</environment_context>';
const INSTRUCTIONS = '<user_instructions>\nBe brief.\n</user_instructions>';

describe('[defect E63] a message in a person’s name', () => {
  it.each([
    ENVIRONMENT,
    `\n${INSTRUCTIONS}\n\n${ENVIRONMENT}\n`,
    '<permissions instructions>Ask first.</permissions instructions>',
  ])('is the harness’s where all of it is tagged so: %j', (text) => {
    expect(isHarnessText(text)).toBe(true);
  });

  it.each([
    '',
    '  ',
    'please fix it',
    `${ENVIRONMENT}\nplease fix it`,
    `please fix ${ENVIRONMENT}`,
    '<environment_context>never closed',
    '<div>tagged</div>',
    '<environment_context>a</user_instructions>',
  ])('is the person’s where it is not, or only in part: %j', (text) => {
    expect(isHarnessText(text)).toBe(false);
  });

  it('is passed over where it names the conversation, be it saved or heard', () => {
    const history = [user(INSTRUCTIONS), user(ENVIRONMENT), user('fix the test')];
    const rows = selectConversationRows(fold([open('d'), attach({ connection: 'd', history })], heard([])));
    expect(rows.map(({ label }) => label)).toContain('fix the test');
    const live = heard([...turnStart(1, ENVIRONMENT), ...turnStart(3, 'and the other')]);
    expect(selectConversationRows(live)[0]?.label).toBe('and the other');
  });

  it('costs what it holds: else this would not end', () => {
    const many = ENVIRONMENT.repeat(20_000);
    expect([
      isHarnessText(many),
      isHarnessText(`${many}x`),
      isHarnessText('<environment_context>'.repeat(50_000)),
    ]).toEqual([true, false, false]);
  });
});

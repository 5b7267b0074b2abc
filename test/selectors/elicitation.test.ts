import { readFileSync } from 'node:fs';
import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/protocol/requests.js';
import { FIELDS_LIMIT, fieldsOf, type Field } from '../../src/selectors/elicitation.js';
import { distinctLabel } from '../../src/selectors/schema.js';
import { contentOf } from '../../src/selectors/elicitationContent.js';

const schemaOf = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});
/** The one field of a schema with one property, by the name `x`. */
function field(property: Json, required = true): Field {
  const [only] = fieldsOf(schemaOf({ x: property }, required ? ['x'] : []));
  if (only === undefined) throw new Error('the schema gave no field');
  return only;
}
const answer = (property: Json, given: string | readonly string[], required = true) =>
  contentOf([field(property, required)], { x: given });
const FREE_TEXT = [expect.objectContaining({ name: 'answer', type: 'string', options: [], freeText: true })];

/** The schema that the runtime really sent for `ask_user`. */
function recordedSchema(): JsonObject {
  const log = readFileSync(new URL('../fixtures/frontend-v2/elicitation.jsonl', import.meta.url), 'utf8');
  const sent = /"requested_schema":(\{.*?"required":\["q1","q2"\]\})/.exec(log)?.[1];
  if (sent === undefined) throw new Error('the recording has no such schema');
  return JSON.parse(sent) as JsonObject;
}

describe('the fields of an elicitation', () => {
  it('are the questions of ask_user, with their suggestions', () => {
    const [database, platforms] = fieldsOf(recordedSchema());
    expect(database).toEqual({
      name: 'q1',
      title: 'Database',
      description: 'Which database should the service use? (options: sqlite | postgres; free text is also accepted)',
      type: 'string',
      options: [
        { label: 'sqlite', value: 'sqlite', description: 'one file' },
        { label: 'postgres', value: 'postgres' },
      ],
      freeText: true,
      multi: false,
      required: true,
      bounds: {},
    });
    expect(platforms).toMatchObject({ name: 'q2', type: 'array', itemType: 'string', multi: true, freeText: true });
    expect(platforms?.options.map(({ label }) => label)).toEqual(['linux', 'windows']);
  });

  it('take their options from whatever names them', () => {
    const labels = (property: Json) => field(property).options.map(({ label, value }) => [label, value]);
    expect(labels({ enum: ['a', 2, true] })).toEqual([
      ['a', 'a'],
      ['2', 2],
      ['true', true],
    ]);
    expect(labels({ enum: ['a', 'b'], enumNames: ['First', 'Second'] })).toEqual([
      ['First', 'a'],
      ['Second', 'b'],
    ]);
    expect(labels({ oneOf: [{ const: 'a', title: 'First' }, { const: 'b' }, 'junk'] })).toEqual([
      ['First', 'a'],
      ['b', 'b'],
    ]);
    expect(labels({ type: 'array', items: { anyOf: [{ const: 1, title: 'One' }] } })).toEqual([['One', 1]]);
    expect(labels({ type: 'array', items: { enum: ['a'] } })).toEqual([['a', 'a']]);
    expect(labels({ type: 'boolean' })).toEqual([
      ['Yes', true],
      ['No', false],
    ]);
    expect(field({ enum: ['a'] }).freeText).toBe(false);
    expect(field({ enum: ['a'], 'x-options': ['b'] }).freeText).toBe(true);
  });

  it('know type, bounds and default', () => {
    expect(field({ type: 'integer', minimum: 1, exclusiveMaximum: 9, default: 3 }, false)).toMatchObject({
      type: 'integer',
      bounds: { min: 1, below: 9 },
      default: 3,
      required: false,
    });
    expect(field({ type: ['null', 'number'], maximum: 9, default: 'junk' })).toEqual({
      name: 'x',
      title: 'x',
      type: 'number',
      options: [],
      freeText: true,
      multi: false,
      required: true,
      bounds: { max: 9 },
    });
    expect(field({ type: 'string', minLength: 2, maxLength: 5, minimum: 7 }).bounds).toEqual({ min: 2, max: 5 });
  });

  it('follow references within the schema', () => {
    const schema: JsonObject = {
      $ref: '#/$defs/Ask',
      $defs: { Ask: schemaOf({ x: { $ref: '#/$defs/a~1b~0c' } }), 'a/b~c': { type: 'integer', title: 'Count' } },
    };
    expect(fieldsOf(schema)).toMatchObject([{ name: 'x', title: 'Count', type: 'integer' }]);
  });

  it('are none where there is nothing to fill in', () => {
    expect([fieldsOf(null), fieldsOf({}), fieldsOf({ type: 'object' }), fieldsOf(schemaOf({}))]).toEqual([
      [],
      [],
      [],
      [],
    ]);
  });

  it.each<[string, JsonObject]>([
    ['properties that are no object', { type: 'object', properties: ['x'] }],
    ['a reference to itself', { $ref: '#' }],
    ['references in a circle', { $ref: '#/a', a: { $ref: '#/b' }, b: { $ref: '#/a' } }],
    ['a reference to nothing', { $ref: '#/nowhere' }],
    ['a reference to elsewhere', { $ref: 'https://evil.example/schema.json' }],
    ['a reference into what objects inherit', { $ref: '#/__proto__' }],
    ['no object at all', { type: 'string' }],
  ])('[fault 37] are one free text for a schema with %s', (_, schema) => {
    expect(fieldsOf(schema)).toEqual(FREE_TEXT);
  });

  it.each<[string, Json]>([
    ['nothing', null],
    ['a number', 7],
    ['true', true],
    ['a list', []],
    ['a reference to the whole schema', { $ref: '#' }],
    ['a reference to itself', { $ref: '#/properties/x' }],
    ['an object', { type: 'object', properties: { deep: {} } }],
    ['junk in every place', { type: 7, title: [], description: {}, enum: 'a', oneOf: {}, items: 3, 'x-options': 1 }],
    ['junk options', { 'x-options': [null, 7, { label: 3 }, { label: '' }, []], oneOf: [null, {}] }],
  ])('[fault 37] are free text for a property that is %s', (_, property) => {
    expect(field(property)).toMatchObject({ name: 'x', title: 'x', type: 'string', options: [], freeText: true });
  });

  it('[fault 37] stay few and short, however large the schema', () => {
    const huge = {
      title: 'x'.repeat(1_000_000),
      description: 'y'.repeat(1_000_000),
      enum: Array<string>(5000).fill('z'),
    };
    const fields = fieldsOf(schemaOf(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, huge]))));
    expect(fields).toHaveLength(FIELDS_LIMIT);
    expect(fields[0]?.title).toHaveLength(256);
    expect(fields[0]?.description?.length).toBeLessThanOrEqual(2048);
    expect(fields[0]?.description).toMatch(/y… \(997,\d{3} more characters\)$/);
    expect(fields[0]?.options).toHaveLength(200);
  });

  it('[fault 37] survive names that objects already have', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"integer"},"constructor":{}}}') as JsonObject;
    const fields = fieldsOf(schema);
    expect(fields.map(({ name, type }) => [name, type])).toEqual([
      ['__proto__', 'integer'],
      ['constructor', 'string'],
    ]);
    const given = JSON.parse('{"__proto__":"5"}') as Record<string, string>;
    expect(JSON.stringify(contentOf(fields, given))).toBe('{"content":{"__proto__":5}}');
  });

  property.prop([fc.jsonValue({ maxDepth: 5 }), fc.jsonValue()])('[fault 37] never throw', (value, more) => {
    const schema = { properties: value, required: more, $defs: value } as JsonObject;
    const fields = fieldsOf(schema);
    expect(contentOf(fields, Object.fromEntries(fields.map(({ name }) => [name, 'x'])))).toBeDefined();
  });

  it('[fault 34] have clean labels, told apart', () => {
    const options = field({ enum: ['a\u202e', 'a\u202e', 'x\ny', '', 'x y'] }).options;
    expect(options.map(({ label }) => label)).toEqual(['a⟨U+202E⟩', 'a⟨U+202E⟩ (2)', 'x y', 'Unnamed', 'x y (2)']);
    const taken = new Set(['a', 'a (2)']);
    expect(distinctLabel('a', taken)).toBe('a (3)');
    expect(distinctLabel('b'.repeat(1_000_000), taken)).toHaveLength(80);
  });
});

describe('the content that answers give', () => {
  it('answers ask_user by a suggestion or in own words', () => {
    const fields = fieldsOf(recordedSchema());
    expect(contentOf(fields, { q1: 'my own database', q2: ['linux', 'plan 9'] })).toEqual({
      content: { q1: 'my own database', q2: ['linux', 'plan 9'] },
    });
    expect(contentOf(fields, { q1: 'sqlite', q2: 'linux' })).toEqual({ content: { q1: 'sqlite', q2: ['linux'] } });
  });

  it.each<[string, Json, string | readonly string[], Json]>([
    ['a number', { type: 'number' }, ' -1.5e2 ', -150],
    ['a whole number', { type: 'integer' }, '42', 42],
    ['yes', { type: 'boolean' }, 'Yes', true],
    ['no, in other words', { type: 'boolean' }, ' FALSE ', false],
    ['the label of an option', { oneOf: [{ const: 7, title: 'Seven' }] }, 'Seven', 7],
    ['the value of an option', { enum: [7, 8] }, '8', 8],
    ['a text with its spaces', { type: 'string' }, ' a ', ' a '],
    ['a list of numbers', { type: 'array', items: { type: 'integer' } }, ['1', '2', '1'], [1, 2]],
    ['a length in characters, not units', { type: 'string', maxLength: 2 }, '😀😀', '😀😀'],
    ['a bound', { type: 'number', minimum: 1, maximum: 1 }, '1', 1],
  ])('takes %s', (_, schema, given, value) => {
    expect(answer(schema, given)).toEqual({ content: { x: value } });
  });

  it.each<[string, Json, string | readonly string[], string]>([
    ['nothing', {}, '', 'x: an answer is needed.'],
    ['spaces', {}, '  ', 'x: an answer is needed.'],
    ['no list', { type: 'array' }, [], 'x: an answer is needed.'],
    ['words for a number', { type: 'number' }, 'five', 'x: write a number, such as 42.'],
    ['hexadecimal', { type: 'number' }, '0x10', 'x: write a number, such as 42.'],
    ['infinity', { type: 'number' }, '1e999', 'x: write a number, such as 42.'],
    ['a fraction', { type: 'integer' }, '1.5', 'x: write a whole number, such as 42.'],
    [
      'too much',
      { type: 'integer', minimum: 1, maximum: 9 },
      '10',
      'x: write a whole number, at least 1 and at most 9.',
    ],
    ['too little', { type: 'number', exclusiveMinimum: 0 }, '0', 'x: write a number, more than 0.'],
    ['the upper limit itself', { type: 'number', exclusiveMaximum: 5 }, '5', 'x: write a number, less than 5.'],
    ['a text too short', { minLength: 3 }, 'ab', 'x: write at least 3 characters; you wrote 2.'],
    ['a text too long', { maxLength: 1 }, 'ab', 'x: write at most 1 character; you wrote 2.'],
    ['no option', { enum: ['a', 'b'] }, 'c', 'x: choose one of: a, b.'],
    ['maybe', { type: 'boolean' }, 'maybe', 'x: answer yes or no.'],
    ['two for one', {}, ['a', 'b'], 'x: give one answer only.'],
    ['too few', { type: 'array', minItems: 2 }, ['a'], 'x: choose at least 2 answers; you chose 1.'],
    [
      'a wrong one among several',
      { type: 'array', items: { type: 'number' } },
      ['1', 'b'],
      'x: write a number, such as 42.',
    ],
  ])('says what to do about %s', (_, schema, given, problem) => {
    expect(answer(schema, given)).toEqual({ problem });
  });

  it('names some of many options', () => {
    expect(answer({ enum: Array.from({ length: 30 }, (_, i) => `o${i}`) }, 'x')).toEqual({
      problem: 'x: choose one of: o0, o1, o2, o3, o4, o5, o6, o7, o8, o9 and 20 more.',
    });
  });

  it('leaves out what need not be answered, and fills in a default that nobody took away', () => {
    const fields = fieldsOf(schemaOf({ a: {}, b: { default: 'given' }, c: { default: 'given' } }));
    expect(contentOf(fields, { a: '', c: '' })).toEqual({ content: { b: 'given' } });
    expect(contentOf(fields, { toString: 'x' })).toEqual({ content: { b: 'given', c: 'given' } });
  });
});

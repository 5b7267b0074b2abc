import type { Json, JsonObject } from '../protocol/requests.js';
import { isScalar, type Field, type FieldBounds, type FieldOption, type FieldType } from './elicitation.js';

/** What came of a person's answers: the content of an `accept`, or what to do about the first that does not fit. */
export type ContentOrProblem = { readonly content: JsonObject } | { readonly problem: string };

/**
 * The content for `fields`, out of answers by field name: the labels or values of options, or free text. Unanswered
 * fields take their default or are left out.
 */
export function contentOf(
  fields: readonly Field[],
  answers: Readonly<Record<string, string | readonly string[]>>,
): ContentOrProblem {
  const entries: [string, Json][] = [];
  for (const field of fields) {
    const given = Object.hasOwn(answers, field.name) ? answers[field.name] : undefined;
    const texts = (typeof given === 'string' ? [given] : (given ?? [])).filter((text) => text.trim() !== '');
    if (texts.length > 0) {
      const result = field.multi ? listOf(field, texts) : singleOf(field, texts);
      if ('problem' in result) return { problem: `${field.title}: ${result.problem}` };
      entries.push([field.name, result.value]);
    } else if (given === undefined && field.default !== undefined) {
      entries.push([field.name, field.default]);
    } else if (field.required) {
      return { problem: `${field.title}: an answer is needed.` };
    }
  }
  // Not by assignment: a property may be called `__proto__`.
  return { content: Object.fromEntries(entries) };
}

type Converted = { readonly value: Json } | { readonly problem: string };

function singleOf(field: Field, texts: readonly string[]): Converted {
  const [text = ''] = texts;
  if (texts.length > 1) return { problem: 'give one answer only.' };
  return valueOf(field, field.type === 'array' ? 'string' : field.type, text);
}

function listOf(field: Field, texts: readonly string[]): Converted {
  const values: Json[] = [];
  for (const text of new Set(texts)) {
    const converted = valueOf(field, field.itemType ?? 'string', text);
    if ('problem' in converted) return converted;
    values.push(converted.value);
  }
  return within(values.length, field.bounds)
    ? { value: values }
    : { problem: `choose ${range(field.bounds, 'answer')}; you chose ${values.length}.` };
}

function valueOf(field: Field, type: FieldType, text: string): Converted {
  const option =
    field.options.find(({ label }) => label === text) ??
    field.options.find(({ value }) => isScalar(value) && String(value) === text.trim());
  if (option) return { value: option.value };
  if (type === 'boolean') return booleanOf(text);
  if (!field.freeText) return { problem: `choose one of: ${labelsOf(field.options)}.` };
  const bounds = field.multi ? {} : field.bounds;
  if (type === 'number' || type === 'integer') return numberOf(text, type, bounds);
  const length = Array.from(text).length;
  return within(length, bounds)
    ? { value: text }
    : { problem: `write ${range(bounds, 'character')}; you wrote ${length}.` };
}

function booleanOf(text: string): Converted {
  const word = text.trim().toLowerCase();
  if (['yes', 'y', 'true', 'on', '1'].includes(word)) return { value: true };
  return ['no', 'n', 'false', 'off', '0'].includes(word) ? { value: false } : { problem: 'answer yes or no.' };
}

function numberOf(text: string, type: 'number' | 'integer', bounds: FieldBounds): Converted {
  const value = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text.trim()) ? Number(text) : NaN;
  const isNumber = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (isNumber && within(value, bounds)) return { value };
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  return { problem: isBounded(bounds) ? `write ${kind}, ${range(bounds)}.` : `write ${kind}, such as 42.` };
}

function within(value: number, { min, max, above, below }: FieldBounds): boolean {
  if (min !== undefined && value < min) return false;
  if (max !== undefined && value > max) return false;
  if (above !== undefined && value <= above) return false;
  return below === undefined || value < below;
}

const isBounded = (bounds: FieldBounds) => Object.keys(bounds).length > 0;

/** The bounds in words, of what is counted where something is. */
function range({ min, max, above, below }: FieldBounds, counted?: string): string {
  const words = [
    min === undefined ? [] : [`at least ${min}`],
    above === undefined ? [] : [`more than ${above}`],
    max === undefined ? [] : [`at most ${max}`],
    below === undefined ? [] : [`less than ${below}`],
  ].flat();
  const unit = counted === undefined ? '' : ` ${counted}${(max ?? min) === 1 ? '' : 's'}`;
  return `${words.join(' and ')}${unit}`;
}

const NAMED_OPTIONS = 10;

function labelsOf(options: readonly FieldOption[]): string {
  const named = options.slice(0, NAMED_OPTIONS).map(({ label }) => label);
  return options.length > NAMED_OPTIONS
    ? `${named.join(', ')} and ${options.length - NAMED_OPTIONS} more`
    : named.join(', ');
}

import type { Json, JsonObject } from '../protocol/requests.js';
import { OPAQUE_LIMIT, revealedText, revealedTitle } from './bounds.js';
import { asksSomething, distinctLabel, isObject, own, resolve } from './schema.js';

/** More questions than this nobody answers one after the other. */
export const FIELDS_LIMIT = 64;
const OPTIONS_LIMIT = 200;

export type FieldType = 'string' | 'number' | 'integer' | 'boolean' | 'array';

/** One question to a person: a property of the schema of an elicitation, as plain, clean data. */
export interface Field {
  /** The property's name in the content, as the schema spells it. */
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly type: FieldType;
  /** Of a list: what its items are. */
  readonly itemType?: Exclude<FieldType, 'array'>;
  readonly options: readonly FieldOption[];
  /** Whether something else than an option may be answered. */
  readonly freeText: boolean;
  /** Whether several answers may be given. */
  readonly multi: boolean;
  readonly required: boolean;
  readonly default?: Json;
  readonly bounds: FieldBounds;
}

export interface FieldOption {
  /** What a person picks: one line, told apart from its neighbours. */
  readonly label: string;
  readonly description?: string;
  readonly value: Json;
}

/** Of a number its range, of a text its length in characters, of a list how many items. */
export interface FieldBounds {
  readonly min?: number;
  readonly max?: number;
  readonly above?: number;
  readonly below?: number;
}

/**
 * What to ask a person so that the content fits `schema`. Nothing where the schema has no properties; one free text where
 * what it has can't be read. A schema may be invalid, huge or refer to itself.
 */
export function fieldsOf(schema: JsonObject | null): readonly Field[] {
  if (schema === null || !asksSomething(schema)) return [];
  const { properties = null, required = null } = resolve(schema, schema) ?? {};
  if (!isObject(properties)) return [FREE_TEXT];
  const names = Object.keys(properties).slice(0, FIELDS_LIMIT);
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return names.map((name) => fieldOf(name, resolve(own(properties, name), schema) ?? {}, schema, isRequired(name)));
}

/** How many questions a schema has that `fieldsOf` leaves out. */
export function omittedFields(schema: JsonObject | null): number {
  const properties = schema && resolve(schema, schema)?.['properties'];
  return isObject(properties) ? Math.max(0, Object.keys(properties).length - FIELDS_LIMIT) : 0;
}

const FREE_TEXT: Field = {
  name: 'answer',
  title: 'Answer',
  type: 'string',
  options: [],
  freeText: true,
  multi: false,
  required: true,
  bounds: {},
};

function fieldOf(name: string, property: JsonObject, root: JsonObject, required: boolean): Field {
  const type = typeOf(property) ?? 'string';
  const items = type === 'array' ? (resolve(own(property, 'items'), root) ?? {}) : undefined;
  const itemType = items && typeOf(items);
  const suggested = list(property['x-options']);
  const options = optionsOf(items ?? property, suggested, type);
  const preset = own(property, 'default');
  return {
    name,
    title: revealedTitle(textOf(property['title']) ?? '') || revealedTitle(name) || 'Answer',
    ...describe(property['description']),
    type,
    ...(items ? { itemType: itemType === undefined || itemType === 'array' ? 'string' : itemType } : {}),
    options,
    freeText: options.length === 0 || suggested.length > 0,
    multi: type === 'array',
    required,
    ...(preset !== undefined && fits(preset, type) ? { default: preset } : {}),
    bounds: boundsOf(property, type),
  };
}

const TYPES: readonly FieldType[] = ['string', 'number', 'integer', 'boolean', 'array'];

function typeOf(property: JsonObject): FieldType | undefined {
  const named = own(property, 'type');
  return TYPES.find((type) => (Array.isArray(named) ? named.includes(type) : named === type));
}

function optionsOf(property: JsonObject, suggested: readonly Json[], type: FieldType): readonly FieldOption[] {
  const alternatives = [list(property['oneOf']), list(property['anyOf'])].find((all) => all.some(isConstant)) ?? [];
  const names = list(property['enumNames']);
  const raw: { label: string; value: Json; description?: Json | undefined }[] = [
    ...suggested.flatMap((option) => {
      const label = isObject(option) ? textOf(option['label']) : textOf(option);
      return label ? [{ label, value: label, description: isObject(option) ? option['description'] : undefined }] : [];
    }),
    ...list(property['enum']).map((value, at) => ({ label: textOf(names[at]) ?? labelOf(value), value })),
    ...alternatives.filter(isConstant).map((option) => ({
      label: textOf(option['title']) ?? labelOf(option['const']),
      value: option['const'],
      description: option['description'],
    })),
  ];
  if (raw.length === 0 && type === 'boolean') raw.push({ label: 'Yes', value: true }, { label: 'No', value: false });
  const taken = new Set<string>();
  return raw.slice(0, OPTIONS_LIMIT).map(({ label, value, description }) => ({
    label: distinctLabel(label, taken),
    value,
    ...describe(description),
  }));
}

const isConstant = (option: Json): option is JsonObject & { const: Json } => isObject(option) && 'const' in option;
const labelOf = (value: Json) => (isScalar(value) ? String(value) : 'Unnamed');

const BOUND_KEYS: Readonly<Record<FieldType, Readonly<Record<string, keyof FieldBounds>>>> = {
  string: { minLength: 'min', maxLength: 'max' },
  number: { minimum: 'min', maximum: 'max', exclusiveMinimum: 'above', exclusiveMaximum: 'below' },
  integer: { minimum: 'min', maximum: 'max', exclusiveMinimum: 'above', exclusiveMaximum: 'below' },
  boolean: {},
  array: { minItems: 'min', maxItems: 'max' },
};

function boundsOf(property: JsonObject, type: FieldType): FieldBounds {
  const known = Object.entries(BOUND_KEYS[type]).map(([key, bound]) => [bound, own(property, key)] as const);
  return Object.fromEntries(known.filter(([, value]) => typeof value === 'number'));
}

function describe(description: Json | undefined): { description?: string } {
  const text = textOf(description);
  return text ? { description: revealedText(text, OPAQUE_LIMIT) } : {};
}

function fits(value: Json, type: FieldType): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  return typeof value === type;
}

export const isScalar = (value: Json) => typeof value !== 'object';
const textOf = (value: Json | undefined) => (typeof value === 'string' ? value : undefined);
const list = (value: Json | undefined) => (Array.isArray(value) ? (value as readonly Json[]) : []);

import type { Json, JsonObject } from '../protocol/requests.js';
import { revealedTitle } from './bounds.js';

const REFERENCES_LIMIT = 16;

/** Whether a schema has anything to ask; one that can't be read asks for a free text. */
export function asksSomething(schema: JsonObject): boolean {
  const root = resolve(schema, schema);
  const { properties = null } = root ?? {};
  if (isObject(properties)) return Object.keys(properties).length > 0;
  return root === undefined || properties !== null || !isObjectType(root);
}

/** Follows local references; undefined where they lead nowhere or in a circle. */
export function resolve(schema: Json | undefined, root: JsonObject): JsonObject | undefined {
  let here = schema;
  for (let hop = 0; hop < REFERENCES_LIMIT; hop++) {
    if (!isObject(here)) return undefined;
    const reference = own(here, '$ref');
    if (typeof reference !== 'string') return here;
    if (!reference.startsWith('#')) return undefined;
    here = reference
      .slice(1)
      .split('/')
      .slice(1)
      .reduce<Json | undefined>((at, key) => own(at, key.replaceAll('~1', '/').replaceAll('~0', '~')), root);
  }
  return undefined;
}

const isObjectType = (schema: JsonObject) => [undefined, null, 'object'].includes(own(schema, 'type') as string | null);

const LABEL_LIMIT = 80;

/** A clean label of one line that is not yet in `taken`, and puts it there. */
export function distinctLabel(raw: string, taken: Set<string>): string {
  const label = revealedTitle(raw, LABEL_LIMIT) || 'Unnamed';
  let distinct = label;
  for (let count = 2; taken.has(distinct); count++) distinct = `${label} (${count})`;
  taken.add(distinct);
  return distinct;
}

/** A member of its own: a schema may name `constructor` or `__proto__`. */
export function own(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as JsonObject)[key];
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { RULES, type SecretKind } from './redactionRules.js';

/** A text that is known to be nobody else's business wherever it stands. */
export interface KnownSecret {
  readonly kind: SecretKind;
  readonly value: string;
}

/** What is put in the place of `text.slice(start, end)`. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Replaces what says who and where somebody is, and what looks like a credential, by labels such as `⟨token 1⟩`. One
 * value has one label for as long as the redactor lives, so that a reader still sees what belongs together. What looks
 * like nothing stays: a person has to look before sharing.
 */
export class Redactor {
  readonly #known: readonly (KnownSecret & { readonly pattern: RegExp })[];
  readonly #labels = new Map<string, string>();
  readonly #counts = new Map<SecretKind, number>();

  constructor(known: readonly KnownSecret[]) {
    this.#known = known
      .filter(({ value }) => value.length >= SHORTEST)
      // The folder of a file in front of the folder that it is in: the longer name says more.
      .toSorted((a, b) => b.value.length - a.value.length)
      .map((secret) => ({ ...secret, pattern: patternOf(secret.value) }));
  }

  /** How many different values of each kind were replaced so far. */
  get counts(): ReadonlyMap<SecretKind, number> {
    return this.#counts;
  }

  text(text: string): string {
    return replaced(text, this.replacements(text));
  }

  /** In order, and none over another. */
  replacements(text: string): readonly Replacement[] {
    const found = [...this.#found(text)].sort((a, b) => a.start - b.start || b.end - a.end);
    const merged: Found[] = [];
    for (const each of found) {
      const last = merged.at(-1);
      if (last === undefined || each.start >= last.end) merged.push(each);
      // Of two that overlap nothing may stay: one label stands for both.
      else if (each.end > last.end) merged[merged.length - 1] = { kind: last.kind, start: last.start, end: each.end };
    }
    return merged.map(({ kind, start, end, value = text.slice(start, end) }) => ({
      start,
      end,
      text: this.label(kind, value),
    }));
  }

  /** The label that stands for this value everywhere. */
  label(kind: SecretKind, value: string): string {
    const key = `${kind} ${value}`;
    const known = this.#labels.get(key);
    if (known !== undefined) return known;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const label = `⟨${kind} ${number}⟩`;
    this.#labels.set(key, label);
    return label;
  }

  *#found(text: string): Generator<Found> {
    for (const { kind, value, pattern } of this.#known) {
      for (const { index, 0: match } of text.matchAll(pattern)) {
        yield { kind, start: index, end: index + match.length, value };
      }
    }
    for (const { kind, pattern, isSecret } of RULES) {
      for (const { indices, groups } of text.matchAll(pattern)) {
        for (const [name, value] of Object.entries(groups ?? {})) {
          const place = indices?.groups?.[name];
          if (place === undefined || name.startsWith('_') || isSecret?.(value) === false) continue;
          yield { kind, start: place[0], end: place[1] };
        }
      }
    }
  }
}

interface Found {
  readonly kind: SecretKind;
  readonly start: number;
  readonly end: number;
  /** Of a known one, however it is written there. */
  readonly value?: string;
}

/** A shorter one is part of too many words. */
const SHORTEST = 3;

export function replaced(text: string, replacements: readonly Replacement[]): string {
  if (replacements.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, text: label } of replacements) {
    pieces.push(text.slice(at, start), label);
    at = end;
  }
  return pieces.join('') + text.slice(at);
}

/** A value as a word of its own; of a path also with its separators escaped, as in JSON, or written the other way round. */
function patternOf(value: string): RegExp {
  const escaped = value
    .split(/[\\/]+/)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[\\\\/]{1,4}');
  return new RegExp(`${/^\w/.test(value) ? '(?<!\\w)' : ''}${escaped}(?!\\w)`, 'gi');
}

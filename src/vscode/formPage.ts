import type * as vscode from 'vscode';
import type { Json } from '../protocol/requests.js';
import type { Field } from '../selectors/elicitation.js';

/** Of one field, in the words that `contentOf` takes: nothing for its default, an empty one to leave it out. */
export type Given = string | readonly string[] | undefined;

/** One question of a form. */
export interface Page {
  readonly field: Field;
  readonly title: string;
  /** Its number and how many there are; absent where there is but one. */
  readonly step?: number;
  readonly totalSteps?: number;
  readonly hasBack: boolean;
  readonly preset: Preset;
  readonly token: vscode.CancellationToken | undefined;
}

/** What stands there at first. */
export interface Preset {
  /** Options. */
  readonly labels: readonly string[];
  /** What is no option. */
  readonly rest: readonly string[];
  /** Whether it is the schema's default, and not what the person answered before going back. */
  readonly isDefault: boolean;
  /** Whether the person left it out before going back. */
  readonly isLeftOut: boolean;
}

export type Turned = { readonly given: Given } | 'back' | 'left';

export function presetOf({ options, default: preset }: Field, before: Given): Preset {
  if (before !== undefined) {
    const texts = [before].flat().filter((text) => text !== '');
    const isLabel = (text: string) => options.some(({ label }) => label === text);
    const rest = texts.filter((text) => !isLabel(text));
    return { labels: texts.filter(isLabel), rest, isDefault: false, isLeftOut: texts.length === 0 };
  }
  const values = preset === undefined ? [] : Array.isArray(preset) ? (preset as readonly Json[]) : [preset];
  const optionOf = (value: Json) => options.find((option) => JSON.stringify(option.value) === JSON.stringify(value));
  return {
    labels: values.flatMap((value) => optionOf(value)?.label ?? []),
    rest: values.filter((value) => optionOf(value) === undefined).map(textOf),
    isDefault: preset !== undefined,
    isLeftOut: false,
  };
}

const textOf = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value));

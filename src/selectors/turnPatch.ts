import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff/lib/patch/create.js';
import { cutAtCodePoint } from '../protocol/bounded.js';
import type { JsonObject } from '../protocol/requests.js';
import { title } from './bounds.js';
import { formOf, pathIn, textIn } from './requestPreview.js';
import { reveal } from './sanitise.js';
import type { EditCall, TurnChanges } from './turnChanges.js';

/** UTF-16 units: an editor shows no longer text to an extension. */
export const PATCH_LIMIT = 16 * 1024 * 1024;

/**
 * What a turn changed, as one patch to read. The runtime's own account stands as it is; where there is none, what the
 * tools were asked to do is put into the form of a patch, with nothing added that they were not told: no file is read, so
 * a replaced part has no line numbers of its file. What can't be seen is spelled out.
 */
export function turnPatch({ prompt, diff, edits }: TurnChanges): string {
  const about = `# Changes of the turn${prompt === null ? '' : `: ${title(prompt)}`}`;
  const text =
    diff === undefined
      ? [
          about,
          '# The runtime gave no diff: this is what its tools were asked to change. Line numbers count within each part.',
          ...edits.map(editPatch),
        ]
      : [about, '# As the runtime reported them.', reveal(diff)];
  const whole = `${text.map((piece) => piece.replace(/\n$/, '')).join('\n\n')}\n`;
  if (whole.length <= PATCH_LIMIT) return whole;
  const kept = cutAtCodePoint(whole, PATCH_LIMIT);
  return `${kept}\n# … ${(whole.length - kept.length).toLocaleString('en-US')} more characters are not shown.\n`;
}

function editPatch(call: EditCall): string {
  const args = argumentsOf(call);
  const path = args && lineOf(pathIn(args) ?? '');
  const end = call.isComplete ? '' : ' (whether it was done is not known)';
  const label = `# ${title(call.name)}${path ? ` ${path}` : ''}${end}`;
  if (call.omitted > 0) return `${label}\n${reveal(call.arguments)}\n# ${notKept(call.omitted)}`;
  return `${label}\n${args ? bodyOf(formOf(call.name), args, path ?? '', call) : reveal(call.arguments)}`;
}

function notKept(omitted: number): string {
  return `… ${omitted.toLocaleString('en-US')} more characters of this call were too many to keep.`;
}

function bodyOf(form: string, args: JsonObject, path: string, call: EditCall): string {
  switch (form) {
    case 'apply_patch':
      return reveal(textIn(args, 'patch', 'input') ?? call.arguments);
    case 'write': {
      const content = textIn(args, 'content');
      return content === undefined
        ? reveal(call.arguments)
        : patchOf(path, '', content, 'what stood there is not known');
    }
    case 'edit':
      return replacement(args, path) ?? reveal(call.arguments);
    case 'multiedit': {
      const edits = Array.isArray(args['edits']) ? (args['edits'] as readonly unknown[]) : [];
      const patches = edits.map((edit) => (isObject(edit) ? replacement(edit, path) : undefined));
      return patches.length > 0 && patches.every((patch) => patch !== undefined)
        ? patches.join('\n')
        : reveal(call.arguments);
    }
    default:
      return reveal(call.arguments);
  }
}

function replacement(args: JsonObject, path: string): string | undefined {
  const [before, after] = [textIn(args, 'old_string'), textIn(args, 'new_string')];
  if (before === undefined || after === undefined) return undefined;
  return patchOf(path, before, after, args['replace_all'] === true ? 'every occurrence' : 'the replaced part');
}

/** More than so many changed lines are not compared: that would take longer than anybody waits. */
const COMPARED = 2_000;

function patchOf(path: string, before: string, after: string, remark: string): string {
  const [old, changed] = [before, after].map((text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`));
  const patch = createTwoFilesPatch(path, path, old ?? '', changed ?? '', remark, '', {
    maxEditLength: COMPARED,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return reveal(
    patch ?? [`--- ${path}\t${remark}`, `+++ ${path}`, signed(before, '-') + signed(after, '+')].join('\n'),
  );
}

function signed(text: string, sign: string): string {
  return text === '' ? '' : `${sign}${text.replace(/\n$/, '').replaceAll('\n', `\n${sign}`)}\n`;
}

function argumentsOf({ arguments: text }: EditCall): JsonObject | undefined {
  try {
    const args: unknown = JSON.parse(text);
    return isObject(args) ? args : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function lineOf(path: string): string {
  return reveal(path).replace(/[\n\t]/g, ' ');
}

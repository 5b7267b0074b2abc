import { ToolFailure, type Workspace } from './workspace.js';

/** The `*** Begin Patch` envelope of `apply_patch` (§8.1). */
interface Hunk {
  readonly old: string[];
  readonly new: string[];
  readonly anchor: string | undefined;
}
type Operation =
  | { readonly kind: 'add'; readonly path: string; readonly body: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo: string | undefined; readonly hunks: Hunk[] };

export const applyPatch = async (patch: string, workspace: Workspace): Promise<string> => {
  const summary: string[] = [];
  for (const operation of parsePatch(patch)) summary.push(await apply(operation, workspace));
  return summary.length === 0 ? '(empty patch)' : `Applied patch:\n${summary.join('\n')}`;
};

export const isPatch = (text: string): boolean => {
  try {
    parsePatch(text);
    return true;
  } catch {
    return false;
  }
};

const apply = async (operation: Operation, workspace: Workspace): Promise<string> => {
  const shown = (path: string): string => workspace.shown(workspace.absolute(path));
  const { kind, path } = operation;
  if (kind === 'add') {
    await workspace.write(path, operation.body);
    return `A ${shown(path)}`;
  }
  if (kind === 'delete') {
    await workspace.remove(path);
    return `D ${shown(path)}`;
  }
  const updated = operation.hunks.reduce(applyHunk, await workspace.read(path));
  const target = operation.moveTo ?? path;
  await workspace.write(target, updated);
  if (workspace.absolute(target) === workspace.absolute(path)) return `U ${shown(path)}`;
  await workspace.remove(path);
  return `M ${shown(path)} -> ${shown(target)}`;
};

const parsePatch = (patch: string): Operation[] => {
  const lines = patch.split(/\r?\n/);
  const begin = lines.findIndex((line) => line.trim() === '*** Begin Patch');
  if (begin < 0) throw new ToolFailure("missing '*** Begin Patch'");
  const end = lines.findIndex((line, index) => index > begin && line.trimEnd() === '*** End Patch');
  if (end < 0) throw new ToolFailure("missing '*** End Patch'");
  const operations: Operation[] = [];
  let index = begin + 1;
  /** The lines up to the next section, and past them. */
  const section = (): string[] => {
    const from = index;
    while (index < end && !(lines[index] ?? '').startsWith('*** ')) index += 1;
    return lines.slice(from, index);
  };
  while (index < end) {
    const line = (lines[index] ?? '').trimEnd();
    index += 1;
    const [, verb, path] = /^\*\*\* (Add|Delete|Update) File: (.+)$/.exec(line) ?? [];
    if (path === undefined) continue;
    if (verb === 'Delete') operations.push({ kind: 'delete', path });
    else if (verb === 'Add') {
      const body = section().filter((added) => added.startsWith('+'));
      operations.push({ kind: 'add', path, body: body.map((added) => added.slice(1)).join('\n') });
    } else {
      const moveTo = /^\*\*\* Move to: (.+)$/.exec((lines[index] ?? '').trimEnd())?.[1];
      if (moveTo !== undefined) index += 1;
      operations.push({ kind: 'update', path, moveTo, hunks: parseHunks(section()) });
    }
  }
  return operations;
};

const parseHunks = (lines: readonly string[]): Hunk[] => {
  const hunks: Hunk[] = [];
  let current: Hunk = { old: [], new: [], anchor: undefined };
  const isEmpty = (): boolean => current.old.length === 0 && current.new.length === 0;
  for (const line of lines) {
    if (line.startsWith('@@')) {
      if (!isEmpty()) hunks.push(current);
      const anchor = line.slice(2).trim();
      current = { old: [], new: [], anchor: anchor === '' ? undefined : anchor };
    } else if (line.startsWith('+')) current.new.push(line.slice(1));
    else if (line.startsWith('-')) current.old.push(line.slice(1));
    else {
      const context = line.startsWith(' ') ? line.slice(1) : line;
      current.old.push(context);
      current.new.push(context);
    }
  }
  if (!isEmpty()) hunks.push(current);
  return hunks;
};

const applyHunk = (text: string, hunk: Hunk): string => {
  const from = searchFrom(text, hunk.anchor);
  const fresh = hunk.new.join('\n');
  if (hunk.old.length === 0) {
    if (hunk.anchor !== undefined) return `${endLine(text.slice(0, from))}${fresh}\n${text.slice(from)}`;
    return `${endLine(text)}${fresh}`;
  }
  const old = hunk.old.join('\n');
  const count = text.slice(from).split(old).length - 1;
  if (count === 0) throw new ToolFailure(`hunk did not match file contents:\n${old}`);
  if (count > 1) {
    throw new ToolFailure(
      `hunk matches file contents ${count} times; add more context lines or a more specific @@ anchor to disambiguate:\n${old}`,
    );
  }
  const at = text.indexOf(old, from);
  return `${text.slice(0, at)}${fresh}${text.slice(at + old.length)}`;
};

const endLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

const searchFrom = (text: string, anchor: string | undefined): number => {
  if (anchor === undefined) return 0;
  const at = text.indexOf(anchor);
  if (at < 0) throw new ToolFailure(`@@ anchor not found: ${anchor}`);
  const lineEnd = text.indexOf('\n', at);
  return lineEnd < 0 ? text.length : lineEnd + 1;
};

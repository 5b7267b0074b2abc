/**
 * `after` with everything in it that is as it was in `before` being the very same object: all of it where nothing changed.
 * Rows of a list are told by their name, not by their place. Plain JSON only.
 */
export function sharing<T>(before: unknown, after: T): T {
  if (before === after || typeof before !== 'object' || typeof after !== 'object') return after;
  if (before === null || after === null || Array.isArray(before) !== Array.isArray(after)) return after;
  const shared = Array.isArray(after) ? sharedList(before as readonly unknown[], after) : sharedMembers(before, after);
  return shared as T;
}

function sharedList(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const named = new Map(before.map((entry, at) => [nameOf(entry) ?? at, entry]));
  const shared = after.map((entry, at) => sharing(named.get(nameOf(entry) ?? at), entry));
  return shared.length === before.length && shared.every((entry, at) => entry === before[at]) ? before : shared;
}

function sharedMembers(before: object, after: object): object {
  const known = before as Readonly<Record<string, unknown>>;
  const shared = Object.entries(after).map(([name, member]) => [name, sharing(known[name], member)] as const);
  const isSame =
    shared.length === Object.keys(before).length &&
    shared.every(([name, member]) => name in known && known[name] === member);
  return isSame ? before : Object.fromEntries(shared);
}

function nameOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { id, harness } = entry as { readonly id?: unknown; readonly harness?: unknown };
  if (typeof id === 'string') return `id ${id}`;
  return typeof harness === 'string' ? `harness ${harness}` : undefined;
}

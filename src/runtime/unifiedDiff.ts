const CONTEXT = 3;
const NO_NEWLINE = '\\ No newline at end of file';

/**
 * The difference of two texts in unified format, as one hunk from the first to the last changed line. Undefined
 * stands for a file that does not exist. Empty when nothing changed.
 */
export const unifiedDiff = (path: string, before: string | undefined, after: string | undefined): string => {
  if (before === after) return '';
  const old = linesOf(before);
  const now = linesOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  ) {
    end += 1;
  }
  const from = Math.max(0, start - CONTEXT);
  const trailing = Math.min(end, CONTEXT);
  const body = [
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end, old.length - end + trailing).map((line) => ` ${line}`),
  ];
  const oldCount = old.length - end + trailing - from;
  const newCount = now.length - end + trailing - from;
  return [
    `--- ${before === undefined ? '/dev/null' : `a/${path}`}`,
    `+++ ${after === undefined ? '/dev/null' : `b/${path}`}`,
    `@@ -${range(from, oldCount)} +${range(from, newCount)} @@`,
    ...body,
    '',
  ].join('\n');
};

const range = (from: number, count: number): string => (count === 0 ? `${from},0` : `${from + 1},${count}`);

/** Lines without their ends; a last line without one carries the marker, so that it differs from one with. */
const linesOf = (text: string | undefined): string[] => {
  if (text === undefined || text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n${NO_NEWLINE}`];
};

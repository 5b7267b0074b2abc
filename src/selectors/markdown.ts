const NBSP = '\u00a0';
const LANGUAGE_LIMIT = 32;

/** A code block that nothing in `text` can end. */
export function fence(text: string, language = ''): string {
  const ticks = '`'.repeat(Math.max(3, longestTicks(text) + 1));
  const name = language.replace(/[^\w+#.-]/g, '').slice(0, LANGUAGE_LIMIT);
  return `${ticks}${name}\n${text}${text.endsWith('\n') ? '' : '\n'}${ticks}`;
}

/** A code span that nothing in `text` can end; of one line. */
export function inlineCode(text: string): string {
  const line = text.replace(/\r\n|[\r\n]/g, ' ');
  if (line === '') return '` `';
  const ticks = '`'.repeat(longestTicks(line) + 1);
  const pad = /^[ `]|[ `]$/.test(line) ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/**
 * Text that reads as it is wherever Markdown stands, its lines kept: nothing of it becomes a heading, a list, a link, an
 * image, an address, a tag, a theme icon or a formula.
 */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[!-/:-@[-`{-~]/g, '\\$&')
    .replace(/^[ \t]+/gm, (indent) => NBSP.repeat(indent.length))
    .replace(/[ \t]*(?:\r\n|[\r\n])/g, '  \n');
}

/** Every line of `markdown` as part of one quotation. */
export function blockquote(markdown: string): string {
  return markdown
    .split(/\r\n|[\r\n]/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

function longestTicks(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

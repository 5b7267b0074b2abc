import { title } from './bounds.js';
import { blockquote, escapeMarkdown, fence, inlineCode } from './markdown.js';
import type { ChatPart, DiffPart, RequestPart, ToolPart } from './parts.js';

/** A piece of a response on stable API. The text of either kind is Markdown: an editor renders progress as such. */
export interface FallbackPiece {
  readonly kind: 'progress' | 'markdown';
  readonly text: string;
}

/**
 * How a part reads where the editor has no richer form for it (EDITOR_PARTS). Assistant text passes as it is; all other
 * text from outside stands in it as text. What is built here keeps apart from what comes before and after.
 */
export function fallbackOf(part: ChatPart): readonly FallbackPiece[] {
  switch (part.kind) {
    case 'markdown':
      return part.text === '' ? [] : [{ kind: 'markdown', text: part.text }];
    case 'progress':
      return [{ kind: 'progress', text: escapeMarkdown(title(part.text)) }];
    case 'warning':
      return block(blockquote(`⚠ **Warning:** ${escapeMarkdown(part.text)}`));
    case 'thinking':
      return block(blockquote(escapeMarkdown(part.text)));
    case 'notice':
    case 'resolution':
      return block(italic(part.text));
    case 'output':
      return block(fence(part.text));
    case 'tool':
      return toolPieces(part);
    case 'diff':
      return block(filesLine(part), fence(part.patch, 'diff'));
    case 'request':
      return block(...requestBlocks(part));
    case 'opaque':
      return block(`#### ${escapeMarkdown(title(part.eventKind))}`, fence(part.text));
  }
}

function block(...paragraphs: readonly string[]): readonly FallbackPiece[] {
  return [{ kind: 'markdown', text: `\n\n${paragraphs.filter((each) => each !== '').join('\n\n')}\n\n` }];
}

/** Emphasis spans no paragraphs, so several lines stay plain. */
function italic(text: string): string {
  const escaped = escapeMarkdown(text.trim());
  return escaped === '' || escaped.includes('\n') ? escaped : `*${escaped}*`;
}

const OUTCOMES: Readonly<Record<Exclude<ToolPart['phase'], 'started'>, string>> = {
  completed: 'finished',
  abandoned: 'ended without a result',
};

function toolPieces({ name, phase, input = '', output = '', isError, saved }: ToolPart): readonly FallbackPiece[] {
  if (phase === 'started') {
    const doing = input === '' || input.includes('\n') ? name : `${name}: ${input}`;
    return [{ kind: 'progress', text: escapeMarkdown(title(`Running ${doing}`)) }];
  }
  const hasFailed = phase === 'completed' && isError === true;
  const ended = saved === true && phase === 'completed' ? 'called' : OUTCOMES[phase];
  const outcome = hasFailed ? 'failed' : ended;
  return block(
    `**Tool** ${inlineCode(title(name))} ${outcome}`,
    input === '' ? '' : fence(input),
    output === '' ? '' : `**Result**\n\n${fence(output)}`,
  );
}

const FILES_SHOWN = 20;

/** Names the files that a patch touches. */
export function filesLine({ files }: DiffPart): string {
  if (files.length === 0) return '**Changes**';
  const names = files.slice(0, FILES_SHOWN).map(inlineCode).join(', ');
  const more = files.length > FILES_SHOWN ? ` and ${files.length - FILES_SHOWN} more` : '';
  return `**Changes** in ${names}${more}`;
}

/** What a request is about, or that nothing was supplied to look at. */
export function previewBlock(preview: string | undefined): string {
  return preview === undefined ? '*The runtime supplied no preview\\.*' : fence(preview);
}

function requestBlocks({ title: heading, preview, unanswerable }: RequestPart): readonly string[] {
  return [
    `**${escapeMarkdown(title(heading))}**`,
    previewBlock(preview),
    unanswerable === undefined ? '' : italic(unanswerable),
  ];
}

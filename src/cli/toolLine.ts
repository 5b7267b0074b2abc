import { title } from '../selectors/bounds.js';
import type { ToolPart } from '../selectors/parts.js';

/** The argument that says best what a call is about. */
const TELLING = ['command', 'cmd', 'path', 'file_path', 'notebook_path', 'pattern', 'query', 'url', 'prompt', 'job_id'];

/** What a call is about, as one clean line; empty where it says nothing. */
export function aboutCall({ input = '' }: ToolPart): string {
  const args = objectIn(input);
  if (args === undefined) return title(input);
  const telling = TELLING.map((name) => args[name]).find((value) => typeof value === 'string' || Array.isArray(value));
  if (Array.isArray(telling)) return title(telling.join(' '));
  if (typeof telling === 'string') return title(telling.replaceAll('\n', ' ⏎ '));
  return Object.keys(args).length === 0 ? '' : title(input);
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

import { cutText, PART_LIMIT, title } from '../selectors/bounds.js';
import { sanitise } from '../selectors/sanitise.js';

const SENTENCE_LIMIT = 1000;

/** Text that comes from outside past the selectors (an error, a name), as one clean line. */
export function plainLine(text: string): string {
  return title(text, SENTENCE_LIMIT);
}

/** The same, with its lines. */
export function plainText(text: string): string {
  return cutText(sanitise(text, true).text, PART_LIMIT);
}

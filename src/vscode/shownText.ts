import { revealedTitle } from '../selectors/bounds.js';

const TEXT_LIMIT = 1_024;

/**
 * Text from outside where the editor would draw icons and make links of it (quick inputs, notifications, the status bar):
 * such links may run any command. One line, for that is all the room there is.
 */
export function shownText(text: string): string {
  return revealedTitle(text, TEXT_LIMIT).replaceAll('](', '] (').replaceAll('$(', '\\$(');
}

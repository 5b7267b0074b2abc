import type { App } from '../sagas/app.js';
import type { RootState } from '../store/state.js';

/**
 * Calls back now, and after each change of what is looked at: at most once in `everyMs`, the last change included.
 * Streamed text changes nothing but the transcript, and comes most often: who does not look at that pays nothing for it.
 */
export function watchState(
  app: App,
  looksAt: (root: RootState) => readonly unknown[],
  everyMs: number,
  show: (root: RootState) => void,
): { dispose(): void } {
  let seen: readonly unknown[] = [];
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    timer = undefined;
    const root = app.getState();
    const concerns = looksAt(root);
    if (concerns.every((concern, at) => concern === seen[at])) return;
    seen = concerns;
    show(root);
  };
  const leave = app.subscribe(() => {
    if (everyMs === 0) look();
    else timer ??= setTimeout(look, everyMs);
  });
  look();
  return {
    dispose: () => {
      leave();
      clearTimeout(timer);
    },
  };
}

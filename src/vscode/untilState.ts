import type { App } from '../sagas/app.js';
import type { RootState } from '../store/state.js';

/** Resolves when the state is as wanted; at once where it is. */
export function untilState(app: App, wanted: (root: RootState) => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (wanted(app.getState())) {
      resolve();
      return;
    }
    const leave = app.subscribe(() => {
      if (!wanted(app.getState())) return;
      leave();
      resolve();
    });
  });
}

import type { RootState } from '../store/state.js';
import type { App } from './app.js';

/**
 * Resolves when the state is as wanted, at once where it is; what `wanted` throws, it rejects with.
 *
 * @param signal gives it up: it resolves then, too
 */
export function untilState(app: App, wanted: (root: RootState) => boolean, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let unsubscribe: () => void = () => undefined;
    const look = () => {
      try {
        if (signal?.aborted !== true && !wanted(app.getState())) return;
        resolve();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
      unsubscribe();
      signal?.removeEventListener('abort', look);
    };
    unsubscribe = app.subscribe(look);
    signal?.addEventListener('abort', look);
    look();
  });
}

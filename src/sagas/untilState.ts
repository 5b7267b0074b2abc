import type { RootState } from '../store/state.js';
import type { App } from './app.js';

/** Resolves when the state is as wanted, at once where it is; what `wanted` throws, it rejects with. */
export function untilState(app: App, wanted: (root: RootState) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let unsubscribe: () => void = () => undefined;
    const look = () => {
      try {
        if (!wanted(app.getState())) return;
        resolve();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
      unsubscribe();
    };
    unsubscribe = app.subscribe(look);
    look();
  });
}

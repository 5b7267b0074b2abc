import { it } from 'vitest';
import { hasRealRuntime, peersAreRequired, runtimeBinary } from '../peers/real.js';

/** Runs the suite against a real peer; without one it says so in a test of that name, which fails where peers are required. */
export const withRealRuntime = (name: string, suite: () => void): void => {
  if (hasRealRuntime()) {
    suite();
    return;
  }
  const missing = `${name}: the supercode runtime is missing (${runtimeBinary()})`;
  if (peersAreRequired()) {
    it(missing, () => {
      throw new Error('Run `bash test/peers/real-runtime.sh up` once to install it, or set SUPERCODE_BIN.');
    });
  } else it.skip(`${missing}: skipped`, () => undefined);
};

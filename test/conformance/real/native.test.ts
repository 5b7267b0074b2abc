import { openRealPeer } from '../peers/real.js';
import { describeServer } from '../suite.js';
import { withRealRuntime } from './required.js';

withRealRuntime('native', () => {
  describeServer('supercode serve', 'native', openRealPeer, { timeoutMs: 60_000 });
});

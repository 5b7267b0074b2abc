import { describeClient } from '../clientSuite.js';
import { openRealPeer } from '../peers/real.js';
import { withRealRuntime } from './required.js';

withRealRuntime('our client, native', () => {
  describeClient('our client at supercode serve', 'native', openRealPeer, { timeoutMs: 60_000 });
});

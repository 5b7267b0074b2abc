import { describeClient } from '../clientSuite.js';
import { openHostedPeer } from '../peers/hosted.js';
import { withRealRuntime } from './required.js';

withRealRuntime('our client, hosted', () => {
  describeClient('our client at a hosted Claude Code stand-in', 'hosted', openHostedPeer, { timeoutMs: 60_000 });
});

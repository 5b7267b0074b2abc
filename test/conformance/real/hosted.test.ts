import { openHostedPeer } from '../peers/hosted.js';
import { describeServer } from '../suite.js';
import { withRealRuntime } from './required.js';

withRealRuntime('hosted', () => {
  describeServer('hosted Claude Code stand-in', 'hosted', openHostedPeer, { timeoutMs: 60_000 });
});

import { describe, expect, it, onTestFinished } from 'vitest';
import type { OpenPeer } from '../peer.js';
import { openEmbeddedPeer } from '../peers/embedded.js';
import { openRealPeer } from '../peers/real.js';
import { PARITY_SCENARIOS, type ParityScenario } from './parityScenarios.js';
import { Player } from './player.js';
import { withRealRuntime } from './required.js';

const storyOf = async (openPeer: OpenPeer, scenario: ParityScenario): Promise<unknown[]> => {
  const { approval, legacyGate } = scenario;
  const peer = await openPeer({
    ...(approval !== undefined && { approval }),
    ...(legacyGate !== undefined && { legacyGate }),
  });
  onTestFinished(() => peer.close());
  const player = await Player.on(peer);
  await scenario.play(player);
  return player.story();
};

withRealRuntime('parity', () => {
  describe('the embedded runtime tells what supercode serve tells', () => {
    for (const [name, scenario] of Object.entries(PARITY_SCENARIOS)) {
      it(name, { timeout: 60_000 }, async () => {
        const embedded = await storyOf(openEmbeddedPeer, scenario);
        expect(embedded).toEqual(await storyOf(openRealPeer, scenario));
      });
    }
  });
});

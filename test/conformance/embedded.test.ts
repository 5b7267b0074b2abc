import { openEmbeddedPeer } from './peers/embedded.js';
import { describeServer } from './suite.js';

describeServer('embedded runtime', 'native', openEmbeddedPeer);

import { describeClient } from './clientSuite.js';
import { openEmbeddedPeer } from './peers/embedded.js';

describeClient('our client at the embedded runtime', 'native', openEmbeddedPeer, { heavy: false });

import type { LateSlices } from './combine.js';
import { hostReducer } from './host.js';
import { identityReducer } from './identity.js';

export const hostSlices: LateSlices = { host: hostReducer, identity: identityReducer };

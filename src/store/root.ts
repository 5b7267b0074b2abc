import { createRootReducer } from './combine.js';
import { hostSlices } from './hostSlices.js';

/** All slices. A window loads those of a host only where it has one (ADR 12). */
export const rootReducer = createRootReducer(hostSlices);

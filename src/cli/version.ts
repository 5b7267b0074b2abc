declare const __PRODUCT_VERSION__: string | undefined;

/** Of the package; written into the bundle when it is built. */
export const VERSION = typeof __PRODUCT_VERSION__ === 'string' ? __PRODUCT_VERSION__ : '0.0.0-dev';

export const PRODUCT = 'supercode-frontend';

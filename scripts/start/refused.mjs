/** What the person at the keyboard can put right; shown without a stack. */
export class Refused extends Error {
  name = 'Refused';
}

/** This editor can't be had, for a reason that ends a sentence; another one may. */
export class Unavailable extends Error {
  name = 'Unavailable';
}

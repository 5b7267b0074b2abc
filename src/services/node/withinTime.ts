import { CredentialRefused } from '../../protocol/refusal.js';

/** A keeper of secrets or a network file system may hang for ever; ms. */
const CREDENTIAL_TIMEOUT = 10_000;

/** The credential, or a `CredentialRefused` where it can't be had within 10 s. */
export function withinTime<T>(credential: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new CredentialRefused(`The credential could not be read within ${CREDENTIAL_TIMEOUT / 1000} s.`));
    }, CREDENTIAL_TIMEOUT);
    credential.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

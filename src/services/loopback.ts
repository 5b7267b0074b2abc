import { CredentialRefused } from '../protocol/refusal.js';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);
const ADVICE = 'Give it as http://127.0.0.1:<port>, with localhost or [::1] in place of the address if you like.';

/**
 * The base URL of a peer on this machine: `http:`, a loopback host, an explicit port and nothing else. Everything that
 * carries a bearer goes to such an origin only. Throws `CredentialRefused` with the reason; the message never repeats
 * the text, which may hold a password.
 */
export function checkedBaseUrl(text: string, peer = 'runtime'): URL {
  const refused = (why: string) =>
    new CredentialRefused(`The address of the ${peer} ${why}, so nothing was sent to it. ${ADVICE}`);
  const url = parsed(text);
  if (url === undefined) throw refused('is not a URL with a port between 1 and 65535');
  if (url.protocol !== 'http:') throw refused('is not plain http');
  if (url.username !== '' || url.password !== '' || text.includes('@'))
    throw refused('holds a user name or a password');
  if (!LOOPBACK.has(url.hostname)) throw refused('does not name this machine');
  if (/[?#]/.test(text)) throw refused('holds a query or a fragment');
  if (url.pathname !== '/') throw refused('holds a path');
  if (url.port === '0') throw refused('names port 0');
  // What the URL parser forgives (blanks, backslashes, 127.1, a port left out) is not forgiven here.
  if (!/^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d{1,5}\/?$/i.test(text)) {
    throw refused('names no port, or is not spelled plainly');
  }
  return url;
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

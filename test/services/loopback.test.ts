import { describe, expect, it } from 'vitest';
import { CredentialRefused } from '../../src/protocol/refusal.js';
import { checkedBaseUrl } from '../../src/services/loopback.js';
import { clientAt, errorOf, startPeer, targetAt } from './peer.js';

describe('the base URL of a peer', () => {
  it.each([
    ['http://127.0.0.1:52311', 'http://127.0.0.1:52311'],
    ['http://127.0.0.1:52311/', 'http://127.0.0.1:52311'],
    ['http://localhost:1', 'http://localhost:1'],
    ['http://[::1]:65535', 'http://[::1]:65535'],
    ['http://127.0.0.1:80', 'http://127.0.0.1'],
    ['HTTP://LOCALHOST:8080', 'http://localhost:8080'],
  ])('[fault 50] takes %s', (text, origin) => {
    expect(checkedBaseUrl(text).origin).toBe(origin);
  });

  it.each([
    ['a host behind a user name', 'http://localhost@evil:80', /user name/],
    ['a host behind a user name and a port', 'http://localhost:80@evil:80', /user name/],
    ['a user name', 'http://me@localhost:80', /user name/],
    ['a password', 'http://me:secret@127.0.0.1:80', /password/],
    ['an empty user name', 'http://@localhost:80', /user name/],
    ['a name that only starts like the address', 'http://127.0.0.1.nip.io:80', /this machine/],
    ['a name that only starts like localhost', 'http://localhost.evil:80', /this machine/],
    ['localhost with a trailing dot', 'http://localhost.:80', /this machine/],
    ['every interface', 'http://0.0.0.0:80', /this machine/],
    ['every interface in IPv6', 'http://[::]:80', /this machine/],
    ['an IPv6-mapped address', 'http://[::ffff:127.0.0.1]:80', /this machine/],
    ['another loopback address', 'http://127.0.0.2:80', /this machine/],
    ['another machine', 'http://10.0.0.1:80', /this machine/],
    ['a path', 'http://127.0.0.1:80/rpc', /path/],
    ['a hidden path', 'http://127.0.0.1:80//', /path/],
    ['a query', 'http://127.0.0.1:80/?token=x', /query/],
    ['an empty query', 'http://127.0.0.1:80?', /query/],
    ['a fragment', 'http://127.0.0.1:80/#x', /fragment/],
    ['port 0', 'http://127.0.0.1:0', /port 0/],
    ['port 65536', 'http://127.0.0.1:65536', /between 1 and 65535/],
    ['no port', 'http://127.0.0.1', /no port/],
    ['IPv6 without a port', 'http://[::1]', /no port/],
    ['an empty port', 'http://127.0.0.1:', /no port/],
    ['https', 'https://127.0.0.1:443', /plain http/],
    ['a file', 'file:///tmp/x', /plain http/],
    ['an address in short', 'http://127.1:80', /plainly/],
    ['an address as one number', 'http://2130706433:80', /plainly/],
    ['backslashes', 'http:\\\\127.0.0.1:80', /plainly/],
    ['blanks around', ' http://127.0.0.1:80', /plainly/],
    ['a line end inside', 'http://127.0.0.1:8\n0', /plainly/],
    ['nothing', '', /URL/],
    ['no URL', '127.0.0.1:80', /URL/],
  ])('[fault 50] refuses %s: %s', (_what, text, why) => {
    expect(() => checkedBaseUrl(text)).toThrow(CredentialRefused);
    expect(() => checkedBaseUrl(text)).toThrow(why);
  });

  it('[fault 50] does not repeat a password in the refusal', () => {
    expect(() => checkedBaseUrl('http://me:hunter2@127.0.0.1:80')).not.toThrow(/hunter2/);
  });

  it('[fault 50] is checked before the credential is read and before anything is sent', async () => {
    const peer = await startPeer((response) => response.end());
    let reads = 0;
    const readCredential = () => {
      reads += 1;
      return Promise.resolve('x');
    };
    const target = targetAt(peer.url.replace('127.0.0.1', '0.0.0.0'));
    expect(await errorOf(clientAt(peer.url, { target, readCredential }).describe())).toBeInstanceOf(CredentialRefused);
    expect(await errorOf(clientAt(peer.url, { target, readCredential }).openEvents())).toBeInstanceOf(
      CredentialRefused,
    );
    expect(reads).toBe(0);
    expect(peer.connections()).toBe(0);
  });
});

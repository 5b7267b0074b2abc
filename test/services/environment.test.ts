import { describe, expect, it } from 'vitest';
import { handoverFromEnvironment } from '../../src/services/node/environment.js';

const FOUR = {
  SUPERCODE_FRONTEND_URL: 'http://127.0.0.1:52311',
  SUPERCODE_FRONTEND_CLIENT_ID: 'volter-1',
  SUPERCODE_FRONTEND_CREDENTIAL_FILE: '/run/credential',
  SUPERCODE_FRONTEND_PERMISSIONS: 'observe,interact,approve',
};

describe('a handover in the environment', () => {
  it('is a target', () => {
    expect(handoverFromEnvironment({ PATH: '/bin', ...FOUR })).toEqual({
      target: {
        baseUrl: 'http://127.0.0.1:52311',
        clientId: 'volter-1',
        credential: { kind: 'file', path: '/run/credential' },
        permissions: ['observe', 'interact', 'approve'],
      },
    });
  });

  it('is absent where nothing is set, or all of it is empty', () => {
    expect(handoverFromEnvironment({ PATH: '/bin' })).toBeUndefined();
    expect(handoverFromEnvironment(Object.fromEntries(Object.keys(FOUR).map((name) => [name, ''])))).toBeUndefined();
    expect(handoverFromEnvironment({ SUPERCODE_FRONTEND_HOST_URL: 'http://127.0.0.1:1' })).toBeUndefined();
  });

  it.each(Object.keys(FOUR))('without %s is broken, and says so', (name) => {
    expect(() => handoverFromEnvironment({ ...FOUR, [name]: undefined })).toThrow(`incomplete. Missing: ${name}.`);
    expect(() => handoverFromEnvironment({ ...FOUR, [name]: '' })).toThrow(`incomplete. Missing: ${name}.`);
  });

  it('names everything that is missing', () => {
    const { SUPERCODE_FRONTEND_URL } = FOUR;
    expect(() => handoverFromEnvironment({ SUPERCODE_FRONTEND_URL })).toThrow(
      'Missing: SUPERCODE_FRONTEND_CLIENT_ID, SUPERCODE_FRONTEND_CREDENTIAL_FILE, SUPERCODE_FRONTEND_PERMISSIONS.',
    );
  });

  it.each([
    ['observe', ['observe']],
    ['interact', ['observe', 'interact']],
    ['approve,interact,approve', ['observe', 'interact', 'approve']],
    [' observe , terminate ', ['observe', 'terminate']],
  ])('that permits %j always includes observe', (list, permissions) => {
    const handover = handoverFromEnvironment({ ...FOUR, SUPERCODE_FRONTEND_PERMISSIONS: list });
    expect(handover).toMatchObject({ target: { permissions } });
  });

  it.each(['admin', 'observe,', 'Observe', 'observe;interact', 'toString'])('that permits %j is refused', (list) => {
    expect(() => handoverFromEnvironment({ ...FOUR, SUPERCODE_FRONTEND_PERMISSIONS: list })).toThrow(
      /SUPERCODE_FRONTEND_PERMISSIONS names ".*", which is none of: observe, interact, approve, terminate/,
    );
  });

  it('may say why there is no runtime, which counts more than inherited variables', () => {
    const SUPERCODE_FRONTEND_UNAVAILABLE = ' No agent is installed. ';
    const expected = { unavailable: 'No agent is installed.' };
    expect(handoverFromEnvironment({ SUPERCODE_FRONTEND_UNAVAILABLE })).toEqual(expected);
    expect(handoverFromEnvironment({ ...FOUR, SUPERCODE_FRONTEND_UNAVAILABLE })).toEqual(expected);
    expect(handoverFromEnvironment({ SUPERCODE_FRONTEND_UNAVAILABLE: ' ' })).toBeUndefined();
    expect(handoverFromEnvironment({ SUPERCODE_FRONTEND_UNAVAILABLE: 'x'.repeat(5000) })).toEqual({
      unavailable: 'x'.repeat(1000),
    });
  });
});

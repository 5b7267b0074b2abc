import { describe, expect, it } from 'vitest';
import { Redactor } from '../../src/selectors/redaction.js';

const HEX = '0123456789abcdef'.repeat(4);
const KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----';

const redacted = (text: string) => new Redactor([]).text(text);

describe('what looks like a secret', () => {
  it.each([
    ['64 hex digits', `token ${HEX}.`, 'token ⟨token 1⟩.'],
    ['a cut one', `"${HEX.slice(0, 40)}…"`, '"⟨token 1⟩…"'],
    ['a bearer', 'curl -H "X: bearer abcDEF123.456-x"', 'curl -H "X: bearer ⟨token 1⟩"'],
    ['sk-', 'use sk-proj-abcdefgh12345678 now', 'use ⟨token 1⟩ now'],
    ['GitHub', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789', '⟨token 1⟩'],
    ['a fine-grained one', 'github_pat_11ABCDEFG0abcdefghijkl_mnop', '⟨token 1⟩'],
    ['AWS', 'AKIAIOSFODNN7EXAMPLE, ASIAIOSFODNN7EXAMPLE', '⟨token 1⟩, ⟨token 2⟩'],
    ['AWS secrets', 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPx', 'aws_secret_access_key = ⟨password 1⟩'],
    ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sflKxwRJSMeKKF2', '⟨token 1⟩'],
    ['a private key', `before\n${KEY}\nafter`, 'before\n⟨private key 1⟩\nafter'],
    ['a private key in JSON', JSON.stringify({ k: KEY }), '{"k":"⟨private key 1⟩"}'],
    ['a private key without its end', KEY.slice(0, 60), '⟨private key 1⟩'],
    ['KEY=', 'OPENAI_KEY=abc123 run', 'OPENAI_KEY=⟨password 1⟩ run'],
    ['a quoted one', `export DB_PASSWORD='p4ss word'`, `export DB_PASSWORD='⟨password 1⟩'`],
    ['JSON', '{"password": "hunter2", "n": 1}', '{"password": "⟨password 1⟩", "n": 1}'],
    ['JSON in JSON', String.raw`"{\"api_key\":\"hunter2\"}"`, String.raw`"{\"api_key\":\"⟨password 1⟩\"}"`],
    ['YAML', 'db:\n  password: hunter2\n', 'db:\n  password: ⟨password 1⟩\n'],
    ['a flag', 'mysql --password hunter2 -h x', 'mysql --password ⟨password 1⟩ -h x'],
    ['an address', 'postgres://ann:hunter2@db/x', 'postgres://⟨password 1⟩@db/x'],
    ['a query', 'http://x/?access_token=abc123&y=1', 'http://x/?access_token=⟨password 1⟩&y=1'],
    ['a port', 'http://127.0.0.1:41234/rpc and [::1]:9999', 'http://127.0.0.1:⟨port 1⟩/rpc and [::1]:⟨port 2⟩'],
    ['any home', '/home/bob/x and C:\\Users\\bob\\x', '/home/⟨user name 1⟩/x and C:\\Users\\⟨user name 1⟩\\x'],
    ['an image', 'data:image/png;base64,iVBORw0KGgo=', '⟨image 1⟩'],
  ])('is replaced: %s', (_, text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  it.each([
    'commit 3f786850e387550fdab836ed7e6dc881de23001b',
    'interface Login { password: string; token?: undefined }',
    'const token = readToken(file);',
    'curl -H "Authorization: $TOKEN"',
    'total tokens: 1234, max_tokens=100',
    'The keyboard: fine. monkey: fine.',
  ])('is not: %s', (text) => {
    expect(redacted(text)).toBe(text);
  });
});

describe('what is known', () => {
  const redactor = new Redactor([
    { kind: 'home folder', value: '/home/ann' },
    { kind: 'workspace', value: '/home/ann/proj' },
    { kind: 'workspace', value: '-home-ann-proj' },
    { kind: 'user name', value: 'ann' },
    { kind: 'client id', value: 'editor-1' },
    { kind: 'home folder', value: 'C:\\Users\\Ann' },
  ]);

  it.each([
    ['/home/ann/proj/src/a.ts', '⟨workspace 1⟩/src/a.ts'],
    ['-v/home/ann/.ssh:/x', '-v⟨home folder 1⟩/.ssh:/x'],
    ['by Ann, not Annabel or joann', 'by ⟨user name 1⟩, not Annabel or joann'],
    ['.claude/projects/-home-ann-proj-src/', '.claude/projects/⟨workspace 2⟩-src/'],
    ['client editor-1.', 'client ⟨client id 1⟩.'],
    [String.raw`{"path":"C:\\Users\\Ann\\x"}`, String.raw`{"path":"⟨home folder 2⟩\\x"}`],
    ['file:///c:/users/ann/x', 'file:///⟨home folder 2⟩/x'],
  ])('is replaced wherever it stands: %s', (text, expected) => {
    expect(redactor.text(text)).toBe(expected);
  });

  it('counts as many values as there were, not places', () => {
    const counting = new Redactor([{ kind: 'user name', value: 'ann' }]);
    counting.text('ann and Ann');
    counting.text('ann');
    expect([...counting.counts]).toEqual([['user name', 1]]);
  });
});

it('of what overlaps nothing is left', () => {
  const redactor = new Redactor([{ kind: 'workspace', value: 'secret/place' }]);
  expect(redactor.text('password=xsecret/place-sk-abcdefghijklmnop/z')).not.toMatch(/secret\/place|abcdefgh|\/z/);
});

it('takes no time that grows faster than the text: else this would not end', () => {
  for (const piece of ['a', '"password":', '\\', '-----BEGIN PRIVATE KEY-----', 'token=', '/home/', 'eyJ', '://a:']) {
    expect(redacted(piece.repeat(200_000 / piece.length))).not.toBe('');
  }
});

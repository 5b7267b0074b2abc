#!/usr/bin/env node
// Stands for `code`: writes down how it was run, attaches to the runtime that was handed over, and waits for its window,
// a process of its own, as the real one does. FAKE_CODE names the folder for what it writes; a file `close` in there
// closes the window, a file `fail` has it fail.
const { spawn } = require('node:child_process');
const { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const place = process.env.FAKE_CODE;
const args = process.argv.slice(2);
const valueOf = (name) => args[args.indexOf(name) + 1];

if (args[0] === 'window') {
  writeFileSync(join(args[1], 'code.lock'), String(process.pid));
  setInterval(() => existsSync(join(place, 'close')) && process.exit(), 20);
} else void open();

async function open() {
  if (existsSync(join(place, 'fail'))) {
    console.error('There is\nno window.');
    process.exit(3);
  }
  const handover = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => name.startsWith('SUPERCODE_FRONTEND_')),
  );
  const file = handover.SUPERCODE_FRONTEND_CREDENTIAL_FILE;
  const token = readFileSync(file, 'utf8');
  const profile = valueOf('--user-data-dir');
  const extensions = valueOf('--extensions-dir');
  const [extension] = readdirSync(extensions);
  const answer = await fetch(new URL('/rpc', handover.SUPERCODE_FRONTEND_URL), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'x-supercode-client-id': handover.SUPERCODE_FRONTEND_CLIENT_ID,
      'x-supercode-permissions': handover.SUPERCODE_FRONTEND_PERMISSIONS,
    },
    body: JSON.stringify({ id: 1, method: 'frontend.v2.attach', params: {} }),
  });
  const { result } = await answer.json();
  const window = spawn(process.execPath, [__filename, 'window', profile], { detached: true, stdio: 'ignore' });
  const record = {
    args,
    handover,
    token,
    mode: statSync(file).mode & 0o777,
    settings: JSON.parse(readFileSync(join(profile, 'User/settings.json'), 'utf8')),
    extension,
    manifest: JSON.parse(readFileSync(join(extensions, extension, 'package.json'), 'utf8')),
    main: existsSync(join(extensions, extension, 'dist/extension/extension.mjs')),
    descriptor: result.descriptor,
    system: result.history.map(({ content }) => content).join(),
    window: window.pid,
  };
  writeFileSync(join(place, 'record'), JSON.stringify(record));
  renameSync(join(place, 'record'), join(place, 'record.json'));
  window.once('exit', () => process.exit(0));
}

import {
  openSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/services/node/hash.js';
import { readLines } from '../../src/services/node/lines.js';
import { createLogFile } from '../../src/services/node/logFile.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'supercode-files-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const file = (content?: string | Buffer) => {
  const path = join(folder, 'file');
  if (content !== undefined) writeFileSync(path, content);
  return path;
};

describe('a log file', () => {
  it('holds the lines that were written, readable by this user only', () => {
    const path = file();
    const log = createLogFile(path);
    log.write('{"a":1}');
    log.write('äöü 🙂');
    log.close();
    log.close();
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\näöü 🙂\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is written after a moment, whoever dies then', async () => {
    const path = file();
    const log = createLogFile(path);
    log.write('one');
    await expect.poll(() => readFileSync(path, 'utf8')).toBe('one\n');
    log.close();
  });

  it('keeps the order of small and large lines', () => {
    const path = file();
    const log = createLogFile(path);
    const lines = Array.from({ length: 500 }, (_, at) => `${at} ${'x'.repeat(at % 7 === 0 ? 20_000 : 10)}`);
    for (const line of lines) log.write(line);
    log.close();
    expect(readFileSync(path, 'utf8')).toBe(lines.map((line) => `${line}\n`).join(''));
  });

  it('is never made of a file or a link that exists', () => {
    const path = file('precious');
    expect(() => createLogFile(path)).toThrow(/EEXIST/);
    const link = join(folder, 'link');
    symlinkSync(join(folder, 'nowhere'), link);
    expect(() => createLogFile(link)).toThrow(/EEXIST/);
  });

  it('says to who writes that it is closed', () => {
    const log = createLogFile(file());
    log.close();
    expect(() => {
      log.write('late');
    }).toThrow('closed');
  });
});

describe('the lines of a file', () => {
  const linesOf = (content: string | Buffer) => [...readLines(file(content))];

  it.each([
    ['', []],
    ['\n', ['']],
    ['one', ['one']],
    ['one\ntwo\n', ['one', 'two']],
    ['one\n\ntwo', ['one', '', 'two']],
    ['one\r\ntwo\r\n', ['one\r', 'two\r']],
    ['a\u2028b\u2029c\u0085d\ve\fg\n', ['a\u2028b\u2029c\u0085d\ve\fg']],
    ['\ufeffone\n', ['\ufeffone']],
    ['\0\0\n', ['\0\0']],
  ])('[defect P31] %j', (content, lines) => {
    expect(linesOf(content)).toEqual(lines);
  });

  it('are whole wherever a reading ends', () => {
    const lines = Array.from({ length: 3000 }, (_, at) => 'ä🙂'.repeat(at % 90));
    expect(linesOf(lines.join('\n'))).toEqual(lines);
  });

  it('may be long', () => {
    const long = `{"a":"${'x'.repeat(12_800_000)}"}`;
    expect(linesOf(`${long}\n1`)).toEqual([long, '1']);
  });

  it('are marked where they are no UTF-8, and the rest is read', () => {
    expect(linesOf(Buffer.concat([Buffer.from('one\nt'), Buffer.from([0xff]), Buffer.from('o\nthree')]))).toEqual([
      'one',
      '\ufffdt\ufffdo',
      'three',
    ]);
  });

  it('[defect P35] are marked where no string could hold them, and the rest is read', () => {
    const path = file();
    const sparse = openSync(path, 'w');
    ftruncateSync(sparse, 600 * 1024 * 1024);
    writeSync(sparse, Buffer.from('\n{"n":1}\n'), 0, 9, 600 * 1024 * 1024);
    closeSync(sparse);
    const [first = '', second] = readLines(path);
    expect(first.length).toBeLessThan(1000);
    expect(first.startsWith('\ufffd')).toBe(true);
    expect(second).toBe('{"n":1}');
  });

  it('are read no further than is asked', () => {
    const lines = readLines(file('one\ntwo\n'));
    expect(lines.next().value).toBe('one');
    lines.return();
  });

  it('throw where there is no file', () => {
    expect(() => [...readLines(join(folder, 'none'))]).toThrow(/ENOENT/);
  });
});

describe('the hash', () => {
  it('is SHA-256 of the UTF-8 bytes', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256Hex('ä')).toBe(sha256Hex('\u00e4'));
    expect(sha256Hex('ä')).toHaveLength(64);
  });
});

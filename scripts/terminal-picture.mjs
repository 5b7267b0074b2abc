// Draws docs/terminal-chat.svg from a real session: runs the terminal chat on the embedded runtime in tmux, answers its
// first approval, and takes what is on the screen then. `node scripts/terminal-picture.mjs`; needs tmux.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from './build.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const COLUMNS = 92;
const ROWS = 60;
const SESSION = `terminal-picture-${process.pid}`;

const tmux = (...args) => execFileSync('tmux', ['-L', SESSION, ...args], { encoding: 'utf8' });
const screen = (...args) => tmux('capture-pane', '-p', '-t', SESSION, ...args);

async function until(pattern) {
  for (let tries = 0; tries < 200; tries++) {
    if (pattern.test(screen())) return;
    await sleep(50);
  }
  throw new Error(`The session never showed ${pattern}:\n${screen()}`);
}

async function session(program) {
  const size = ['-x', String(COLUMNS), '-y', String(ROWS)];
  tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-s',
    SESSION,
    ...size,
    `TERM=tmux-256color ${process.execPath} ${program}`,
  );
  try {
    await until(/^› *$/m);
    tmux('send-keys', '-t', SESSION, '/demo tour', 'Enter');
    await until(/1 Allow/);
    tmux('send-keys', '-t', SESSION, '1');
    await until(/edit_file: [^]*1 Allow/);
    await until(/Waiting for your answer/);
    return screen('-e').trimEnd().split('\n');
  } finally {
    tmux('kill-server');
  }
}

const CELL = { width: 8.4, height: 19 };
const MARGIN = { left: 22, top: 52, bottom: 20 };
const COLOURS = {
  background: '#0d1117',
  frame: '#30363d',
  text: '#d1d7e0',
  31: '#ff7b72',
  32: '#3fb950',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#56d4dd',
};

/** The runs of one line that look alike: `{ column, text, style }`. */
function runsOf(line, style) {
  const runs = [];
  let column = 0;
  for (const piece of line.split(/(\x1b\[[\d;]*m)/)) {
    const codes = /^\x1b\[([\d;]*)m$/.exec(piece)?.[1];
    if (codes !== undefined) {
      for (const code of codes.split(';').map(Number)) apply(style, code);
    } else if (piece !== '') {
      runs.push({ column, text: piece, style: { ...style } });
      column += Array.from(piece).length;
    }
  }
  return runs;
}

function apply(style, code) {
  if (code === 0) for (const key of Object.keys(style)) delete style[key];
  else if (code === 1) style.bold = true;
  else if (code === 2) style.dim = true;
  else if (code === 3) style.italic = true;
  else if (code === 4) style.underline = true;
  else if (code === 22) (delete style.bold, delete style.dim);
  else if (code === 23) delete style.italic;
  else if (code === 24) delete style.underline;
  else if (code === 39) delete style.colour;
  else if (code in COLOURS) style.colour = code;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function run({ column, text, style }, y) {
  // Blanks at the ends are places, not text.
  const start = column + text.length - text.trimStart().length;
  const words = text.trim();
  if (words === '') return '';
  const width = Array.from(words).length * CELL.width;
  const attributes = [
    `x="${(MARGIN.left + start * CELL.width).toFixed(1)}"`,
    `y="${y}"`,
    `textLength="${width.toFixed(1)}"`,
    ...(style.colour ? [`fill="${COLOURS[style.colour]}"`] : []),
    ...(style.dim ? ['opacity="0.62"'] : []),
    ...(style.bold ? ['font-weight="600"'] : []),
    ...(style.italic ? ['font-style="italic"'] : []),
    ...(style.underline ? ['text-decoration="underline"'] : []),
  ];
  return `<text ${attributes.join(' ')}>${escaped(words)}</text>`;
}

function svg(lines) {
  const width = Math.ceil(COLUMNS * CELL.width + 2 * MARGIN.left);
  const height = MARGIN.top + lines.length * CELL.height + MARGIN.bottom;
  const style = {};
  const texts = lines.flatMap((line, at) =>
    runsOf(line, style)
      .map((each) => run(each, MARGIN.top + (at + 0.75) * CELL.height))
      .filter((text) => text !== ''),
  );
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, at) => `<circle cx="${24 + at * 20}" cy="22" r="6" fill="${colour}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A session of supercode-chat">
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${COLOURS.background}" stroke="${COLOURS.frame}"/>
${dots.join('\n')}
<g fill="${COLOURS.text}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">
${texts.join('\n')}
</g>
</svg>
`;
}

const dist = mkdtempSync(join(root, 'node_modules', '.picture-'));
try {
  await build(dist);
  writeFileSync(join(root, 'docs', 'terminal-chat.svg'), svg(await session(join(dist, 'cli', 'chat.js'))));
} finally {
  rmSync(dist, { recursive: true, force: true });
}

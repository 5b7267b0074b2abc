// `npm start`: builds, and opens the editor on the embedded runtime: `npm start [-- FOLDER]`. `--terminal`, what else is
// meant for supercode-chat, a runtime named in the environment, and the lack of a terminal have it run supercode-chat.
import { build } from './build.mjs';
import { existingFolder, openEditor } from './start/editor.mjs';
import { Refused } from './start/refused.mjs';
import { chatInTerminal } from './start/terminal.mjs';

/** What is asked for: the arguments of supercode-chat, or the folder of the editor, if one is named. */
function asked(args) {
  const chat = args.filter((arg) => arg !== '--terminal');
  const isForChat =
    !(process.stdin.isTTY && process.stdout.isTTY) ||
    chat.length !== args.length ||
    chat.length > 1 ||
    chat.some((arg) => arg.startsWith('-')) ||
    Object.entries(process.env).some(([name, value]) => name.startsWith('SUPERCODE_FRONTEND_') && value !== '');
  return isForChat ? { chat } : { folder: chat[0] };
}

async function start(args) {
  const { chat, folder } = asked(args);
  const workspace = folder === undefined ? undefined : existingFolder(folder);
  await build();
  if (chat) return chatInTerminal(chat);
  return (await openEditor({ workspace })) ?? chatInTerminal([]);
}

try {
  process.exit(await start(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(`npm start: ${error.message}`);
  process.exit(2);
}

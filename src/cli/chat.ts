import { chat } from './chatProgram.js';
import { CHAT_HELP, chatCommand } from './options.js';
import { exitCodeOf, printed } from './program.js';
import { VERSION } from './version.js';

process.exit(
  await exitCodeOf('supercode-chat', async () => {
    const command = chatCommand(process.argv.slice(2), process.env);
    if (command.kind === 'chat') return chat(command.options, process);
    return printed(command.kind === 'help' ? CHAT_HELP : `${VERSION}\n`);
  }),
);

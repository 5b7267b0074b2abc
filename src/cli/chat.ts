import { chat } from './chatProgram.js';
import { EXIT } from './exitCodes.js';
import { CHAT_HELP, chatCommand } from './options.js';
import { exitCodeOf } from './program.js';
import { VERSION } from './version.js';

process.exit(
  await exitCodeOf('supercode-chat', async () => {
    const command = chatCommand(process.argv.slice(2), process.env);
    if (command.kind === 'chat') return chat(command.options, process);
    process.stdout.write(command.kind === 'help' ? CHAT_HELP : `${VERSION}\n`);
    return EXIT.succeeded;
  }),
);

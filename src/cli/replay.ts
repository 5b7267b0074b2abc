import { exitCodeOf, printed } from './program.js';
import { REPLAY_HELP, replayCommand } from './replayOptions.js';
import { showReplay } from './replayProgram.js';
import { VERSION } from './version.js';

process.exit(
  await exitCodeOf('supercode-replay', async () => {
    const command = replayCommand(process.argv.slice(2));
    if (command.kind === 'replay') return showReplay(command.options, process);
    return printed(command.kind === 'help' ? REPLAY_HELP : `${VERSION}\n`);
  }),
);

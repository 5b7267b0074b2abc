import { parseArgs, type ParseArgsConfig } from 'node:util';
import { UsageError } from './exitCodes.js';

/** As Node's `parseArgs`, with its complaints as usage errors that name the way to help. */
export function parseArguments<T extends ParseArgsConfig>(program: string, config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))) throw error;
    throw new UsageError(`${complaint(error.message)} Run ${program} --help for what there is.`);
  }
}

/** Node adds advice about positional arguments, which these programs take none or one of. */
function complaint(message: string): string {
  const [first = ''] = message.split(/\n|(?<=\.) /);
  const sentence = first.replace(/\.$/, '');
  return message.includes('ambiguous')
    ? `${sentence}; a value that starts with a dash is given as --option=value.`
    : `${sentence}.`;
}

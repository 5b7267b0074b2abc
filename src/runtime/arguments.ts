/** The model wrote arguments that the tool cannot take; the message goes back to the model. */
export class InvalidArguments extends Error {}

export const stringField = (args: Record<string, unknown>, name: string): string => {
  const value = args[name];
  if (value === undefined) throw new InvalidArguments(`missing field \`${name}\``);
  if (typeof value !== 'string') {
    throw new InvalidArguments(`invalid type: ${kindOf(value)}, expected a string`);
  }
  return value;
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'boolean') return `boolean \`${value ? 'true' : 'false'}\``;
  if (typeof value === 'number') return `${Number.isInteger(value) ? 'integer' : 'floating point'} \`${value}\``;
  return 'map';
};

export const optionalString = (args: Record<string, unknown>, name: string): string =>
  args[name] === undefined ? '' : stringField(args, name);

export const optionalNumber = (args: Record<string, unknown>, name: string): number | undefined => {
  const value = args[name];
  return typeof value === 'number' ? value : undefined;
};

/** Why a text is no JSON, worded like the real runtime, so that a client sees the same kind of message. */
export const jsonComplaint = (text: string, error: unknown): string => {
  const message = error instanceof Error ? error.message : '';
  const at = `at line 1 column ${text.trimEnd().length}`;
  if (message.includes('Unterminated string')) return `EOF while parsing a string ${at}`;
  if (/end of JSON input|Expected .* at position/.test(message) && !/Unexpected token/.test(message)) {
    return `EOF while parsing a value ${at}`;
  }
  return 'expected value at line 1 column 1';
};

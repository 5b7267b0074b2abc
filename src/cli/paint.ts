import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** Text in a style, or as it is where the terminal (or its person, by NO_COLOR) has no colours. */
export type Paint = (style: Style, text: string) => string;

export function paintFor(stream: NodeJS.WriteStream): Paint {
  // Asked here, because Node before 20.18 paints whatever it is asked to.
  const hasColours = stream.isTTY && stream.hasColors();
  return hasColours ? (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false })) : plain;
}

const plain: Paint = (_, text) => text;

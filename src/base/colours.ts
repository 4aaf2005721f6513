import { makeVisible } from './foreign-text.js';

/** Colours a text of ours for a terminal, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

const codes = { red: 31, green: 32, yellow: 33, blue: 34, gray: 90 } as const;
const usualColour = 39;

export type Colour = keyof typeof codes;

export const noColours: Paint = (_colour, text) => text;

/**
 * Colours on a terminal that has them, unless NO_COLOR is set (https://no-color.org). Paint carries the mark until it is
 * shown, which makes control characters visible, so that text from elsewhere can't bring its own colours.
 *
 * @param mark must be unguessable; consists of two groups of four digits
 */
export function createPalette(
  stream: NodeJS.WritableStream & { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv,
  mark: string,
): { readonly paint: Paint; readonly show: (text: string) => string } {
  const hasColours = stream.isTTY === true && env.TERM !== 'dumb' && (env.NO_COLOR ?? '') === '';
  if (!hasColours) return { paint: noColours, show: makeVisible };
  const start = (code: number) => `\u001b[${code};${mark}m`;
  const marked = new RegExp(`\\\\u001b\\[(\\d{2});${mark}m`, 'g');
  return {
    paint: (colour, text) => `${start(codes[colour])}${text}${start(usualColour)}`,
    show: (text) => makeVisible(text).replace(marked, '\u001b[$1m'),
  };
}

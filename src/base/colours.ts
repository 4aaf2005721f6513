import { makeVisible } from './foreign-text.js';

/** Colours a text of ours for a terminal, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

const codes = { red: 31, green: 32, yellow: 33, blue: 34, gray: 90 } as const;
const usualColour = 39;

export type Colour = keyof typeof codes;

export const noColours: Paint = (_colour, text) => text;

interface PaletteOptions {
  readonly stream: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  /** Must be unguessable; consists of two groups of four digits. */
  readonly mark: string;
}

interface Palette {
  readonly paint: Paint;
  /** Makes control characters visible, except for the paint. */
  show(text: string): string;
}

/**
 * Colours on a terminal that has them, unless NO_COLOR is set (https://no-color.org). Paint carries the mark until it is
 * shown, so that text from elsewhere can't bring its own colours.
 */
export function createPalette({ stream, env, mark }: PaletteOptions): Palette {
  const hasColours = stream.isTTY === true && env.TERM !== 'dumb' && (env.NO_COLOR ?? '') === '';
  if (!hasColours) return { paint: noColours, show: makeVisible };
  const start = (code: number) => `\u001b[${code};${mark}m`;
  const marked = new RegExp(`\\\\u001b\\[(\\d{2});${mark}m`, 'g');
  return {
    paint: (colour, text) => `${start(codes[colour])}${text}${start(usualColour)}`,
    show: (text) => makeVisible(text).replace(marked, '\u001b[$1m'),
  };
}

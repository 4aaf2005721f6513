/** Where a booking is rendered as a line, piece by piece, as UTF-8: a string a line would cost twice the time. */
export interface LineWriter {
  /** What is the same in every line. */
  constant(bytes: Uint8Array): void;
  /** A safe integer from 0 on, in decimal digits. */
  integer(value: number): void;
  /** A text, and what stands before it. */
  field(before: Uint8Array, text: string, form: TextForm): void;
}

/** How a text stands in a line. */
export interface TextForm {
  /** For each ASCII code 1 where the character stands for itself, wherever in the text it is. */
  readonly plain: Uint8Array;
  /** The whole text as it is to be written, where a character is neither plain nor beyond ASCII. */
  escape(text: string): string;
  /** What stands behind the text. */
  readonly after: Uint8Array;
}

/** The table of a form's plain characters. */
export function tellPlain(isPlain: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 0x80 }, (_, code) => (isPlain(String.fromCharCode(code)) ? 1 : 0));
}

/** Texts that somebody else chose: how they are shown, whether they can name a file, and how they are found in another text. */

/** Control characters, and characters that end a line or turn the direction of the text around. */
const active = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;
/** The same without the two that our own texts contain. */
const activeInLayout = /[^\P{Cc}\n\t]|[\u2028-\u202e\u2066-\u2069]/gu;
/** The same without the start of a colour, as `createPalette` paints it; `print` shows those with another mark. */
const activeInCell = /(?!\p{Cc}\[\d{2};\d{4};\d{4}m)\p{Cc}|[\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Prints a text for people, or JSON. Everything that reaches a terminal passes through here: somebody else's name,
 * message or file name must not clear the screen, set the title or forge a line.
 *
 * @param show for a text with colours: see `createPalette`
 * @returns false when the stream asks to wait until it has drained
 */
export function print(stream: { write(text: string): boolean }, text: string, show = makeVisible): boolean {
  return stream.write(show(text));
}

/**
 * Writes each active character as `\u001b`, line breaks and tabs excepted. In JSON that is an escape: its value stays the
 * same.
 */
export function makeVisible(text: string): string {
  return text.replace(activeInLayout, escapeCharacter);
}

/** The same for somebody else's text within a line of ours, which it must not break. */
export function showInLine(text: string): string {
  return text.replace(active, escapeCharacter);
}

/** The same for a cell of a table, which may be painted. */
export function showInCell(text: string): string {
  return text.replace(activeInCell, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Invisible. No program takes what follows it for the rest of a link or a mention. */
export const joiner = '\u2060';

/** Mail programs make links of bare names such as `agency.example`. In our own texts that would spoil commands and file names. */
export function breakHostNames(text: string): string {
  return text.replace(/(?<=[\p{L}\p{N}])\.(?=\p{L}{2})/gu, `.${joiner}`);
}

const unsafeCharacter = /[/\\\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * Whether this is a plain file name on every system, without a way out of its folder: not empty, no slash or backslash,
 * no leading dot, no control character, no lone surrogate. Does not check the length.
 */
export function isPlainName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !unsafeCharacter.test(name);
}

/** In bytes of UTF-8; leaves room for what the archive adds to a name. */
const longestForeignName = 170;
/** Invisible characters, and the sign for bytes that are not UTF-8: such a file can't be requested by its name. */
const misleadingCharacter = /[\p{Cf}\uFFFD]/u;

/** Whether a name that somebody else's server chose can be used as it is: in a path, in the archive, on a terminal. */
export function isUsableForeignName(name: string): boolean {
  return (
    isPlainName(name) && !misleadingCharacter.test(name) && Buffer.byteLength(name) <= longestForeignName
  );
}

/** A text as the source of a regular expression that matches it alone. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** A letter or digit, or what joins two of them to one value: `BR-1` and `BR-10`, `BR-1-2`, `BR-1/2` are different. */
const inside = String.raw`[\p{L}\p{M}\p{N}]`;
const joint = '[-_./]';

/** Finds a text where it is a value of its own, and not a part of a longer one. */
export function createWholePattern(text: string): RegExp {
  const isAfter = `(?<!${inside}|${inside}${joint})`;
  const isBefore = `(?!${inside}|${joint}${inside})`;
  return new RegExp(`${isAfter}${escapePattern(text)}${isBefore}`, 'gu');
}

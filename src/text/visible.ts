/** The part of a stream that text is printed on. */
interface Printed {
  write(text: string): boolean;
}

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
export function print(stream: Printed, text: string, show = makeVisible): boolean {
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

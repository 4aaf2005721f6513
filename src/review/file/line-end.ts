/**
 * What ends every line of the review file, the last one too; one ASCII character, and no cell holds it.
 *
 * The specification names none. A reader that knows both forms takes a line feed; one that knows line feeds alone
 * would find a carriage return in every CheckOutDate, which file rule 4 (spec 4.3) may call a bad value. And it is what
 * ends a stored line, so that writing the file is copying.
 */
export const lineEnd = '\n';

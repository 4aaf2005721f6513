import { sealedMark } from '../sealing.js';

/**
 * Selects the bytes of a batch as text: the server would write bytes in hexadecimal, twice as long. Encrypted lines, which
 * start with a NUL, follow a mark, in base64.
 */
export function linesAsText(column: string): string {
  return `CASE WHEN substr(${column}, 1, 1) = '\\x00'::bytea
    THEN chr(${sealedMark.charCodeAt(0)}) || encode(${column}, 'base64') ELSE convert_from(${column}, 'UTF8') END`;
}

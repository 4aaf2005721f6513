const beyondAscii = /[\x80-\xff]/;

/** A cell as it was parsed, one unit a byte of UTF-8, as text. */
export function decodeCell(cell: string): string {
  return beyondAscii.test(cell) ? Buffer.from(cell, 'latin1').toString('utf8') : cell;
}

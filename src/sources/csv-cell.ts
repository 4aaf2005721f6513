/** A cell as it was parsed, one unit a byte of UTF-8, as text. */
export function decodeCell(cell: string): string {
  for (let at = 0; at < cell.length; at += 1)
    if (cell.charCodeAt(at) >= 0x80) return Buffer.from(cell, 'latin1').toString('utf8');
  return cell;
}

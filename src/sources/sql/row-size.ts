/** About how many bytes of rows are taken in at a time, however many rows that are: some are as wide as a document. */
export const chunkBytes = 8_000_000;

/** About the bytes of a row's cells, whoever reads them or not. */
export function measureRow(row: readonly unknown[]): number {
  let bytes = 0;
  for (const cell of row) {
    if (typeof cell === 'string') bytes += cell.length;
    else if (ArrayBuffer.isView(cell)) bytes += cell.byteLength;
  }
  return bytes;
}

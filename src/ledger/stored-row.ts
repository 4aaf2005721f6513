/** A row as either database hands it out. Integers may come as text where they could be larger than a number. */
export type StoredRow = Readonly<Record<string, string | number | boolean | null | Buffer>>;

/** Reads the columns of a row; undefined stands for NULL. */
export function readColumns(row: StoredRow) {
  return {
    integer: (name: string) => (row[name] === null ? undefined : Number(row[name])),
    text: (name: string) => (row[name] === null ? undefined : String(row[name])),
  };
}

/** A row as either database returns it. Integers that may exceed a number can be text. */
export type StoredRow = Readonly<Record<string, string | number | boolean | null | Buffer>>;

/** Reads the columns of a row; undefined stands for NULL. */
export function readColumns(row: StoredRow) {
  return {
    integer: (name: string) => (row[name] === null ? undefined : Number(row[name])),
    text: (name: string) => (row[name] === null ? undefined : String(row[name])),
  };
}

/** Undefined for NULL. */
export function readJson<Value>(stored: StoredRow[string] | undefined): Value | undefined {
  return stored === null || stored === undefined ? undefined : (JSON.parse(String(stored)) as Value);
}

/** Removes undefined fields, so that JSON and comparisons in tests agree. */
export function withoutUndefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
} {
  // A loop rather than `Object.entries`: every claim and every recorded ending comes through here.
  const present: Record<string, unknown> = {};
  for (const name in fields) {
    if (fields[name] !== undefined) present[name] = fields[name];
  }
  return present as ReturnType<typeof withoutUndefined<Fields>>;
}

/** PostgreSQL can't store NUL, and UTF-8 can't encode lone surrogates: each becomes U+FFFD. */
export function toStorable(text: string): string {
  return text.includes('\0') ? text.toWellFormed().replaceAll('\0', '\ufffd') : text.toWellFormed();
}

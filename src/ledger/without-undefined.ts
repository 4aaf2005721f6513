/** Absent, not undefined-valued: what is written as JSON and compared in tests is then the same. */
export function withoutUndefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
} {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof withoutUndefined<Fields>
  >;
}

/** The members of a JSON object of the service, by its own names. */
export type Fields = Readonly<Record<string, unknown>>;

/** A field is missing or of another type. The message names it and never quotes its value. */
export class InvalidField extends Error {
  override readonly name = 'InvalidField';
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** The error for a field that is not what it should be. */
export function unexpected(field: string, what: string, value: unknown): InvalidField {
  return new InvalidField(field, `expected ${field} to be ${what}, got: ${describe(value, what)}`);
}

/** @param at the object's place, here and below: `Mappings[3]`, or nothing for the answer itself */
export function readText(fields: Fields, name: string, at = ''): string {
  const value = fields[name];
  if (typeof value !== 'string') throw unexpected(placeOf(name, at), 'a string', value);
  return value;
}

/** The specification does not say which fields are optional: most may be missing or null. */
export function checkOptionalText(fields: Fields, name: string, at = ''): void {
  if (isPresent(fields[name])) readText(fields, name, at);
}

/** An integer that a JavaScript number holds exactly; one written as text counts as well. */
export function readInteger(fields: Fields, name: string, at = ''): number {
  const value = toInteger(fields[name]);
  if (value === undefined) throw unexpected(placeOf(name, at), 'an integer', fields[name]);
  return value;
}

/** Undefined unless it is an integer that a JavaScript number holds exactly, as a number or as text. */
export function toInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\s*-?\d{1,16}\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** The elements of an array; none where it is null. */
export function readArray(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (value === null) return [];
  if (!Array.isArray(value)) throw unexpected(name, 'an array', value);
  return value;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function placeOf(name: string, at: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function describe(value: unknown, expected: string): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return expected.startsWith('an integer') ? 'another number' : 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The members of a JSON object of the service, by its own names. */
export type Fields = Readonly<Record<string, unknown>>;

/** A field is missing or of another type. The message names it and quotes nothing of it. */
export class InvalidField extends Error {
  override readonly name = 'InvalidField';
  readonly field: string;

  constructor(field: string, expected: string, value: unknown) {
    super(`expected ${field} to be ${expected}, got: ${describe(value, expected)}`);
    this.field = field;
  }
}

/** @param at where the object stands: `Mappings[3]`, or nothing for the answer itself; so in all of these */
export function readText(fields: Fields, name: string, at = ''): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new InvalidField(placeOf(name, at), 'a string', value);
  return value;
}

/** Whether a field may be missing is not specified: most may, and may be null. */
export function checkOptionalText(fields: Fields, name: string, at = ''): void {
  if (isThere(fields[name])) readText(fields, name, at);
}

export function readBoolean(fields: Fields, name: string, at = ''): boolean {
  const value = fields[name];
  if (typeof value !== 'boolean') throw new InvalidField(placeOf(name, at), 'a boolean', value);
  return value;
}

/** An integer that a number of JavaScript holds exactly. */
export function readInteger(fields: Fields, name: string, at = ''): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new InvalidField(placeOf(name, at), 'an integer', value);
}

export function checkOptionalInteger(fields: Fields, name: string, at = ''): void {
  if (isThere(fields[name])) readInteger(fields, name, at);
}

/** A master hotel id: from 1 to 2^53-1. */
export function readMasterId(fields: Fields, name: string, at: string): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidField(placeOf(name, at), 'an integer from 1 to 2^53-1', value);
}

/** The elements of an array of objects, each with its place; none where the array is null. */
export function readObjects(
  fields: Fields,
  name: string,
): { readonly fields: Fields; readonly at: string }[] {
  const value = fields[name];
  if (value === null) return [];
  if (!Array.isArray(value)) throw new InvalidField(name, 'an array', value);
  return value.map((element: unknown, index) => {
    const at = `${name}[${index}]`;
    if (!isObject(element)) throw new InvalidField(at, 'an object', element);
    return { fields: element, at };
  });
}

/** An array of strings; none where it is null or missing. */
export function readOptionalTexts(fields: Fields, name: string, at: string): readonly string[] {
  const value = fields[name];
  if (!isThere(value)) return [];
  if (!Array.isArray(value)) throw new InvalidField(placeOf(name, at), 'an array', value);
  return value.map((element: unknown, index) => {
    if (typeof element === 'string') return element;
    throw new InvalidField(`${placeOf(name, at)}[${index}]`, 'a string', element);
  });
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function placeOf(name: string, at: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function describe(value: unknown, expected: string): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return expected.startsWith('an integer') ? 'another number' : 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

import { isDay } from './day.js';

/**
 * What precedes everything encrypted: a mark, the day and the id of its key. The mark starts with a NUL, which neither a
 * booking's line nor a CSV file contains, so that unencrypted data is recognised.
 */
const mark = Buffer.from('\0hotel-review sealed 1\n', 'latin1');
const dayBytes = 10;
const idBytes = 8;
export const headingBytes = mark.length + dayBytes + idBytes;

export interface Heading {
  readonly day: string;
  readonly id: string;
}

export function writeHeading({ day, id }: Heading): Buffer {
  return Buffer.concat([mark, Buffer.from(day, 'latin1'), Buffer.from(id, 'hex')]);
}

/** Whether the bytes, or as many as there are, begin like encrypted data. */
export function isSealed(bytes: Uint8Array): boolean {
  return bytes.length >= mark.length && mark.equals(bytes.subarray(0, mark.length));
}

/** Undefined for bytes that are damaged or too short. */
export function readHeading(bytes: Uint8Array): Heading | undefined {
  if (bytes.length < headingBytes || !isSealed(bytes)) return undefined;
  const rest = Buffer.from(bytes.subarray(mark.length, headingBytes));
  const day = rest.toString('latin1', 0, dayBytes);
  return isDay(day) ? { day, id: rest.toString('hex', dayBytes) } : undefined;
}

import { guestNameFields, hashReference, type RawBooking, type ServiceField } from './booking.js';
import { readField } from './field-text.js';

/** A record with more values than this is not looked through. */
const mostCells = 1_000;
/** What stands between values that a broken export puts into one cell. */
const separators = /[,;|\t"]/;

/**
 * Whatever a source's record holds that may be a reference, in any column and however deep, as references are read. Undefined for a record
 * with too many values.
 *
 * @param whole the record as its source has it: a list of cells, or an object
 */
export function listCells(whole: unknown): ReadonlySet<string> | undefined {
  const cells = new Set<string>();
  // A module's record may refer to itself.
  const seen = new Set<unknown>();
  const waiting = [whole];
  for (let value = waiting.pop(); value !== undefined || waiting.length > 0; value = waiting.pop()) {
    if (waiting.length > mostCells) return undefined;
    const text = readScalar(value);
    if (text === undefined && typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const each of Object.values(value)) waiting.push(each);
    }
    for (const part of text === undefined ? [] : [text, ...text.split(separators, mostCells)]) {
      const cell = readField('code', part);
      if (typeof cell === 'string') cells.add(cell);
    }
    if (cells.size > mostCells) return undefined;
  }
  return cells;
}

function readScalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  // A database's binary column.
  return value instanceof Uint8Array ? Buffer.from(value).toString() : undefined;
}

/** Tells later whether a record held a reference, without telling what else it held. */
export function hashCells(cells: Iterable<string>): string {
  return Array.from(cells, hashCell).sort().join(' ');
}

/** Whether a record may have held that reference. */
export function mayHold(hashed: string, reference: string): boolean {
  return hashed.split(' ').includes(hashCell(reference));
}

function hashCell(cell: string): string {
  return hashReference(cell).toString(36);
}

/** Which field made a record unsendable, and what it held. */
export interface RejectCause {
  /** The service's name of the field. */
  readonly field?: string;
  /** Absent for a missing value, and for anything that is or contains the guest's name. */
  readonly value?: string;
}

/** Limit for a kept value, in UTF-16 units: broken records may contain anything. */
const maxValueLength = 200;

/** The cause of a reject, without a value that may hold the guest's name in any column: columns are easily mixed up. */
export function describeCause(raw: RawBooking, field: ServiceField): RejectCause {
  const value = writeValue(raw[field]);
  const guestName = writeValue(raw.BookingClientName);
  const isName = guestNameFields.has(field) || (guestName !== undefined && value?.includes(guestName));
  if (value === undefined || isName) return { field };
  // The cut may split a surrogate pair.
  return { field, value: value.slice(0, maxValueLength).toWellFormed() };
}

/** A value as text on one line; undefined for an empty one. */
function writeValue(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value : writeOther(value);
  return text?.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() || undefined;
}

function writeOther(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  // Reading it rounded the number, so the record had another one.
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
  if (typeof value !== 'object') return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    // A module's record may refer to itself.
    return undefined;
  }
}

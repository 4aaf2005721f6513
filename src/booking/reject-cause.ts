import { guestNameFields, type RawBooking, type ServiceField } from './booking.js';

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

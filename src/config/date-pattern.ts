import { format } from 'date-fns/format';
import { isSameDay } from 'date-fns/isSameDay';
import { parse } from 'date-fns/parse';

/** Days whose parts cannot be mistaken for one another, and such with one digit, where padding matters. */
const samples = [new Date(2026, 10, 20), new Date(2027, 0, 11), new Date(2031, 10, 1), new Date(2028, 1, 29)];

/** Gives a parser nothing to guess from: it shares no year, month or day with a sample. */
const reference = new Date(2000, 4, 5);

/** Day of the year and week-numbering year: date-fns takes them for a slip and says so on the terminal. */
const mistakenLetters = /[DY]/;

/** True when a day written with the date-fns pattern is read back as the same day. */
export function isDatePattern(pattern: string): boolean {
  if (mistakenLetters.test(pattern.replace(/'[^']*'/g, ''))) return false;
  try {
    return samples.every((day) => isSameDay(day, parse(format(day, pattern), pattern, reference)));
  } catch {
    // date-fns throws a RangeError for letters it does not know.
    return false;
  }
}

import { createBusinessDay } from './business-day.js';

/** Day of the year and week-numbering year: date-fns takes them for a slip and says so on the terminal. */
const mistakenLetters = /[DY]/;
const quotedText = /'[^']*'/g;
const anyDay = createBusinessDay('2000-01-01', 'UTC');

/** True for a date-fns pattern that date-fns itself warns of. */
export function hasMistakenLetters(pattern: string): boolean {
  return mistakenLetters.test(pattern.replaceAll(quotedText, ''));
}

/** True for a date-fns pattern that writes a day, such as ddMMyyyy. */
export function isDayPattern(pattern: string): boolean {
  if (pattern === '' || hasMistakenLetters(pattern)) return false;
  try {
    anyDay.format(pattern);
    return true;
  } catch {
    // date-fns throws a RangeError for letters that it doesn't know.
    return false;
  }
}

import { readFieldText } from '../booking/field-text.js';
import { createDateReader } from '../booking/written-date.js';

export type DateGuess =
  /** Nothing to configure: the dates are written YYYY-MM-DD, or there are none. */
  | { readonly kind: 'usual' }
  | { readonly kind: 'one'; readonly format: string }
  /** All of these fit all the dates that were seen. */
  | { readonly kind: 'several'; readonly formats: readonly string[] }
  | { readonly kind: 'unknown' };

const formats = [
  'dd/MM/yyyy',
  'MM/dd/yyyy',
  'dd.MM.yyyy',
  'dd-MM-yyyy',
  'MM-dd-yyyy',
  'yyyy/MM/dd',
  'yyyy.MM.dd',
  'yyyyMMdd',
  'ddMMyyyy',
  'MMddyyyy',
  'dd MMM yyyy',
  'dd-MMM-yyyy',
] as const;

/** Nobody books outside of these; `20101112` would else also be of the year 1112. */
const plausibleYears = /^(?:19|20|21)\d{2}-/;

/** Finds the date-fns patterns that fit all of the dates. */
export function guessDateFormat(dates: readonly string[]): DateGuess {
  // What a review reads as absent, such as NULL, is no date either.
  const written = dates.map(readFieldText).filter((date) => typeof date === 'string');
  const isUsual = createDateReader();
  const others = written.filter((date) => isUsual(date) === undefined);
  if (others.length === 0) return { kind: 'usual' };
  const fitting = formats.filter((format) => {
    const read = createDateReader(format);
    return others.every((date) => plausibleYears.test(read(date) ?? ''));
  });
  const [format, another] = fitting;
  if (format === undefined) return { kind: 'unknown' };
  return another === undefined ? { kind: 'one', format } : { kind: 'several', formats: fitting };
}

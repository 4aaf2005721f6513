import { readField } from '../../booking/field-text.js';
import { createDateReader } from '../../booking/written-date.js';

/** Nearly every export has some broken dates. A review treats them as missing. */
export interface DatesRead {
  readonly read: number;
  /** The number of all dates. */
  readonly seen: number;
}

/** How many dates a date-fns pattern reads. */
interface FormatReading extends DatesRead {
  readonly format: string;
}

export type DateGuess =
  /** Nothing to configure: the dates are written YYYY-MM-DD, or there are none. */
  | ({ readonly kind: 'usual' } & DatesRead)
  | ({ readonly kind: 'one' } & FormatReading)
  /** Several patterns fit, and none is clearly better. */
  | { readonly kind: 'several'; readonly readings: readonly FormatReading[] }
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

/** Nobody books in other years. Without this, `20101112` could be in the year 1112. */
const plausibleYears = /^(?:19|20|21)\d{2}-/;

/** A pattern that reads less is not the right one. */
const minShare = 0.9;

/** Finds the date-fns pattern that fits nearly all dates. */
export function guessDateFormat(dates: readonly string[]): DateGuess {
  // Values that a review treats as missing, such as NULL, are not dates.
  const written = dates.map((date) => readField('date', date)).filter((date) => typeof date === 'string');
  const seen = written.length;
  const isUsual = createDateReader();
  const usual = written.filter((date) => isUsual(date) !== undefined).length;
  if (usual === seen) return { kind: 'usual', read: seen, seen };
  const readings = formats.map((format) => {
    const read = createDateReader(format);
    // Every pattern reads YYYY-MM-DD as well.
    const fits = (date: string) => isUsual(date) !== undefined || plausibleYears.test(read(date) ?? '');
    return { format, fitting: new Set(written.flatMap((date, at) => (fits(date) ? [at] : []))) };
  });
  const most = Math.max(...readings.map(({ fitting }) => fitting.size));
  if (most < seen * minShare) return { kind: 'unknown' };
  if (most === usual) return { kind: 'usual', read: usual, seen };
  const isBettered = (fitting: ReadonlySet<number>) =>
    readings.some(
      (other) => other.fitting.size > fitting.size && [...fitting].every((at) => other.fitting.has(at)),
    );
  const likely = readings
    .filter(({ fitting }) => fitting.size >= seen * minShare && !isBettered(fitting))
    .map(({ format, fitting }): FormatReading => ({ format, read: fitting.size, seen }));
  const [first, another] = likely;
  if (first === undefined) return { kind: 'unknown' };
  return another === undefined ? { kind: 'one', ...first } : { kind: 'several', readings: likely };
}

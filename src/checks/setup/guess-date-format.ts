import { readField } from '../../booking/field-text.js';
import { createDateReader } from '../../booking/written-date.js';

/** A date-fns pattern, and how many dates it reads. Nearly every export has some broken ones, which a review treats as missing. */
export interface DateReading {
  readonly format: string;
  readonly read: number;
  /** The number of all dates. */
  readonly seen: number;
}

/** What is understood without a setting. */
export const usualFormat = 'yyyy-MM-dd';

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

/** Finds the date-fns pattern that fits nearly all dates: none if they are no dates, several if they are ambiguous. */
export function guessDateFormat(dates: readonly string[]): readonly DateReading[] {
  // Values that a review treats as missing, such as NULL, are not dates.
  const written = dates.map((date) => readField('date', date)).filter((date) => typeof date === 'string');
  const seen = written.length;
  const isUsual = createDateReader();
  const usual = written.filter((date) => isUsual(date) !== undefined).length;
  const readings = formats.map((format) => {
    const read = createDateReader(format);
    // Every pattern reads YYYY-MM-DD as well.
    const fits = (date: string) => isUsual(date) !== undefined || plausibleYears.test(read(date) ?? '');
    return { format, fitting: new Set(written.flatMap((date, at) => (fits(date) ? [at] : []))) };
  });
  const most = Math.max(...readings.map(({ fitting }) => fitting.size));
  if (most < seen * minShare) return [];
  if (most === usual) return [{ format: usualFormat, read: usual, seen }];
  const isBettered = (fitting: ReadonlySet<number>) =>
    readings.some(
      (other) => other.fitting.size > fitting.size && [...fitting].every((at) => other.fitting.has(at)),
    );
  return readings
    .filter(({ fitting }) => fitting.size >= seen * minShare && !isBettered(fitting))
    .map(({ format, fitting }) => ({ format, read: fitting.size, seen }));
}

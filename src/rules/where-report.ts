import { formatCount, formatCountOf } from '../base/format.js';
import { foldCase } from '../booking/field-text.js';
import type {
  DayFilters,
  FilterColumn,
  FilterReport,
  FilterValue,
  FilterWarning,
} from '../booking/source.js';
import { chooseCompared, daysToCompare, leastDays, shareExpected, usualOf } from './volume.js';

/** More values are no list of states. */
const mostKnown = 20;
/** How many records there are at least for each value of a list of states: references, of which each is new, have one. */
const recordsPerValue = 2;

const daysInRow = 8;
const leastInRow = 5;
/** Of what is usual, whether taken or left out. */
const leastShare = 0.5;
const leastUsual = 20;

/**
 * What is odd about what `source.where` finds on a day: a value that no earlier day had, or hardly anything left out where
 * that is unusual. What is odd about a small day is its volume, which others compare.
 *
 * @param earlier the days before it, oldest first
 */
export function compareFilters(
  day: string,
  columns: readonly FilterColumn[],
  earlier: readonly DayFilters[],
  exceptions: readonly string[],
): FilterWarning[] {
  const comparable = new Set(daysToCompare(day, exceptions));
  return columns.flatMap((column) => {
    const known = earlier.flatMap(({ day, columns }) =>
      columns.filter((one) => one.column === column.column).map((one) => ({ ...one, day })),
    );
    const alike = known.filter((one) => one.condition === column.condition && comparable.has(one.day));
    return [...findNewValues(column, known), ...compareLeftOut(day, column, alike)];
  });
}

function findNewValues(column: FilterColumn, known: readonly FilterColumn[]): FilterWarning[] {
  if (!isList(column)) return [];
  const days = known.filter(({ isOfWords }) => isOfWords).flatMap(({ values = [] }) => values);
  const before = new Set(days.map(({ value }) => foldCase(value)));
  before.delete('');
  const added = column.values.filter(
    ({ value, isNamed }) => value !== '' && !isNamed && !before.has(foldCase(value)),
  );
  if (before.size === 0 || before.size + added.length > mostKnown) return [];
  return added.map((value) => ({ kind: 'new-value', column: column.column, value }));
}

/** Whether a column holds a list of words, such as those of a state. Addresses of guests are none, however few a day has. */
function isList(column: FilterColumn): column is FilterColumn & { readonly values: readonly FilterValue[] } {
  const words = (column.values ?? []).filter(({ value }) => value !== '');
  const total = words.reduce((sum, { records }) => sum + records, 0);
  const hasAddress = words.some(({ value, isNamed }) => !isNamed && value.includes('@'));
  return (
    column.isOfWords && column.values !== undefined && !hasAddress && total >= recordsPerValue * words.length
  );
}

function compareLeftOut(
  day: string,
  { column, taken, leftOut }: FilterColumn,
  earlier: readonly (FilterColumn & { readonly day: string })[],
): FilterWarning[] {
  const { days, isOfWeekday } = chooseCompared(day, earlier);
  const usual = usualOf(days.map((one) => one.leftOut)) ?? 0;
  const usuallyTaken = usualOf(days.map((one) => one.taken)) ?? 0;
  const size = usuallyTaken === 0 ? 1 : Math.min(1, taken / usuallyTaken);
  if (size < leastShare) return [];
  const inRow = earlier.slice(-daysInRow);
  const wasEach = inRow.length === daysInRow && inRow.every((one) => one.leftOut >= leastInRow);
  if (leftOut === 0 && wasEach) return [{ kind: 'none-left-out', column, leftOut, usual }];
  const share = shareExpected(leastShare, day, isOfWeekday);
  const isUsual = days.length >= leastDays && usual * size >= leastUsual;
  return isUsual && leftOut < usual * size * share ? [{ kind: 'few-left-out', column, leftOut, usual }] : [];
}

/** What a ledger remembers: the values of lists of words. */
export function forget(columns: readonly FilterColumn[]): FilterColumn[] {
  return columns.map((column) => {
    const { values: _, ...counts } = column;
    return isList(column) ? column : counts;
  });
}

/** In a sentence without its full stop: what was found on that day, and what to do. */
export function describeFilterWarning(warning: FilterWarning, day: string): string {
  const { column } = warning;
  switch (warning.kind) {
    case 'new-value': {
      const { value, records, isTaken } = warning.value;
      const isOne = records === 1;
      const fate = isTaken ? `${isOne ? 'counts' : 'count'} as bookings` : `${isOne ? 'is' : 'are'} left out`;
      const found = `${formatCountOf(records, 'record')} of ${day} with ${JSON.stringify(value)} in ${column}, which no earlier day had, ${fate}`;
      return `${found}: if that is wrong, add it to source.where${isTaken ? '' : `, then \`replay ${day} --late\``}`;
    }
    case 'none-left-out':
    case 'few-left-out': {
      const some = warning.leftOut === 0 ? 'none' : formatCountOf(warning.leftOut, 'record');
      return `source.where leaves out ${some} of ${day} by ${column}, usually ${formatCount(warning.usual)}: check how the export writes its values`;
    }
  }
}

export function describeFilterWarnings(day: string, filters: FilterReport | undefined): string[] {
  return (filters?.warnings ?? []).map((warning) => describeFilterWarning(warning, day));
}

/** A line for people about each column: what is left out, and what is taken. */
export function describeFilters(columns: readonly FilterColumn[]): string[] {
  return columns.map(({ column, taken, leftOut, values }) => {
    const out = `${column}: ${formatCount(leftOut)} of ${formatCountOf(taken + leftOut, 'record')} left out`;
    if (values === undefined) return `${out}; its values are not listed`;
    if (values.every(({ value }) => value === '')) return `${out}; no record has a value`;
    const list = (isTaken: boolean) => values.filter((one) => one.isTaken === isTaken).map(describeValue);
    const parts = [
      { title: '', found: list(false) },
      { title: 'taken: ', found: list(true) },
    ].filter(({ found }) => found.length > 0);
    return [out, ...parts.map(({ title, found }) => `${title}${found.join(', ')}`)].join('; ');
  });
}

function describeValue({ value, records }: FilterValue): string {
  return `${value === '' ? 'missing' : JSON.stringify(value)} ${formatCount(records)}`;
}

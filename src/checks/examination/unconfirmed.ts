import { stringify } from 'yaml';
import { formatCount } from '../../base/format.js';
import { cleanText, foldCase } from '../../booking/field-text.js';
import { matchColumns } from '../../booking/match-columns.js';
import type { RowFilter } from '../../sources/common/row-filter.js';
import type { Sample } from '../../sources/common/sample.js';
import { isFlagName, readFlag, readStatus } from './status-words.js';

/** A column that nobody uses, by which some bookings are cancelled or not confirmed yet. */
export interface UnconfirmedColumn {
  readonly column: string;
  /** Of the sample. */
  readonly records: number;
  /** How many of them don't look confirmed. */
  readonly unconfirmed: number;
  /** The values that may be shown, the most frequent first; empty for none. */
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** The records with other values. */
  readonly others: number;
  readonly where: RowFilter;
}

export interface Unconfirmed {
  readonly columns: readonly UnconfirmedColumn[];
  /** The setting that leaves them all out, with what it says already. */
  readonly where: RowFilter;
}

/** More different values are no list of states. */
const mostValues = 12;

/**
 * Finds columns of few values, some of which mean that a booking is cancelled or not confirmed; undefined without any.
 *
 * @param columns those that nothing uses
 * @param where what `source.where` says already
 */
export function findUnconfirmed(
  records: Sample['records'],
  columns: readonly string[],
  where: RowFilter = {},
): Unconfirmed | undefined {
  const found = columns.flatMap((column) => judgeColumn(column, records) ?? []);
  if (found.length === 0) return undefined;
  return { columns: found, where: Object.assign({}, where, ...found.map((one) => one.where)) };
}

function judgeColumn(column: string, records: Sample['records']): UnconfirmedColumn | undefined {
  // A name twice is nobody's choice, and a column named like a field holds that field, perhaps a guest.
  if (column === '' || matchColumns([column]).columns.size > 0) return undefined;
  const counts = countValues(column, records);
  if (counts === undefined) return undefined;
  const read = readerOf(column);
  const values = [...counts]
    .map(([value, count]) => ({ value, count, status: read(value) }))
    .toSorted((one, other) => other.count - one.count);
  const isClear = values.some(({ status }) => status === 'cancelled' || status === 'confirmed');
  const unconfirmed = values.filter(
    ({ status }) => status === 'cancelled' || (status === 'doubtful' && isClear),
  );
  const filled = values.filter(({ value }) => value !== '');
  const unknown = filled.filter(({ status }) => status === undefined);
  // In a few records any column has few values. Those of a list of states are repeated.
  if (unconfirmed.length === 0 || unknown.length * 2 > sum(filled)) return undefined;
  const shown = values.filter((one) => one.value === '' || one.status !== undefined || isCode(one));
  return {
    column,
    records: records.length,
    unconfirmed: sum(unconfirmed),
    values: shown.map(({ value, count }) => ({ value, count })),
    others: records.length - sum(shown),
    where: { [column]: { not: unconfirmed.map(({ value }) => value) } },
  };
}

function readerOf(column: string) {
  return isFlagName(column) ? readFlag : readStatus;
}

/** The filter that leaves out what is cancelled for certain: what is not confirmed yet may still be, and is then to be reviewed. */
export function leaveOutCancelled({ columns }: Unconfirmed): RowFilter {
  const filters = columns.map(({ column, values }): [string, string[]] => [
    column,
    values.flatMap(({ value }) => (readerOf(column)(value) === 'cancelled' ? value : [])),
  ]);
  return Object.fromEntries(
    filters.filter(([, values]) => values.length > 0).map(([column, values]) => [column, { not: values }]),
  );
}

/** By value, as `source.where` compares it; undefined if there are too many. */
function countValues(column: string, records: Sample['records']): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>();
  const spellings = new Map<string, string>();
  for (const record of records) {
    const text = cleanText(record.get(column) ?? '');
    const value = spellings.get(foldCase(text)) ?? text;
    spellings.set(foldCase(text), value);
    counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size - (counts.has('') ? 1 : 0) > mostValues) return undefined;
  }
  return counts;
}

/** An unknown value may be shown if it is one word that many records share: nobody's name. */
function isCode({ value, count }: { readonly value: string; readonly count: number }): boolean {
  return count >= 10 && /^[\p{L}\p{N}_-]{1,20}$/u.test(value);
}

function sum(values: readonly { readonly count: number }[]): number {
  return values.reduce((total, { count }) => total + count, 0);
}

/** One line for each column. */
export function describeUnconfirmed({ columns }: Unconfirmed): string {
  return columns.map(describeColumn).join('\n');
}

function describeColumn({ column, records, unconfirmed, values, others }: UnconfirmedColumn): string {
  const counts = values.map(
    ({ value, count }) => `${value === '' ? 'empty' : JSON.stringify(value)} ${formatCount(count)}`,
  );
  const rest = others > 0 ? [`others ${formatCount(others)}`] : [];
  return (
    `${formatCount(unconfirmed)} of the first ${formatCount(records)} records look cancelled or not confirmed by the ` +
    `column ${JSON.stringify(column)}, which nothing uses: ${[...counts, ...rest].join(', ')}`
  );
}

/** What to do about them. */
export function adviseOnUnconfirmed({ where }: Unconfirmed): string {
  return `They would be sent to the service. To leave them out: source.where: ${writeFilter(where)}. If they are to be reviewed, name the column in source.keep.`;
}

/** On one line, as a configuration has it. */
export function writeFilter(where: RowFilter): string {
  const text = stringify(where, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  // What looks like a variable is meant literally.
  return text.replaceAll('${', () => '$${');
}

import { buildRecord } from '../../booking/booking.js';
import {
  type BookingSource,
  SourceError,
  type SourceNotice,
  type SourceRecord,
} from '../../booking/source.js';
import {
  describeColumn,
  describeNames,
  listFieldColumns,
  requireColumns,
  type WantedColumns,
} from '../common/columns.js';
import { createDayRows, type DayRowsOptions } from './day-rows.js';
import { measureRow, readTyped, rowLimit, type SqlRow, type SqlType } from './rows.js';

export type SqlSourceOptions = DayRowsOptions & WantedColumns;

/**
 * Reads the day's bookings as rows of one query: PostgreSQL, MySQL or MariaDB. `place` is the row, counted from 1. Values
 * are texts as written by the database, so that no digit is lost; dates and times are in UTC. NULL is a missing field;
 * bytes are rejected, as they are not text.
 *
 * The query runs in a read-only transaction, no faster than chunks are requested. When the reader stops, the signal aborts or the
 * time is up, its connection is cut; the server has a time limit of its own. If the query, the connection or the server fails, `read` throws a
 * SourceError (`missing`, `unreadable`, `missing-column`, `ambiguous-column`, `truncated`) with the database's code but
 * without its message.
 *
 * @throws RangeError for an invalid address or query
 */
export function createSqlSource(options: SqlSourceOptions): BookingSource {
  const { where, read } = createDayRows(options);
  return {
    locate: () => where,
    placeUnit: 'row',
    measure: async () => Number.POSITIVE_INFINITY,
    async *read(day, { signal, atMost }) {
      let found: ResultColumns | undefined;
      let place = 0;
      for await (const { columns: names, types, rows } of read(day, { signal, atMost })) {
        const isFirst = found === undefined;
        found ??= findResultColumns(names, types, options, where);
        const notices = isFirst ? found.notices : undefined;
        const records: SourceRecord[] = [];
        for (const row of rows) {
          place += 1;
          if (row.length > 1 && row.every((cell) => cell === null || cell === '')) continue;
          const isTooLong = measureRow(row) > rowLimit;
          records.push(isTooLong ? { place, unreadable: 'record-too-long' } : found.pickRecord(place, row));
        }
        if (records.length > 0 || notices) yield { records, ...(notices && { notices }) };
      }
      signal.throwIfAborted();
    },
  };
}

interface ResultColumns {
  /** Undefined without any. */
  readonly notices: readonly SourceNotice[] | undefined;
  pickRecord(place: number, row: SqlRow): SourceRecord;
}

/**
 * Finds the fields among the columns of a result. A name matches exactly or, as databases fold the case of names, the only
 * column that differs in case alone.
 *
 * @throws SourceError `missing-column` if the column of a field or an extra one is missing; `ambiguous-column` if several
 *   columns match
 */
function findResultColumns(
  names: readonly string[],
  types: readonly SqlType[],
  { columns = {}, filterColumns = [], extraColumns = [] }: WantedColumns,
  where: string,
): ResultColumns {
  const indexesOf = (isMeant: (name: string) => boolean) =>
    names.flatMap((name, index) => (isMeant(name) ? [index] : []));

  function findOnly(column: string, use: string): number | undefined {
    const exact = indexesOf((name) => name === column);
    const folded = column.toLowerCase();
    const meant = exact.length > 0 ? exact : indexesOf((name) => name.toLowerCase() === folded);
    if (meant.length <= 1) return meant[0];
    throw new SourceError(
      'ambiguous-column',
      `${where}: the result has ${meant.length} columns that could be ${describeColumn(column, use)}; give them names that differ, with AS`,
    );
  }

  const describeResult = (shown: string) =>
    `${where}: the result has no column ${shown}; its columns are ${describeNames(names)}`;

  const fields = listFieldColumns(columns);
  const fieldIndexes = fields.map((one) => one && findOnly(one.column, one.field));
  requireColumns(fields, {
    fault: 'missing-column',
    isThere: (index) => fieldIndexes[index] !== undefined,
    describe: describeResult,
  });
  const filterIndexes = filterColumns.map((column) => {
    const at = findOnly(column, 'source.where');
    if (at !== undefined) return at;
    throw new SourceError('missing-column', describeResult(describeColumn(column, 'source.where')));
  });
  const extraIndexes = extraColumns.map((column) => findOnly(column, 'source.keep'));
  const absent = extraColumns.filter((_, index) => extraIndexes[index] === undefined);
  const hasFieldsOnly = filterIndexes.length + extraIndexes.length === 0;
  const readCell = (row: SqlRow, at: number | undefined) => (at === undefined ? undefined : row[at]);
  return {
    notices: absent.length > 0 ? absent.map((column) => ({ kind: 'absent-column', column })) : undefined,
    pickRecord(place, row) {
      const fields = buildRecord((index) => readCell(row, fieldIndexes[index]));
      if (hasFieldsOnly) return { place, fields, whole: row };
      const filterValues = filterIndexes.map((at) => readTyped(row[at], types[at]));
      const extraValues = extraIndexes.map((at) => readCell(row, at));
      return { place, fields, whole: row, filterValues, extraValues };
    },
  };
}

import type { BookingSource, SourceRecord } from '../../booking/source.js';
import { describeNames, findTableColumns, type WantedColumns } from '../common/columns.js';
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
      let found: ReturnType<typeof findResultColumns> | undefined;
      let place = 0;
      for await (const { columns: names, types, rows } of read(day, { signal, atMost })) {
        const isFirst = found === undefined;
        found ??= findResultColumns(names, types, options, where);
        const notices = isFirst ? found.notices : [];
        const records: SourceRecord[] = [];
        for (const row of rows) {
          place += 1;
          if (row.length > 1 && row.every((cell) => cell === null || cell === '')) continue;
          const isTooLong = measureRow(row) > rowLimit;
          records.push(isTooLong ? { place, unreadable: 'record-too-long' } : found.pickRecord(place, row));
        }
        if (records.length + notices.length > 0) yield { records, notices };
      }
      signal.throwIfAborted();
    },
  };
}

/**
 * Finds the fields among the columns of a result. A name matches exactly or, as databases fold the case of names, the only
 * column that differs in case alone.
 *
 * @throws SourceError as `findTableColumns` does
 */
function findResultColumns(
  names: readonly string[],
  types: readonly SqlType[],
  wanted: WantedColumns,
  where: string,
) {
  const indexesOf = (isMeant: (name: string) => boolean) =>
    names.flatMap((name, index) => (isMeant(name) ? [index] : []));
  return findTableColumns<SqlRow[number]>(wanted, {
    findAll(column) {
      const exact = indexesOf((name) => name === column);
      const folded = column.toLowerCase();
      return exact.length > 0 ? exact : indexesOf((name) => name.toLowerCase() === folded);
    },
    describeAmbiguous: (column, count) =>
      `${where}: the result has ${count} columns that could be ${column}; give them names that differ, with AS`,
    describeMissing: (shown) =>
      `${where}: the result has no column ${shown}; its columns are ${describeNames(names)}`,
    readFilterCell: (cell, at) => readTyped(cell, types[at]),
  });
}

import { buildRecord } from '../../booking/booking.js';
import {
  type BookingSource,
  type SourceColumns,
  SourceError,
  type SourceNotice,
  type SourceRecord,
} from '../../booking/source.js';
import { describeColumn, describeNames, listFieldColumns, requireColumns } from '../common/columns.js';
import { createDayRows, type DayRowsOptions } from './day-rows.js';
import { measureRow, readTyped, rowLimit, type SqlRow, type SqlType } from './rows.js';

export interface SqlSourceOptions extends DayRowsOptions {
  /** The column of each field, if it is not named like the field. */
  readonly columns?: SourceColumns;
  /** Further columns, whose values every record has as `filterValues`. */
  readonly filterColumns?: readonly string[];
  /** Columns that are kept with the booking, and may be absent: every record has their values as `extraValues`. */
  readonly extraColumns?: readonly string[];
}

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
  const { columns = {}, filterColumns = [], extraColumns = [] } = options;
  const { where, read } = createDayRows(options);
  return {
    locate: () => where,
    placeUnit: 'row',
    measure: async () => Number.POSITIVE_INFINITY,
    async *read(day, { signal, atMost }) {
      let found: ResultColumns | undefined;
      let pendingNotices: readonly SourceNotice[] = [];
      let place = 0;
      for await (const { columns: names, types, rows } of read(day, { signal, atMost })) {
        if (found === undefined) {
          found = findResultColumns(names, { columns, filterColumns, extraColumns, where, types });
          pendingNotices = found.notices;
        }
        if (rows.length === 0) continue;
        const records: SourceRecord[] = [];
        for (const row of rows) {
          place += 1;
          if (row.length > 1 && row.every((cell) => cell === null || cell === '')) continue;
          const isTooLong = measureRow(row) > rowLimit;
          records.push(isTooLong ? { place, unreadable: 'record-too-long' } : found.pickRecord(place, row));
        }
        if (records.length === 0 && pendingNotices.length === 0) continue;
        yield {
          records,
          ...(pendingNotices.length > 0 && { notices: pendingNotices }),
        };
        pendingNotices = [];
      }
      if (pendingNotices.length > 0) yield { records: [], notices: pendingNotices };
      signal.throwIfAborted();
    },
  };
}

export interface ResultColumns {
  readonly notices: readonly SourceNotice[];
  pickRecord(place: number, row: SqlRow): SourceRecord;
}

interface WantedColumns extends Pick<SqlSourceOptions, 'columns' | 'filterColumns' | 'extraColumns'> {
  /** For messages. */
  readonly where: string;
  /** Of the result's columns. */
  readonly types?: readonly SqlType[];
}

/**
 * Finds the fields among the columns of a result. A name matches exactly or, as databases fold the case of names, the only
 * column that differs in case alone.
 *
 * @throws SourceError `missing-column` if the column of a field or an extra one is missing; `ambiguous-column` if several
 *   columns match
 */
export function findResultColumns(
  names: readonly string[],
  { columns = {}, filterColumns = [], extraColumns = [], where, types = [] }: WantedColumns,
): ResultColumns {
  const notices: SourceNotice[] = [];

  function findOnly(column: string, use: string): number | undefined {
    const exact = indexesOf(names, (name) => name === column);
    const folded = column.toLowerCase();
    const meant = exact.length > 0 ? exact : indexesOf(names, (name) => name.toLowerCase() === folded);
    if (meant.length > 1) {
      throw new SourceError(
        'ambiguous-column',
        `${where}: the result has ${meant.length} columns that could be ${describeColumn(column, use)}; give them names that differ, with AS`,
      );
    }
    return meant[0];
  }

  const describeResult = (shown: string) =>
    `${where}: the result has no column ${shown}; its columns are ${describeNames(names)}`;

  function findFilterColumn(column: string): number {
    const at = findOnly(column, 'source.where');
    if (at !== undefined) return at;
    throw new SourceError('missing-column', describeResult(describeColumn(column, 'source.where')));
  }

  function findExtraColumn(column: string): number | undefined {
    const at = findOnly(column, 'source.keep');
    if (at === undefined) notices.push({ kind: 'absent-column', column });
    return at;
  }

  const fields = listFieldColumns(columns);
  const fieldIndexes = fields.map((one) => one && findOnly(one.column, one.field));
  requireColumns(fields, {
    fault: 'missing-column',
    isThere: (index) => fieldIndexes[index] !== undefined,
    describe: describeResult,
  });
  const filterIndexes = filterColumns.map(findFilterColumn);
  const extraIndexes = extraColumns.map(findExtraColumn);
  const readCell = (row: SqlRow, at: number | undefined) => (at === undefined ? undefined : row[at]);
  const pickFields = (row: SqlRow) => buildRecord((index) => readCell(row, fieldIndexes[index]));
  return {
    notices,
    pickRecord: (place, row) =>
      filterIndexes.length + extraIndexes.length === 0
        ? { place, fields: pickFields(row), whole: row }
        : {
            place,
            fields: pickFields(row),
            whole: row,
            filterValues: filterIndexes.map((at) => readTyped(row[at], types[at])),
            extraValues: extraIndexes.map((at) => readCell(row, at)),
          },
  };
}

function indexesOf(names: readonly string[], isMeant: (name: string) => boolean): number[] {
  return names.flatMap((name, index) => (isMeant(name) ? [index] : []));
}

import type { BookingSource, SourceColumns, SourceNotice } from '../../review/source.js';
import { createDayRows, type DayRowsOptions } from './day-rows.js';
import { findResultColumns, type ResultColumns } from './result-columns.js';
import { measureRow } from './row-size.js';

export interface SqlSourceOptions extends DayRowsOptions {
  /** The column of each field, where it is not the field's own name. */
  readonly columns?: SourceColumns;
}

/** One row, all fields together, may be this long. (Design 4.) */
const recordLimit = 1_000_000;

/**
 * The day's bookings as the rows of one query: PostgreSQL, MySQL, MariaDB, or a file of SQLite. `place` is the row,
 * counted from 1. Values are the database's own texts, so that no digit is lost; dates and times are those of UTC. NULL is
 * a missing field, bytes are rejected as what is no text.
 *
 * The query is read in a transaction that can't write, no faster than chunks are asked for, and is ended on the server
 * when the reader walks away, the signal aborts or the time is over. A query, a connection or a server that fails makes
 * `read` throw a SourceError (`missing`, `unreadable`, `missing-column`, `ambiguous-column`, `truncated`), which tells
 * the database's code and none of its words.
 *
 * @throws RangeError for an address or a query that can't be used.
 */
export function createSqlSource(options: SqlSourceOptions): BookingSource {
  const { columns = {} } = options;
  const { where, read } = createDayRows(options);
  return {
    locate: () => where,
    placeUnit: 'row',
    measure: async () => undefined,
    async *read(day, { signal, atMost }) {
      let found: ResultColumns | undefined;
      let untold: readonly SourceNotice[] = [];
      let place = 0;
      for await (const { columns: names, rows } of read(day, { signal, atMost })) {
        if (found === undefined) {
          found = findResultColumns(names, columns, where);
          untold = found.notices;
        }
        if (rows.length === 0) continue;
        const { pickFields } = found;
        yield {
          records: rows.map((row) => {
            place += 1;
            return measureRow(row) > recordLimit
              ? { place, unreadable: 'record-too-long' as const }
              : { place, fields: pickFields(row) };
          }),
          ...(untold.length > 0 && { notices: untold }),
        };
        untold = [];
      }
      if (untold.length > 0) yield { records: [], notices: untold };
      signal.throwIfAborted();
    },
  };
}

import { type BookingField, bookingFields, buildRecord, type RawBooking } from '../../booking/booking.js';
import {
  type BookingSource,
  type SourceColumns,
  SourceError,
  type SourceNotice,
} from '../../review/source.js';
import { createDayRows, type DayRowsOptions } from './day-rows.js';
import { measureRow, type SqlRow } from './rows.js';

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

export interface ResultColumns {
  readonly notices: readonly SourceNotice[];
  pickFields(row: SqlRow): RawBooking;
}

/**
 * Finds the fields among the columns of a result. A name is met exactly or else, for databases fold the case of names,
 * by the only column that differs in nothing but case.
 *
 * @throws SourceError `missing-column` when the master id's column, or one that was named, is not there;
 *   `ambiguous-column` when more than one could be meant.
 */
export function findResultColumns(
  names: readonly string[],
  columns: SourceColumns,
  where: string,
): ResultColumns {
  const notices: SourceNotice[] = [];

  function find({ name: field, isRequired }: BookingField): number | undefined {
    const column = columns[field] ?? field;
    const exact = indexesOf(names, (name) => name === column);
    const folded = column.toLowerCase();
    const meant = exact.length > 0 ? exact : indexesOf(names, (name) => name.toLowerCase() === folded);
    if (meant.length > 1) {
      throw new SourceError(
        'ambiguous-column',
        `${where}: the result has ${meant.length} columns that could be ${describe(column, field)}; give them names that differ, with AS`,
      );
    }
    if (meant.length === 1) return meant[0];
    if (isRequired || columns[field] !== undefined) {
      throw new SourceError(
        'missing-column',
        `${where}: the result has no column ${describe(column, field)} among its ${names.length}`,
      );
    }
    notices.push({ kind: 'absent-column', column });
    return undefined;
  }

  const places = bookingFields.map(find);
  const readCell = (row: SqlRow, at: number | undefined) => (at === undefined ? undefined : row[at]);
  return {
    notices,
    pickFields: (row) => buildRecord((place) => readCell(row, places[place])),
  };
}

function indexesOf(names: readonly string[], isMeant: (name: string) => boolean): number[] {
  return names.flatMap((name, index) => (isMeant(name) ? [index] : []));
}

function describe(column: string, field: string): string {
  return column === field ? JSON.stringify(column) : `${JSON.stringify(column)} (for ${field})`;
}

import type { BusinessDay } from '../../../src/booking/business-day.js';
import { createSqlSource, type SqlSourceOptions } from '../../../src/sources/sql/sql-source.js';
import { columnsIn } from '../../support/source-columns.js';
import { day, readToEnd } from '../reading.js';

/** Says which fields the query lacks: those that neither it nor `columns` names. */
export function openSqlSource({ query = '', columns, ...options }: SqlSourceOptions) {
  return createSqlSource({ ...options, query, columns: columnsIn(query, columns) });
}

/** Reads a day to its end. */
export function readDay(options: SqlSourceOptions, of: BusinessDay = day) {
  return readToEnd(openSqlSource(options), { of });
}

/** Reads a day that must fail, and returns the error. */
export function failureOf(options: SqlSourceOptions): Promise<unknown> {
  return readDay(options).then(
    () => Promise.reject(new Error('expected a reading that fails, got: a day')),
    (error: unknown) => error,
  );
}

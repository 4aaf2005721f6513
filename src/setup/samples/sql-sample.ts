import { createDayRows, type DayRowsOptions } from '../../sources/sql/day-rows.js';
import type { SqlRow, SqlValue } from '../../sources/sql/rows.js';
import type { Sample, SampleDay } from './sample.js';

/** Each may be the work of a whole day to the database: dates are seldom left open there. */
const sampleRows = 5;

/**
 * Samples the query's columns and first rows, read as the source reads them.
 *
 * @throws RangeError for an address or a query that can't be used
 */
export function sampleSql(options: DayRowsOptions): SampleDay {
  const { read } = createDayRows(options);
  return async (day, signal) => {
    let sample: Sample = { columns: [], records: [], delimiter: undefined };
    for await (const { columns, rows } of read(day, { signal, atMost: sampleRows })) {
      sample = {
        ...sample,
        columns,
        records: [...sample.records, ...rows.map((row) => byColumn(columns, row))],
      };
    }
    return sample;
  };
}

function byColumn(columns: readonly string[], row: SqlRow): ReadonlyMap<string, string> {
  return new Map(
    columns.flatMap((name, at): [string, string][] => {
      const text = readText(row[at] ?? null);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

function readText(value: SqlValue): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && !Number.isNaN(value) ? String(value) : undefined;
}

import { type Sample, type SampleDay, sampleRecords } from '../common/sample.js';
import { createDayRows } from './day-rows.js';
import type { SqlSettings } from './kind.js';
import { chunkBytes, measureRow, readTyped, type SqlRow, type SqlType } from './rows.js';

/** Samples the query's columns and first rows. */
export function sampleQuery(settings: SqlSettings): SampleDay {
  const { read } = createDayRows(settings);
  return async (day, signal) => {
    const records: Sample['records'][number][] = [];
    let names: readonly string[] = [];
    let held = 0;
    for await (const { columns, types, rows } of read(day, { signal, atMost: sampleRecords })) {
      names = columns;
      for (const row of rows) {
        records.push(toRecord(columns, types, row));
        held += measureRow(row);
      }
      // A row can be as wide as a document.
      if (held > chunkBytes) break;
    }
    return { columns: names, records };
  };
}

function toRecord(
  columns: readonly string[],
  types: readonly SqlType[],
  row: SqlRow,
): ReadonlyMap<string, string> {
  return new Map(
    columns.flatMap((name, at): [string, string][] => {
      const cell = row[at];
      // Digits stay as the database writes them: 1.50.
      const isText = types[at] === 'other' || (types[at] === 'number' && typeof cell === 'string');
      const value = isText ? cell : readTyped(cell, types[at]);
      return ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [];
    }),
  );
}

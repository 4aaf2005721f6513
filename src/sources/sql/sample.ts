import { type SampleDay, sampleRecords } from '../common/sample.js';
import { type ListedMembers, toMemberSample } from '../json/sample.js';
import { createDayRows } from './day-rows.js';
import type { SqlSettings } from './kind.js';
import { chunkBytes, measureRow, readTyped, type SqlRow, type SqlType } from './rows.js';

/** Samples the query's columns and first rows. */
export function sampleQuery(settings: SqlSettings): SampleDay {
  const { read } = createDayRows(settings);
  return async (day, signal) => {
    const records: ListedMembers[] = [];
    let names: readonly string[] = [];
    let held = 0;
    for await (const { columns, types, rows } of read(day, { signal, atMost: sampleRecords })) {
      names = columns;
      for (const row of rows) {
        records.push(new Map(names.map((name, at) => [name, readShown(row[at], types[at])])));
        held += measureRow(row);
      }
      // A row can be as wide as a document.
      if (held > chunkBytes) break;
    }
    return { ...toMemberSample(records), columns: names };
  };
}

/** Digits stay as the database writes them: 1.50. */
function readShown(cell: SqlRow[number] | undefined, type: SqlType | undefined): unknown {
  const isText = type === 'other' || (type === 'number' && typeof cell === 'string');
  return isText ? cell : readTyped(cell, type);
}

import type { BusinessDay } from '../../../src/booking/business-day.js';
import type { SourceChunk, SourceNotice } from '../../../src/booking/source.js';
import { createSqlSource, type SqlSourceOptions } from '../../../src/sources/sql/sql-source.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { columnsIn } from '../../support/source-columns.js';
import { listRecords } from '../../support/source-records.js';
import { day } from '../csv/csv-folder.js';

/** Filler. */
const littleBytes = 32_000_000;

/** Says which fields the query lacks: those that neither it nor `columns` names. */
export function openSqlSource({ query = '', columns, ...options }: SqlSourceOptions) {
  return createSqlSource({ ...options, query, columns: columnsIn(query, columns) });
}

/** Reads a day to its end. */
export async function readDay(options: SqlSourceOptions, businessDay: BusinessDay = day) {
  const chunks: SourceChunk[] = [];
  const source = openSqlSource(options);
  for await (const chunk of source.read(businessDay, { signal: new AbortController().signal })) {
    chunks.push(chunk);
  }
  return {
    chunks,
    records: listRecords(chunks),
    notices: chunks.flatMap((chunk): readonly SourceNotice[] => chunk.notices ?? []),
  };
}

/** Reads a day that must fail, and returns the error. */
export async function failureOf(options: SqlSourceOptions): Promise<unknown> {
  try {
    await readDay(options);
  } catch (error) {
    return error;
  }
  throw new Error('expected a reading that fails, got: a day');
}

/** Reads a day, and returns its number of rows and by how many bytes the memory grew meanwhile. */
export async function measureMemory(options: SqlSourceOptions) {
  const source = openSqlSource(options);
  const inUse = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  collectGarbage();
  const before = inUse();
  let rows = 0;
  let growth = 0;
  for await (const { records } of source.read(day, { signal: new AbortController().signal })) {
    rows += records.length;
    if (inUse() - before <= growth + littleBytes) continue;
    // Garbage doesn't count, whenever it is collected.
    collectGarbage();
    growth = Math.max(growth, inUse() - before);
  }
  return { rows, growth };
}

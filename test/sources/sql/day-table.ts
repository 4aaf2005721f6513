import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import { vi } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import type { BusinessDay } from '../../../src/booking/business-day.js';
import type { SourceChunk, SourceNotice } from '../../../src/booking/source.js';
import { createSqlSource, type SqlSourceOptions } from '../../../src/sources/sql/sql-source.js';
import type { DayOfRecords, IntendedRecord } from '../../contracts/source.js';
import { collectGarbage } from '../../support/collect-garbage.js';
import { columnsIn } from '../../support/source-columns.js';
import { listRecords } from '../../support/source-records.js';
import { day } from '../csv/csv-folder.js';

/** Filler. */
const littleBytes = 32_000_000;

/** Rows of a table of bookings: those of the day, between rows of other days, which must never be returned. */
export function rowsWithOtherDays(records: readonly IntendedRecord[]) {
  const other: IntendedRecord = { ServiceId: '404', BookingReferenceId: 'of another day' };
  return [
    ...rowsOf('2026-11-20', records),
    ...rowsOf('2026-11-19', [other, other]),
    ...rowsOf('2026-11-21', [other]),
  ];
}

/** The rows of several days. */
export function rowsOfDays(days: readonly DayOfRecords[]) {
  return days.flatMap(({ day: { iso }, records }) => rowsOf(iso, records));
}

function rowsOf(bookedOn: string, records: readonly IntendedRecord[]) {
  return records.map((record, index) => ({
    place: index + 1,
    bookedOn,
    cells: serviceFields.map((field) => record[field] ?? null),
  }));
}

type Rows = ReturnType<typeof rowsOf>;

/** Makes a table only the first time these rows are requested: most checks of the contract read the same ones. */
export function onceForRows<Table>(make: (rows: Rows) => Promise<Table>): (rows: Rows) => Promise<Table> {
  const made = new Map<string, Promise<Table>>();
  return (rows) => {
    const key = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
    const table = made.get(key) ?? make(rows);
    made.set(key, table);
    return table;
  };
}

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

/** Counts the bytes read from a port, without those that only the system buffers. */
export function countArriving(port: number): () => number {
  const sockets: Socket[] = [];
  const original = Socket.prototype.connect;
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...to: unknown[]) {
    this.once('connect', () => {
      if (this.remotePort === port) sockets.push(this);
    });
    return Reflect.apply(original, this, to);
  });
  return () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
}

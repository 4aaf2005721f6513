import { inspect } from 'node:util';
import { expect } from 'vitest';
import { type BusinessDay, createBusinessDay } from '../../src/booking/business-day.js';
import {
  type BookingSource,
  type SourceChunk,
  SourceError,
  type SourceFault,
  type SourceNotice,
  type SourceRecord,
} from '../../src/booking/source.js';
import { type CsvSourceOptions, createCsvSource } from '../../src/sources/csv/csv-source.js';
import { createDayFile, type DayFile } from '../../src/sources/files/day-file.js';
import { convertText, type FileDecoder } from '../../src/sources/files/text-file.js';
import { createNdjsonSource, type NdjsonSourceOptions } from '../../src/sources/ndjson/ndjson-source.js';
import { columnsIn } from '../support/source-columns.js';
import { listRecords } from '../support/source-records.js';

export const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
export const never = () => new AbortController().signal;

interface ReadOptions {
  readonly of?: BusinessDay;
  readonly signal?: AbortSignal;
  /** Called with each chunk, also of a day that then fails. */
  readonly onChunk?: (chunk: SourceChunk) => void;
}

/** Reads a day to its end. */
export async function readToEnd(
  source: BookingSource,
  { of = day, signal = never(), onChunk }: ReadOptions = {},
) {
  const chunks: SourceChunk[] = [];
  for await (const chunk of source.read(of, { signal })) {
    onChunk?.(chunk);
    chunks.push(chunk);
  }
  return {
    chunks,
    records: listRecords(chunks),
    notices: chunks.flatMap((chunk): readonly SourceNotice[] => chunk.notices ?? []),
  };
}

/** Expects a read to fail with this fault and a message that quotes none of these: every guest in the tests is called Canary. */
export async function expectFault(
  reading: Promise<unknown>,
  fault: SourceFault,
  message: RegExp,
  secrets: readonly string[] = [],
): Promise<SourceError> {
  const error = await reading.then(
    () => expect.fail('it was read'),
    (error: unknown) => error,
  );
  if (!(error instanceof SourceError)) throw error;
  expect(error.message).toMatch(message);
  expect(error.fault).toBe(fault);
  for (const secret of ['Canary', ...secrets]) expect(inspect(error, { depth: 10 })).not.toContain(secret);
  return error;
}

/** All bytes of a day's file. @param onBlock called with the number of each block, from 1 */
export async function readFile(file: DayFile, onBlock: (count: number) => void = () => {}): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for await (const { bytes } of file.read(day, { blockBytes: 100_000, signal: never() })) {
    blocks.push(bytes);
    onBlock(blocks.length);
  }
  return Buffer.concat(blocks);
}

/** The file of every day. */
function fileOf(content: string | Buffer, name: string): DayFile {
  const bytes = Buffer.from(content);
  return createDayFile({
    locate: () => name,
    async *read() {
      yield { bytes, size: bytes.length };
    },
  });
}

/** Reads the content of a day's CSV file, saying which fields it lacks unless that is said. */
export async function readCsv(content: string | Buffer, options: Omit<CsvSourceOptions, 'file'> = {}) {
  const columns = columnsIn(content, options.columns);
  const source = createCsvSource({ ...options, columns, file: fileOf(content, '/in/2026-11-20.csv') });
  const read = await readToEnd(source);
  return { ...read, records: read.chunks.flatMap(({ records }) => records.map(asText)) };
}

/** Reads the content of a day's NDJSON file, saying which fields it lacks unless that is said. */
export function readNdjson(
  content: string | Buffer,
  { onChunk, ...options }: Omit<NdjsonSourceOptions, 'file'> & Pick<ReadOptions, 'onChunk'> = {},
) {
  const columns = columnsIn(content, options.columns);
  const file = fileOf(content, '/in/2026-11-20.ndjson');
  return readToEnd(createNdjsonSource({ ...options, columns, file }), { ...(onChunk && { onChunk }) });
}

/** The records of these bytes, which arrive in blocks. */
export function decodeAll(decoder: FileDecoder, bytes: Buffer, blockBytes: number): SourceRecord[] {
  const converted = convertText(decoder, 'day.txt', 'utf-8');
  const records: SourceRecord[] = [];
  for (let at = 0; at < bytes.length; at += blockBytes)
    records.push(...converted.decode(bytes.subarray(at, at + blockBytes)).records);
  return [...records, ...converted.end().records];
}

/** The record with its cells as text. */
export function asText(record: SourceRecord): SourceRecord {
  if ('unreadable' in record) return record;
  const { place, fields, filterValues = [] } = record;
  return { place, fields, ...(filterValues.length > 0 && { filterValues }) };
}

/** Each record as place:ServiceId, or place!reason. */
export function summarise(records: readonly SourceRecord[]): string[] {
  return records.map((record) =>
    'fields' in record
      ? `${record.place}:${record.fields.ServiceId}`
      : `${record.place}!${record.unreadable}`,
  );
}

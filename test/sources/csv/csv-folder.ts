import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { SourceChunk, SourceRecord } from '../../../src/booking/source.js';
import {
  type CsvSourceOptions,
  createCsvDecoder,
  createCsvSource,
} from '../../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { convertText } from '../../../src/sources/files/text-file.js';
import { columnsIn } from '../../support/source-columns.js';

export const day = createBusinessDay('2026-11-20', 'Europe/Madrid');

type Options = Omit<CsvSourceOptions, 'file'>;

/** Creates a folder for each test of the calling file, and reads the day's file in it. */
export function useCsvFolder() {
  let folder = '';
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'csv-source-')));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function readDay(options: Options = {}, template = '{day}.csv') {
    const source = createCsvSource({ file: createLocalDayFile(join(folder, template)), ...options });
    const chunks: SourceChunk[] = [];
    for await (const chunk of source.read(day, { signal: new AbortController().signal })) chunks.push(chunk);
    return {
      chunks,
      records: chunks.flatMap((chunk): readonly SourceRecord[] => chunk.records.map(asText)),
      notices: chunks.flatMap((chunk) => chunk.notices ?? []),
    };
  }

  return {
    pathOf: (name: string) => join(folder, name),
    readDay,
    /** Writes the day's file and reads it, saying which fields it lacks. */
    async readFile(content: string | Buffer, options: Options = {}) {
      await writeFile(join(folder, '2026-11-20.csv'), content);
      return readDay({ ...options, columns: columnsIn(content, options.columns) });
    },
  };
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

export interface Reading {
  readonly blockBytes: number;
  readonly delimiter?: string;
  readonly recordLimit?: number;
}

/** The records of these bytes, which arrive in blocks. */
export function read(
  bytes: Buffer,
  { blockBytes, delimiter = ',', recordLimit = 1_000_000 }: Reading,
): SourceRecord[] {
  const path = 'day.csv';
  const decoder = convertText(
    createCsvDecoder({ path, columns: columnsIn(bytes), delimiter, recordLimit }),
    path,
    'utf-8',
  );
  const records: SourceRecord[] = [];
  for (let at = 0; at < bytes.length; at += blockBytes) {
    records.push(...decoder.decode(bytes.subarray(at, at + blockBytes)).records);
  }
  return [...records, ...decoder.end().records];
}

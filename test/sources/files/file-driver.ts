import { gzipSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import { serviceFields } from '../../../src/booking/booking.js';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import type { DayFile } from '../../../src/sources/files/day-file.js';
import { createNdjsonSource } from '../../../src/sources/ndjson/ndjson-source.js';
import type { IntendedRecord, PreparedSource, PrepareSource } from '../../contracts/source.js';

/** Where a test stores daily files, and how they are read. */
export interface FilePlace {
  readonly file: DayFile;
  /** @param day YYYY-MM-DD */
  lay(day: string, content: Buffer): Promise<void>;
  readonly secrets?: readonly string[];
  /** The number of open files or connections, where it can be counted. */
  readonly held?: () => number | Promise<number>;
}

export interface FileForm {
  readonly name: string;
  encode(records: readonly IntendedRecord[], broken: boolean): Buffer;
  open(file: DayFile): PreparedSource['source'];
  places(records: readonly IntendedRecord[]): readonly number[];
}

const toCsv = (records: readonly IntendedRecord[]) =>
  stringify([
    [...serviceFields],
    ...records.map((record) => serviceFields.map((field) => record[field] ?? '')),
  ]);

/** The line of the file on which each record begins. */
function placesInCsv(records: readonly IntendedRecord[]): readonly number[] {
  let line = 2;
  return records.map((record) => {
    const place = line;
    line += Object.values(record).join('').split('\n').length;
    return place;
  });
}

/** A broken one is cut off. */
function encodeGzip(text: string, broken: boolean): Buffer {
  // Stored, not compressed: otherwise the file would be small enough for a single read.
  const bytes = gzipSync(text, { level: 0 });
  return broken ? bytes.subarray(0, bytes.length / 2) : bytes;
}

export const csvInGzip: FileForm = {
  name: 'csv in gzip',
  encode: (records, broken) => encodeGzip(toCsv(records), broken),
  open: (file) => createCsvSource({ file }),
  places: placesInCsv,
};

/** A blank line follows every second record, and stands at the end. */
const toNdjson = (records: readonly IntendedRecord[]) =>
  [...records.map((record, index) => JSON.stringify(record) + (index % 2 === 0 ? '\n' : '')), '\n'].join(
    '\n',
  );

/** A broken one ends in its last object. */
export const ndjson: FileForm = {
  name: 'ndjson',
  encode(records, broken) {
    const bytes = Buffer.from(toNdjson(records));
    return broken ? bytes.subarray(0, bytes.lastIndexOf('"')) : bytes;
  },
  open: (file) => createNdjsonSource({ file }),
  places: (records) => records.map((_, index) => 1 + index + Math.ceil(index / 2)),
};

export function prepareFiles(form: FileForm, makePlace: () => FilePlace): PrepareSource {
  return async (days, breaks = false) => {
    const { file, lay, ...place } = makePlace();
    for (const { day, records } of days) await lay(day.iso, form.encode(records, breaks));
    return { source: form.open(file), places: form.places(days[0]?.records ?? []), ...place };
  };
}

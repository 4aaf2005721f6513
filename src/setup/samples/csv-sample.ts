import Papa from 'papaparse';
import { type Sample, sampleRecords } from './sample.js';

const delimiters = [',', ';', '\t', '|'] as const;

interface CsvReading {
  readonly delimiter: string;
  readonly header: readonly string[];
  /** Those with as many cells as the header. */
  readonly rows: readonly (readonly string[])[];
  /** Their share of all records. */
  readonly fitting: number;
}

/** Finds out what parts the cells, and samples the rows below the header. */
export function readCsvSample(text: string): Sample {
  const readings = delimiters.map((delimiter) => readWith(delimiter, text));
  const split = readings.filter(({ header }) => header.length > 1);
  const likely = split.length > 0 ? split : readings;
  // A few records may be broken; a delimiter that is none makes almost all of them so.
  const most = Math.max(...likely.map(({ fitting }) => fitting));
  const [first] = likely
    .filter(({ fitting }) => fitting >= most * 0.8)
    .toSorted((one, other) => other.header.length - one.header.length);
  if (first === undefined) return { columns: [], records: [], delimiter: undefined };
  const columns = first.header.map((name) => name.trim());
  return {
    columns,
    records: first.rows.map((row) => new Map(columns.map((name, at) => [name, row[at] ?? '']))),
    delimiter: columns.length > 1 ? first.delimiter : undefined,
  };
}

function readWith(delimiter: string, text: string): CsvReading {
  const [header = [], ...records] = parseCsv(text, delimiter, sampleRecords + 1);
  const pickFitting = (rows: readonly (readonly string[])[]) => {
    const fitting = rows.filter((row) => row.length === header.length);
    return {
      delimiter,
      header,
      rows: fitting,
      fitting: rows.length === 0 ? 1 : fitting.length / rows.length,
    };
  };
  const whole = pickFitting(records);
  // A quote that is never closed swallows all the records behind it: line by line it spoils its own alone.
  const lines = text.split(/\r?\n/, sampleRecords + 1).slice(1);
  const byLine = pickFitting(lines.flatMap((line) => parseCsv(line, delimiter, 1)));
  return byLine.rows.length > whole.rows.length ? byLine : whole;
}

function parseCsv(text: string, delimiter: string, preview: number): readonly string[][] {
  return Papa.parse<string[]>(text, { delimiter, preview, skipEmptyLines: true }).data;
}

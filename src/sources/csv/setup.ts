import Papa from 'papaparse';
import { createDateReader } from '../../booking/written-date.js';
import { type Sample, sampleRecords } from '../common/setup.js';
import { createFileSetup } from '../files/setup.js';
import { explainEmptyCsv } from './csv-source.js';

export const csvSetup = createFileSetup({
  kind: 'csv',
  label: 'In files: CSV with a header',
  readSample: readCsvSample,
  explainEmpty: explainEmptyCsv,
  findObjection: ({ columns }) =>
    isHeader(columns) ? undefined : 'its first line is not a header with column names',
  renderMore(write, delimiter) {
    const path = ['source', 'delimiter'] as const;
    return delimiter === undefined || delimiter === ',' ? write.option(path) : write.setting(path, delimiter);
  },
});

/** Without a header the first line is a booking, which has a number or a date. Its cells must not be shown. */
function isHeader(names: readonly string[]): boolean {
  const readDate = createDateReader();
  return (
    names.some((name) => name !== '') &&
    names.every((name) => !/^[\d\s.,/:-]+$/.test(name) && readDate(name) === undefined)
  );
}

const delimiters = [',', ';', '\t', '|'] as const;

interface CsvReading {
  readonly delimiter: string;
  readonly header: readonly string[];
  /** The rows with as many cells as the header. */
  readonly rows: readonly (readonly string[])[];
  /** Their share of all rows. */
  readonly fitting: number;
}

/** Detects the delimiter, and samples the rows below the header. */
function readCsvSample(text: string): Sample {
  const readings = delimiters.map((delimiter) => readWith(delimiter, text));
  const split = readings.filter(({ header }) => header.length > 1);
  const likely = split.length > 0 ? split : readings;
  // A few records may be broken; with a wrong delimiter nearly all are.
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
  // An unclosed quote swallows all records that follow. Line by line, it spoils only its own.
  const lines = text.split(/\r?\n/, sampleRecords + 1).slice(1);
  const byLine = pickFitting(lines.flatMap((line) => parseCsv(line, delimiter, 1)));
  return byLine.rows.length > whole.rows.length ? byLine : whole;
}

function parseCsv(text: string, delimiter: string, preview: number): readonly string[][] {
  return Papa.parse<string[]>(text, { delimiter, preview, skipEmptyLines: true }).data;
}

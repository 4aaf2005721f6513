import Papa from 'papaparse';
import { readLocalFile } from '../sources/files/local.js';
import { SourceError } from '../sources/source.js';
import { createTextGate, explainBinary } from '../sources/text-gate.js';

/** The beginning of an export: it may name guests and is never shown. */
export interface Sample {
  readonly columns: readonly string[];
  /** By column; what is no text or number is left out. */
  readonly records: readonly ReadonlyMap<string, string>[];
  /** Of CSV. */
  readonly delimiter: string | undefined;
}

const sampleBytes = 256 * 1024;
const sampleRecords = 500;
const delimiters = [',', ';', '\t', '|'] as const;

/**
 * Reads the header and the first records of a file, compressed with gzip or not.
 *
 * @throws SourceError for a file that can't be read as text
 */
export async function readSample(path: string, kind: 'csv' | 'ndjson', signal: AbortSignal): Promise<Sample> {
  const text = await readBeginning(path, signal);
  return kind === 'csv' ? readCsvSample(text) : readNdjsonSample(text);
}

/** Whole lines only, where the file goes on behind them. */
async function readBeginning(path: string, signal: AbortSignal): Promise<string> {
  let beginning: Buffer | undefined;
  let goesOn = false;
  for await (const { bytes } of readLocalFile(path, { blockBytes: sampleBytes, signal })) {
    goesOn = beginning !== undefined;
    if (goesOn) break;
    beginning = bytes;
  }
  if (beginning === undefined) throw new SourceError('empty', `${path} is empty`);
  const verdict = createTextGate().pass(beginning);
  if (verdict.kind === 'binary') throw explainBinary(path, verdict.lineFeedsBefore + 1);
  const text = verdict.bytes.toString();
  return goesOn ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
}

interface CsvReading {
  readonly delimiter: string;
  readonly header: readonly string[];
  /** Those with as many cells as the header. */
  readonly rows: readonly (readonly string[])[];
  /** Their share of all records. */
  readonly fitting: number;
}

function readCsvSample(text: string): Sample {
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

function readNdjsonSample(text: string): Sample {
  const records = text
    .split('\n')
    .slice(0, sampleRecords)
    .map(parseObject)
    .filter((object) => object !== undefined)
    .map((object) => new Map(listMembers(object)));
  return {
    columns: [...new Set(records.flatMap((record) => [...record.keys()]))],
    records: records.map((record) => new Map([...record].flatMap(([name, value]) => keepText(name, value)))),
    delimiter: undefined,
  };
}

/** The members of an object and of the objects in it, as the source's columns name them. */
function listMembers(object: object): [string, unknown][] {
  return Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    if (!isObject(value)) return [[name, value]];
    // A dot inside a name would be taken for the way into another object.
    if (name.includes('.')) return [];
    return Object.entries(value).flatMap(([inner, nested]): [string, unknown][] =>
      isObject(nested) || inner.includes('.') ? [] : [[`${name}.${inner}`, nested]],
    );
  });
}

function keepText(name: string, value: unknown): [string, string][] {
  return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
}

function parseObject(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

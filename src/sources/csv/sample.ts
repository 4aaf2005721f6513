import { cutRecords } from '../../base/csv.js';
import type { SourceParts } from '../common/kind.js';
import { type Sample, type SampleDay, sampleRecords } from '../common/sample.js';
import { sampleFile } from '../files/sample.js';
import { explainEmptyCsv, readPreamble } from './csv-source.js';
import type { CsvSettings } from './kind.js';

export function sampleCsv(settings: CsvSettings, parts: SourceParts): SampleDay {
  return sampleFile(settings, parts, readCsvSample, explainEmptyCsv);
}

const delimiters = [',', ';', '\t', '|'] as const;

/** Detects the delimiter and the rows above the header, and samples the rows below it. */
function readCsvSample(text: string): Sample {
  const bytes = Buffer.from(text);
  const above = readPreamble(bytes, { skipRows: 0, isWhole: true, limit: bytes.length, path: '' });
  const table = bytes.toString('utf8', above?.bytes ?? 0);
  const stated = above?.delimiter;
  const readings = (stated === undefined ? delimiters : [stated]).map((delimiter) => {
    const { skipRows, ...reading } = readWith(delimiter, table);
    return { ...reading, skipRows: skipRows === 0 ? 0 : skipRows + (above?.lines ?? 0) };
  });
  const split = readings.filter(({ header }) => header.length > 1);
  const likely = split.length > 0 ? split : readings;
  // A few records may be broken; with a wrong delimiter nearly all are.
  const most = Math.max(...likely.map(({ fitting }) => fitting));
  const [first] = likely
    .filter(({ fitting }) => fitting >= most * 0.8)
    .toSorted((one, other) => other.header.length - one.header.length);
  if (first === undefined) return { columns: [], records: [] };
  const columns = first.header.map((name) => name.trim());
  return {
    columns,
    records: first.rows.map((row) => new Map(columns.map((name, at) => [name, row[at] ?? '']))),
    delimiter: columns.length > 1 ? first.delimiter : undefined,
    skipRows: first.skipRows,
  };
}

function readWith(delimiter: string, whole: string) {
  const skipRows = countTitleRows(delimiter, whole);
  const text = whole.split('\n').slice(skipRows).join('\n');
  const [header = [], ...records] = parseCsv(text, delimiter, sampleRecords + 1);
  const pickFitting = (rows: readonly (readonly string[])[]) => {
    const fitting = rows.filter((row) => row.length === header.length);
    // The rows with as many cells as the header, and their share of all rows.
    const share = rows.length === 0 ? 1 : fitting.length / rows.length;
    return { delimiter, skipRows, header, rows: fitting, fitting: share };
  };
  const inOrder = pickFitting(records);
  // An unclosed quote swallows all records that follow. Line by line, it spoils only its own.
  const lines = text.split(/\r?\n/, sampleRecords + 1).slice(1);
  const byLine = pickFitting(lines.flatMap((line) => parseCsv(line, delimiter, 1)));
  return byLine.rows.length > inOrder.rows.length ? byLine : inOrder;
}

const linesOfTitle = 20;

/** Rows above the header have fewer cells than the header and most records. */
function countTitleRows(delimiter: string, text: string): number {
  const lines = text.split('\n', sampleRecords);
  const counts = lines.map((line) =>
    line.trim() === '' ? 0 : (parseCsv(line, delimiter, 1)[0]?.length ?? 0),
  );
  const times = new Map<number, number>();
  for (const count of counts) if (count > 0) times.set(count, (times.get(count) ?? 0) + 1);
  const [width = 0, most = 0] = [...times].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  const rows = counts.filter((count) => count > 0).length;
  if (width < 2 || most * 2 <= rows) return 0;
  const header = counts.slice(0, linesOfTitle).findIndex((count) => count >= width);
  const above = lines.slice(0, Math.max(0, header));
  // A header may have line ends in its quotes.
  const isTitle = above.some((line) => line.trim() !== '') && !above.some((line) => line.includes('"'));
  return isTitle ? header : 0;
}

/** Without blank rows; one that can't be read has no cells. */
function parseCsv(text: string, delimiter: string, preview: number): readonly (readonly string[])[] {
  return cutRecords(text.split(/\r?\n/), { delimiter, policy: 'lenient' })
    .filter(({ cells }) => !cells?.every((cell) => cell.trim() === ''))
    .slice(0, preview)
    .map(({ cells = [] }) => cells);
}

import { isUtf8 } from 'node:buffer';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import type { ResultFault } from './faults.js';

/**
 * Moves a draft into place in one step, replacing an older file: whole, or by a fault only its header and the first half of its
 * records.
 *
 * @param rows the number of its records
 * @returns the number of records published
 */
export async function publish(
  draft: string,
  target: string,
  rows: number,
  fault: ResultFault | undefined,
): Promise<number> {
  if (fault?.kind !== 'result-partial') {
    await rename(draft, target);
    return rows;
  }
  const half = Math.floor(rows / 2);
  const halfDraft = `${draft}.half`;

  async function* takeHalf(records: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    let place = 0;
    for await (const record of records) {
      // Place 0 is the header.
      if (place <= half) yield record;
      place += 1;
    }
  }

  await pipeline(
    createReadStream(draft),
    (blocks: AsyncIterable<Buffer>) => readCsvRecords(blocks),
    takeHalf,
    stringify(),
    createWriteStream(halfDraft, { mode: 0o600 }),
  );
  await rename(halfDraft, target);
  await rm(draft);
  return half;
}

/** How bytes are no CSV: a quotation mark that is never closed, one in the wrong place, a record without an end, or no UTF-8. */
export class CsvFault extends Error {
  override readonly name = 'CsvFault';

  constructor(readonly kind: 'open-quote' | 'stray-quote' | 'endless-record' | 'not-utf-8') {
    super(kind);
  }
}

/** A cell, and what ends it. A carriage return that is no part of a line end belongs to a cell without quotes. */
const nextCell = /(?:"([^"]*(?:""[^"]*)*)"|([^",\n]*))(,|\r?\n|\r?$)/y;
const openQuote = /"[^"]*(?:""[^"]*)*$/y;

/**
 * Reads CSV as strictly as the template has it: commas, line ends with or without a carriage return, cells in quotes where they
 * hold one of these. The sandbox has its own reader, so that it finds what the product's writer and readers agree on wrongly.
 *
 * @throws CsvFault at the first fault, after the records before it
 */
export async function* readCsvRecords(
  blocks: AsyncIterable<Buffer>,
  maxRecordLength = 2 ** 20,
): AsyncGenerator<string[], void> {
  // A character for each byte: those that mean something are never part of another one in UTF-8.
  let text = '';
  for await (const block of blocks) {
    text = yield* readComplete(text + block.toString('latin1'), false);
    if (text.length > maxRecordLength) throw new CsvFault('endless-record');
  }
  yield* readComplete(text, true);
}

/** Returns the beginning of a record that is not complete. */
function* readComplete(text: string, isWhole: boolean): Generator<string[], string> {
  let cells: string[] = [];
  let [recordAt, cellAt] = [0, 0];
  while (cellAt < text.length) {
    nextCell.lastIndex = cellAt;
    const found = nextCell.exec(text);
    if (!found && !isOpen(text, cellAt)) throw new CsvFault('stray-quote');
    const [, quoted, plain = '', end = ''] = found ?? [];
    // The next block may continue the cell, or its line end.
    if ((end === '' || end === '\r') && !isWhole) return text.slice(recordAt);
    if (!found) throw new CsvFault('open-quote');
    if (end === '\r') throw new CsvFault('stray-quote');
    cellAt = nextCell.lastIndex;
    cells.push(decode(quoted?.replaceAll('""', '"') ?? (end === '\n' ? plain.replace(/\r$/, '') : plain)));
    if (end === ',' && cellAt < text.length) continue;
    if (end === ',' && !isWhole) return text.slice(recordAt);
    // The last cell of a text may be empty.
    if (end === ',') cells.push('');
    yield cells;
    cells = [];
    recordAt = cellAt;
  }
  return '';
}

function decode(cell: string): string {
  const bytes = Buffer.from(cell, 'latin1');
  if (!isUtf8(bytes)) throw new CsvFault('not-utf-8');
  return bytes.toString();
}

function isOpen(text: string, at: number): boolean {
  openQuote.lastIndex = at;
  return openQuote.test(text);
}

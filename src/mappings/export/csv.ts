/** A longer record must have an unclosed quote. */
const longestRecord = 1_048_576;

/** A quoted cell is not closed. */
export class OpenQuotesError extends Error {
  override readonly name = 'OpenQuotesError';
}

/**
 * Reads the records of a CSV file in UTF-8 (RFC 4180), many at a time; skips blank lines. A quote opens a quoted cell only
 * as its first character.
 *
 * @throws OpenQuotesError
 */
export async function* readCsvRecords(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly (readonly string[])[], void, undefined> {
  // Removes a byte order mark.
  const decoder = new TextDecoder();
  let text = '';
  for await (const block of content) {
    text += decoder.decode(block, { stream: true });
    const { records, rest } = cutRecords(text);
    text = rest;
    if (text.length > longestRecord) throw new OpenQuotesError('a record is longer than 1 MB');
    yield records;
  }
  const { records, rest } = cutRecords(`${text}${decoder.decode()}\n`);
  if (rest !== '') throw new OpenQuotesError('the file ends in quotes');
  yield records;
}

/** The cells of one record; `open` if it ends inside quotes. */
export function splitRecord(record: string): readonly string[] | 'open' {
  const { records, rest } = cutRecords(`${record}\n`);
  return rest === '' ? (records[0] ?? []) : 'open';
}

function cutRecords(text: string): { readonly records: readonly string[][]; readonly rest: string } {
  const records: string[][] = [];
  let nextQuote = text.indexOf('"');
  for (let at = 0; ; ) {
    const end = text.indexOf('\n', at);
    if (end === -1) return { records, rest: text.slice(at) };
    if (nextQuote !== -1 && nextQuote < at) nextQuote = text.indexOf('"', at);
    if (nextQuote === -1 || nextQuote > end) {
      const line = text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end);
      if (line !== '') records.push(line.split(','));
      at = end + 1;
      continue;
    }
    const quoted = cutQuotedRecord(text, at);
    if (!quoted) return { records, rest: text.slice(at) };
    records.push(quoted.cells);
    at = quoted.next;
  }
}

/** The record that starts at that position, including its line end; undefined where the text does not contain all of it. */
function cutQuotedRecord(text: string, from: number): { cells: string[]; next: number } | undefined {
  const cells: string[] = [];
  let at = from;
  for (;;) {
    let cell = '';
    if (text[at] === '"') {
      const closing = findClosingQuote(text, at + 1);
      if (closing === -1) return undefined;
      cell = text.slice(at + 1, closing).replaceAll('""', '"');
      at = closing + 1;
    }
    const end = findCellEnd(text, at);
    if (end === -1) return undefined;
    const isLast = text[end] === '\n';
    // Text after a closing quote is invalid, but kept.
    cell += text.slice(at, isLast && text[end - 1] === '\r' && end > at ? end - 1 : end);
    cells.push(cell);
    at = end + 1;
    if (isLast) return { cells, next: at };
  }
}

function findClosingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function findCellEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === ',' || character === '\n') return at;
  }
  return -1;
}

/** A fault of a whole file. */
export type CsvFault = 'binary' | 'endless-header' | 'open-quotes';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;
const comma = 0x2c;

const headerAtMost = 1_048_576;

/** States: where in a record the current byte is. */
const cellStart = 0;
const bareCell = 1;
const quotedCell = 2;
/** After a quote in a quoted cell: either the cell ended, or this was the first of two quotes that mean one. */
const afterQuote = 3;

/**
 * Counts the records of a CSV file byte by byte: line ends in quotes do not end a record, and blank lines do not count. A
 * quote opens a quoted cell only as its first character.
 */
export function createRecordCounter() {
  let state = cellStart;
  let isBlank = true;
  let records = 0;
  let fault: CsvFault | undefined;
  let last: number | undefined;
  let headerBlocks: Uint8Array[] = [];
  let headerBytes = 0;

  function keepHeader(bytes: Uint8Array): void {
    headerBytes += bytes.length;
    if (headerBytes > headerAtMost) fault ??= 'endless-header';
    // A copy, because the reader may reuse the block.
    else headerBlocks.push(Uint8Array.from(bytes));
  }

  return {
    take(block: Uint8Array): void {
      // This loop runs for every byte of gigabytes, so it uses local variables.
      let [at, within, blank, counted, isBinary] = [0, state, isBlank, records, false];
      const { length } = block;
      let headerEnd = counted === 0 ? length : 0;
      for (; at < length; at += 1) {
        const byte = block[at];
        if (within === quotedCell) {
          if (byte === quote) within = afterQuote;
        } else if (byte === comma) {
          within = cellStart;
          blank = false;
        } else if (byte === lineFeed) {
          within = cellStart;
          if (blank) continue;
          blank = true;
          counted += 1;
          if (counted === 1) headerEnd = at;
        } else if (byte === quote && within !== bareCell) {
          // Two quotes in a row within a quoted cell are one quote of its text.
          within = quotedCell;
          blank = false;
        } else {
          within = bareCell;
          if (byte !== carriageReturn) blank = false;
          if (byte === 0) isBinary = true;
        }
      }
      [state, isBlank, records] = [within, blank, counted];
      if (isBinary) fault ??= 'binary';
      if (headerEnd > 0) keepHeader(block.subarray(0, headerEnd));
      if (length > 0) last = block[length - 1];
    },
    end() {
      if (state === quotedCell) fault ??= 'open-quotes';
      if (!isBlank) records += 1;
      const header = Buffer.concat(headerBlocks);
      headerBlocks = [];
      return { header, records, fault, endsWithLine: last === lineFeed };
    },
  };
}

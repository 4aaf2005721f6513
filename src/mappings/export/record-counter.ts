/** What is wrong with a file as a whole. */
export type CsvFault = 'binary' | 'endless-header' | 'open-quotes';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;
const comma = 0x2c;

const headerAtMost = 1_048_576;

/** Where in a record a byte stands. */
const cellStart = 0;
const bareCell = 1;
const quotedCell = 2;
/** Behind a quote in a quoted cell: the end of the cell, or the first of two quotes that mean one. */
const behindQuote = 3;

/**
 * Counts the records of a CSV file byte by byte: line ends in quotes end no record, and blank lines are none. A quote
 * opens a cell only as its first character.
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
    // The block is its reader's, who may use it again.
    else headerBlocks.push(Uint8Array.from(bytes));
  }

  return {
    take(block: Uint8Array): void {
      // The loop is over every byte of gigabytes: what it touches stands beside it.
      let [at, place, blank, counted, isBinary] = [0, state, isBlank, records, false];
      const { length } = block;
      let headerEnd = counted === 0 ? length : 0;
      for (; at < length; at += 1) {
        const byte = block[at];
        if (place === quotedCell) {
          if (byte === quote) place = behindQuote;
        } else if (byte === comma) {
          place = cellStart;
          blank = false;
        } else if (byte === lineFeed) {
          place = cellStart;
          if (blank) continue;
          blank = true;
          counted += 1;
          if (counted === 1) headerEnd = at;
        } else if (byte === quote && place !== bareCell) {
          // Two in a row within quotes are one that belongs to the cell.
          place = quotedCell;
          blank = false;
        } else {
          place = bareCell;
          if (byte !== carriageReturn) blank = false;
          if (byte === 0) isBinary = true;
        }
      }
      [state, isBlank, records] = [place, blank, counted];
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

const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;

type Position =
  | 'field-start'
  /** After blanks at the start of a field: a quote still opens it. */
  | 'after-blank'
  | 'unquoted'
  | 'quoted'
  | 'after-quote'
  | 'after-quote-and-return'
  /** After an invalid byte: everything is ignored until the line ends. */
  | 'lost';

/** Scans one record at a time, byte by byte, by strict quoting rules, and resumes where it stopped. */
interface RecordScanner {
  /**
   * Returns the position of the line feed that ends the record; undefined if the record continues after these bytes.
   */
  findRecordEnd(bytes: Buffer, from: number): number | undefined;
  /** Prepares for the next record. */
  restart(): void;
  /** How many line feeds the record has had so far, including the one that ends it. */
  readonly lineFeeds: number;
  /** Where, in the last scanned bytes, something other than a delimiter or a line end followed a closing quote. */
  readonly offence: number | undefined;
  readonly isInsideQuotes: boolean;
  /** Whether the record has a field with blanks before its opening quote, as far as it has been scanned. */
  readonly isSpaced: boolean;
}

/** `delimiter` is the code of one ASCII character. */
export function createRecordScanner(delimiter: number): RecordScanner {
  let position: Position = 'field-start';
  let lineFeeds = 0;
  let offence: number | undefined;
  let isSpaced = false;

  return {
    findRecordEnd(bytes, from) {
      // Local variables: closure variables are three times as slow here.
      const end = bytes.length;
      let here = position;
      for (let at = from; at < end; at++) {
        let byte = bytes[at];
        if (here === 'unquoted') {
          while (byte !== delimiter && byte !== lineFeed && at < end) byte = bytes[++at];
        } else if (here === 'quoted') {
          while (byte !== quote && at < end) {
            if (byte === lineFeed) lineFeeds++;
            byte = bytes[++at];
          }
        }
        if (at === end) break;
        if (byte === lineFeed && here !== 'quoted') {
          position = here;
          lineFeeds++;
          return at;
        }
        switch (here) {
          case 'field-start':
            if (byte === quote) here = 'quoted';
            else if (byte !== delimiter) here = isBlank(byte) ? 'after-blank' : 'unquoted';
            break;
          case 'after-blank':
            if (byte === quote) {
              here = 'quoted';
              isSpaced = true;
            } else if (byte === delimiter) here = 'field-start';
            else if (!isBlank(byte)) here = 'unquoted';
            break;
          case 'unquoted':
            here = 'field-start';
            break;
          case 'quoted':
            here = 'after-quote';
            break;
          case 'after-quote':
            if (byte === delimiter) here = 'field-start';
            else if (byte === quote) here = 'quoted';
            else if (byte === carriageReturn) here = 'after-quote-and-return';
            else {
              here = 'lost';
              offence = at;
            }
            break;
          case 'after-quote-and-return':
            here = 'lost';
            offence = at;
            break;
          case 'lost':
            break;
        }
      }
      position = here;
      return undefined;
    },
    restart() {
      position = 'field-start';
      lineFeeds = 0;
      offence = undefined;
      isSpaced = false;
    },
    get lineFeeds() {
      return lineFeeds;
    },
    get offence() {
      return offence;
    },
    get isInsideQuotes() {
      return position === 'quoted';
    },
    get isSpaced() {
      return isSpaced;
    },
  };
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}

/** Leaves out the blanks before opening quotes. The bytes are whole records that the scanner found well-formed. */
export function closeUp(bytes: Buffer, delimiter: number): Buffer {
  const kept = Buffer.alloc(bytes.length);
  let length = 0;
  let here: Position = 'field-start';
  for (let at = 0; at < bytes.length; at += 1) {
    if (here === 'field-start') at = skipToQuote(bytes, at, delimiter);
    const byte = bytes[at] ?? 0;
    const endsField = byte === delimiter || byte === lineFeed;
    if (here === 'quoted') here = byte === quote ? 'after-quote' : here;
    else if (endsField) here = 'field-start';
    else if (byte === quote && here !== 'unquoted') here = 'quoted';
    else if (here === 'field-start') here = 'unquoted';
    kept[length] = byte;
    length += 1;
  }
  return kept.subarray(0, length);
}

/** The position of the quote that only blanks separate from this position; else this position. */
function skipToQuote(bytes: Buffer, from: number, delimiter: number): number {
  let at = from;
  while (bytes[at] !== delimiter && isBlank(bytes[at])) at += 1;
  return bytes[at] === quote ? at : from;
}

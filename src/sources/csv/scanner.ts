const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

type Position =
  | 'field-start'
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
   * `quoteAt` is the position of the first quote at or after `from`: most records end before it and need no scan.
   */
  findRecordEnd(bytes: Buffer, from: number, quoteAt: number): number | undefined;
  /** Prepares for the next record. */
  restart(): void;
  /** How many line feeds the record has had so far, including the one that ends it. */
  readonly lineFeeds: number;
  /** Where, in the last scanned bytes, something other than a delimiter or a line end followed a closing quote. */
  readonly offence: number | undefined;
  readonly isInsideQuotes: boolean;
}

/** `delimiter` is the code of one ASCII character. */
export function createRecordScanner(delimiter: number): RecordScanner {
  let position: Position = 'field-start';
  let lineFeeds = 0;
  let offence: number | undefined;

  return {
    findRecordEnd(bytes, from, quoteAt) {
      if (quoteAt > from && (position === 'field-start' || position === 'unquoted')) {
        const lineEnd = bytes.indexOf(lineFeed, from);
        if (lineEnd !== -1 && lineEnd < quoteAt) {
          lineFeeds++;
          return lineEnd;
        }
      }
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
            else if (byte !== delimiter) here = 'unquoted';
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
  };
}

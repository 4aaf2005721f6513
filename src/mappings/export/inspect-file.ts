import { createHash } from 'node:crypto';
import { createCsvCutter, type PlainLines } from '../../base/csv.js';
import { SafeError } from '../../base/safe-error.js';
import type { ExportFileKind, FetchedFile } from '../../ledger/mappings.js';

export interface InspectedFile extends FetchedFile {
  /** Columns that are not in the specification. */
  readonly extraColumns: readonly string[];
  /** Its last line has no line end: the file may be incomplete. */
  readonly endsInMidLine: boolean;
}

/**
 * Reads a whole file of an export: counts its rows and bytes, and checks its header. (Spec 2.7.)
 *
 * @throws ExportFileError; what `content` throws
 */
export async function inspectFile(
  file: { readonly kind: ExportFileKind; readonly name: string },
  content: AsyncIterable<Uint8Array>,
  masterIdNames: readonly string[],
): Promise<InspectedFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  let header: readonly string[] | undefined;
  let rows = 0;
  let lastByte: number | undefined;
  const refuse = (expected: string): never => {
    throw new ExportFileError(file.name, `expected ${expected}`);
  };
  const cutter = createCsvCutter({
    policy: 'lenient',
    take({ line, cells, fault, text = '' }) {
      if (cells?.length === 0) return;
      if (fault === 'unclosed-quote')
        refuse(
          `a quote to close the cell that begins in line ${line}, got: other rows or the end of the file`,
        );
      if (header) rows += 1;
      else if (fault === 'record-too-long') refuse('a header, got: a first line of more than 1 MB');
      else header = cells ?? text.split(',');
    },
    takePlain(plain) {
      rows += countRecords(plain);
    },
  });
  for await (const block of content) {
    hash.update(block);
    bytes += block.length;
    lastByte = block.at(-1) ?? lastByte;
    if (block.includes(0)) refuse('text, got: binary data');
    cutter.cut(block);
  }
  cutter.end();
  const { kind, name } = file;
  return {
    ...{ kind, name, rows, bytes },
    sha256: hash.digest('hex'),
    extraColumns: checkHeader(file, header ?? refuse('a header, got: an empty file'), masterIdNames),
    endsInMidLine: lastByte !== lineFeed,
  };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Blank lines are no records. */
function countRecords({ bytes, lines }: PlainLines): number {
  let records = lines;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(lineFeed, start);
    if (end === start || (end === start + 1 && bytes[start] === carriageReturn)) records -= 1;
    start = end + 1;
  }
  return records;
}

/** All columns but the master id's, exact and case-sensitive. (Spec 2.7.) */
const columnsOf: Readonly<Record<ExportFileKind, readonly string[]>> = {
  mappings: ['ProviderHotelId', 'ProviderFamily', 'ModifiedOn', 'ChannelIds', 'ProviderLocationId'],
  // Its other columns are named after providers.
  transformed: [],
  hotels: (
    'HotelName Lat Long AddressLine1 AddressLine2 City State StateCode CountryName CountryCode PostalCode StarRating ' +
    'PropertyType ChainName BrandName CityLocationId MasterCityName LocationIds Phones Fax Email Website AirportCodes ' +
    'TrainStations ProviderHotelId ProviderFamily GooglePlusCode'
  ).split(' '),
};

/** Maximum number of columns listed in a message. */
const namedAtMost = 40;
const longestName = 100;

/** The name of the master id's column in a header; undefined where there is none. */
export function findMasterId(
  header: readonly string[],
  masterIdNames: readonly string[],
): string | undefined {
  return masterIdNames.find((name) => header.includes(name));
}

/**
 * Checks the header of an export's file.
 *
 * @returns the columns that are not in the specification
 * @throws ExportFileError that lists the missing columns
 */
function checkHeader(
  { kind, name }: { readonly kind: ExportFileKind; readonly name: string },
  header: readonly string[],
  masterIdNames: readonly string[],
): readonly string[] {
  const masterId = findMasterId(header, masterIdNames);
  const missing = columnsOf[kind].filter((column) => !header.includes(column));
  if (masterId === undefined) missing.unshift(masterIdNames.join(' or '));
  if (missing.length > 0) {
    const columns = missing.length === 1 ? 'the column' : 'the columns';
    throw new ExportFileError(
      name,
      `expected ${columns} ${missing.join(', ')} in the header of the ${kind} file, got: ${listSome(header)}`,
    );
  }
  if (kind === 'transformed') return [];
  return header
    .filter((column) => column !== masterId && !columnsOf[kind].includes(column))
    .map(makePrintable);
}

function listSome(header: readonly string[]): string {
  const some = header.slice(0, namedAtMost).map(makePrintable).join(', ');
  return header.length > namedAtMost ? `${some}, …` : some;
}

/** Column names come from outside: no control characters on the terminal, and no endless names. */
function makePrintable(column: string): string {
  return column.slice(0, longestName).replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '\uFFFD');
}

/** A file of an export does not follow the specification. The message names the file and the fault. */
export class ExportFileError extends SafeError {
  override readonly name = 'ExportFileError';
  constructor(
    readonly file: string,
    what: string,
  ) {
    super(`${file}: ${what}`);
  }
}

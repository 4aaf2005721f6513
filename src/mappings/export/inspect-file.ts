import { createHash } from 'node:crypto';
import { SafeError } from '../../base/safe-error.js';
import type { ExportFileKind, FetchedFile } from '../../ledger/mappings.js';
import { type CsvFault, createRecordCounter, readCsvRecords } from './csv.js';

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
  const counter = createRecordCounter();
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of content) {
    hash.update(block);
    bytes += block.length;
    counter.take(block);
  }
  const { header, records, fault, endsWithLine } = counter.end();
  if (fault !== undefined) throw new ExportFileError(file.name, describeFault(fault));
  if (records === 0) throw new ExportFileError(file.name, 'expected a header, got: an empty file');
  const { kind, name } = file;
  return {
    kind,
    name,
    rows: records - 1,
    bytes,
    sha256: hash.digest('hex'),
    extraColumns: checkHeader(file, await readHeader(header), masterIdNames),
    endsInMidLine: !endsWithLine,
  };
}

async function readHeader(bytes: Uint8Array): Promise<readonly string[]> {
  for await (const [header] of readCsvRecords(blocksOf(bytes))) if (header) return header;
  return [];
}

async function* blocksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function describeFault(fault: CsvFault): string {
  switch (fault) {
    case 'binary':
      return 'expected text, got: binary data';
    case 'endless-header':
      return 'expected a header, got: a first line of more than 1 MB';
    case 'open-quotes':
      return 'expected a quote to close the last cell, got: the end of the file';
  }
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

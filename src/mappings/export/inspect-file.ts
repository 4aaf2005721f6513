import { createHash } from 'node:crypto';
import { SafeError } from '../../text/safe-error.js';
import { type CsvFault, createRecordCounter, readCsvRecords } from './csv.js';
import type { ExportFileKind, FetchedFile } from './export-log.js';

export interface InspectedFile extends FetchedFile {
  /** Columns that the specification does not know. */
  readonly extraColumns: readonly string[];
  /** Its last line is not ended: more may have been meant to come. */
  readonly endsInMidLine: boolean;
}

/**
 * Reads a file of an export whole: counts its rows and bytes, and checks its header. (Spec 2.7.)
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
      return 'expected a quote that closes its last cell, got: the end of the file';
  }
}

/** The columns beside the master id's, exact and case-sensitive. (Spec 2.7.) */
const columnsOf: Readonly<Record<ExportFileKind, readonly string[]>> = {
  mappings: ['ProviderHotelId', 'ProviderFamily', 'ModifiedOn', 'ChannelIds', 'ProviderLocationId'],
  // The others are named after providers.
  transformed: [],
  hotels: [
    'HotelName',
    'Lat',
    'Long',
    'AddressLine1',
    'AddressLine2',
    'City',
    'State',
    'StateCode',
    'CountryName',
    'CountryCode',
    'PostalCode',
    'StarRating',
    'PropertyType',
    'ChainName',
    'BrandName',
    'CityLocationId',
    'MasterCityName',
    'LocationIds',
    'Phones',
    'Fax',
    'Email',
    'Website',
    'AirportCodes',
    'TrainStations',
    'ProviderHotelId',
    'ProviderFamily',
    'GooglePlusCode',
  ],
};

/** So many columns are named in a message. */
const namedAtMost = 40;
const longestName = 100;

/** The master id's column in a header, by any of its names; undefined where there is none. */
export function findMasterId(
  header: readonly string[],
  masterIdNames: readonly string[],
): string | undefined {
  return masterIdNames.find((name) => header.includes(name));
}

/**
 * Checks the header of an export's file.
 *
 * @returns the columns that the specification does not know
 * @throws ExportFileError that names the columns which are missing
 */
export function checkHeader(
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

/** Whoever wrote the file shall not write to the terminal, nor without end. */
function makePrintable(column: string): string {
  return column.slice(0, longestName).replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '\uFFFD');
}

/** A file of an export is not what the specification says of it. The message names the file and what is wrong with it. */
export class ExportFileError extends SafeError {
  override readonly name = 'ExportFileError';
  constructor(
    readonly file: string,
    what: string,
  ) {
    super(`${file}: ${what}`);
  }
}

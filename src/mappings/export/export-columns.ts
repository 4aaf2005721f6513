import { ExportFileError } from './export-file-error.js';
import type { ExportFileKind } from './export-log.js';

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

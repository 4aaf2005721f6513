import { OpenQuotesError, readCsvRecords } from '../csv.js';
import { ExportFileError, findMasterId } from '../inspect-file.js';

/** Some consecutive rows of the file. */
interface MappingRows {
  readonly mappings: readonly ExportedMapping[];
  /** The numbers of rows without a provider hotel or with too few cells. */
  readonly unreadable: readonly number[];
}

/**
 * Reads the rows of a mapping file. (Spec 2.7.)
 *
 * @param file its name, for messages
 * @throws ExportFileError when it is not a mapping file; the signal's reason
 */
export async function* readMappingFile(
  file: string,
  content: AsyncIterable<Uint8Array>,
  masterIdNames: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<MappingRows, void, undefined> {
  let read: ReturnType<typeof createMappingReader> | undefined;
  let row = 0;
  try {
    for await (const records of readCsvRecords(content)) {
      signal.throwIfAborted();
      const mappings: ExportedMapping[] = [];
      const unreadable: number[] = [];
      for (const cells of records) {
        if (!read) {
          read = createMappingReader(file, cells, masterIdNames);
          continue;
        }
        row += 1;
        const mapping = read(cells, row);
        if (mapping) mappings.push(mapping);
        else unreadable.push(row);
      }
      yield { mappings, unreadable };
    }
  } catch (error) {
    if (!(error instanceof OpenQuotesError)) throw error;
    throw new ExportFileError(file, `a quote is not closed after row ${row}: ${error.message}`);
  }
  if (!read) throw new ExportFileError(file, 'expected the header of a mapping file, got: an empty file');
}

/** A row of the mapping file. (Spec 2.7.) */
export interface ExportedMapping {
  /** Its number, from 1. */
  readonly row: number;
  readonly providerName: string;
  readonly providerHotelId: string;
  /** Undefined where the cell has none. */
  readonly serviceId: number | undefined;
  readonly locationId: string;
  /** The whole cell: the separator of the channels is not specified. */
  readonly channelIds: string;
}

/** Returns a reader of the rows below that header. @throws ExportFileError where a column is missing */
export function createMappingReader(
  file: string,
  header: readonly string[],
  masterIdNames: readonly string[],
): (cells: readonly string[], row: number) => ExportedMapping | undefined {
  const masterId = findMasterId(header, masterIdNames) ?? masterIdNames.join(' or ');
  const find = (column: string): number => {
    const index = header.indexOf(column);
    if (index === -1) throw new ExportFileError(file, `has no column ${column} in its header`);
    return index;
  };
  const [serviceId, hotelId, provider, channels, location] = [
    find(masterId),
    find('ProviderHotelId'),
    find('ProviderFamily'),
    find('ChannelIds'),
    find('ProviderLocationId'),
  ];
  return (cells, row) => {
    const [providerName = '', providerHotelId = ''] = [cells[provider], cells[hotelId]];
    if (cells.length < header.length || providerName === '' || providerHotelId === '') return undefined;
    return {
      row,
      providerName,
      providerHotelId,
      serviceId: readServiceId(cells[serviceId] ?? ''),
      locationId: cells[location] ?? '',
      channelIds: cells[channels] ?? '',
    };
  };
}

function readServiceId(cell: string): number | undefined {
  const number = /^\s*\d{1,16}\s*$/.test(cell) ? Number(cell) : 0;
  return number >= 1 && Number.isSafeInteger(number) ? number : undefined;
}

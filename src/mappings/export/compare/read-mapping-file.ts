import { createColumnFinder, type ReadRow, readExportRows, readServiceId } from '../read-rows.js';

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
  const createReader = (header: readonly string[]) => createMappingReader(file, header, masterIdNames);
  for await (const rows of readExportRows({ file, content, createReader, masterIdNames }, signal)) {
    const mappings: ExportedMapping[] = [];
    const unreadable: number[] = [];
    for (const row of rows) {
      if (typeof row === 'number') unreadable.push(row);
      else mappings.push(row);
    }
    yield { mappings, unreadable };
  }
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

/**
 * Returns a reader of the rows below that header; of a row that can't be read it returns the number.
 *
 * @throws ExportFileError where a column is missing
 */
export function createMappingReader(
  file: string,
  header: readonly string[],
  masterIdNames: readonly string[],
): ReadRow<ExportedMapping | number> {
  const columns = createColumnFinder(file, header, masterIdNames);
  const [serviceId, hotelId, provider, channels, location] = [
    columns.findMasterId(),
    columns.find('ProviderHotelId'),
    columns.find('ProviderFamily'),
    columns.find('ChannelIds'),
    columns.find('ProviderLocationId'),
  ];
  return (cells, row) => {
    const [providerName = '', providerHotelId = ''] = [cells[provider], cells[hotelId]];
    if (cells.length < header.length || providerName === '' || providerHotelId === '') return row;
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

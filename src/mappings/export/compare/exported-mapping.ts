import { findMasterId } from '../export-columns.js';
import { ExportFileError } from '../export-file-error.js';

/** A row of the mapping file. (Spec 2.7.) */
export interface ExportedMapping {
  /** Where it stands among the rows, from 1. */
  readonly row: number;
  readonly providerName: string;
  readonly providerHotelId: string;
  /** Undefined where the cell holds none. */
  readonly serviceId: number | undefined;
  readonly locationId: string;
  /** As it stands in its cell: what separates the channels is not specified. */
  readonly channelIds: string;
}

/** Reads the rows below that header. @throws ExportFileError where a column is missing */
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

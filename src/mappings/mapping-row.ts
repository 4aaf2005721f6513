import type { MappingRecord } from '../mapping-service/operations.js';
import type { MappingRow } from './mapping-copy.js';

/** A mapping record (spec 2.2) as the copy takes it. @param deletedTypes in any case */
export function readMappingRow(
  { ServiceId, ProviderName, ProviderHotelId, ProviderLocationCode, Type, ChannelIds }: MappingRecord,
  deletedTypes: readonly string[],
): MappingRow {
  const type = Type?.trim().toLowerCase();
  return {
    serviceId: ServiceId,
    providerName: ProviderName,
    providerHotelId: ProviderHotelId,
    ...(typeof ProviderLocationCode === 'string' && { locationCode: ProviderLocationCode }),
    channelIds: ChannelIds ?? [],
    isDeleted: deletedTypes.some((deleted) => deleted.toLowerCase() === type),
  };
}

import { encodeQueryPart } from '../http/query-part.js';
import type { BookedHotel, ExportRequest, MappingsQuery } from './operations.js';
import { addQuery } from './query.js';
import { checkHeaderValue } from './service-calls.js';

/** A call of Get Mappings (spec 4.1). @throws TypeError for a value that cannot be sent */
export function prepareMappingsQuery({
  lastUpdateDateTime,
  syncId,
  providerFamily,
  resumeKey,
  limit,
}: MappingsQuery) {
  if (Number.isNaN(lastUpdateDateTime.getTime())) {
    throw new TypeError('getMappings: lastUpdateDateTime must be a valid date.');
  }
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new TypeError('getMappings: limit must be a whole number from 1 on.');
  }
  return {
    method: 'GET',
    path: addQuery('/mappings', {
      lastUpdateDateTime: lastUpdateDateTime.toISOString(),
      providerFamily,
      // As the last page has it, a blank key is none.
      resumeKey: resumeKey?.trim() === '' ? undefined : resumeKey,
      limit: limit?.toString(),
    }),
    headers: ['syncId', checkHeaderValue('syncId', syncId)],
  } as const;
}

/**
 * The request body of a review (spec 4.2).
 *
 * @param masterIdName what the service calls the master id
 * @throws TypeError for a ServiceId that is none
 */
export function prepareHotels(hotels: readonly BookedHotel[], masterIdName: string): Uint8Array {
  const items = hotels.map(({ ServiceId, ...others }, index) => {
    if (!Number.isSafeInteger(ServiceId) || ServiceId < 1) {
      throw new TypeError(
        `reviewBookedHotels: ServiceId of hotel ${index} must be an integer from 1 to 2^53-1.`,
      );
    }
    return { [masterIdName]: ServiceId, ...others };
  });
  return Buffer.from(JSON.stringify({ Hotels: items }));
}

/** A call of Export Mappings File (spec 4.5). @throws TypeError for a value that cannot be sent */
export function prepareExport({ emailId, providerfamilies }: ExportRequest) {
  if (emailId.trim() === '') throw new TypeError('exportMappingsFile: emailId must be an e-mail address.');
  const path = addQuery('/mappings/ExportMappingsFile', { emailId });
  if (providerfamilies === undefined) return { method: 'GET', path } as const;
  return { method: 'GET', path: `${path}&providerfamilies=${joinNames(providerfamilies)}` } as const;
}

function joinNames(names: readonly string[]): string {
  if (names.length === 0) {
    throw new TypeError(
      'exportMappingsFile: providerfamilies names none; leave it out to export those of all.',
    );
  }
  for (const [index, name] of names.entries()) {
    if (name.trim() === '')
      throw new TypeError(`exportMappingsFile: name ${index} of providerfamilies is blank.`);
    if (name.includes(',')) {
      throw new TypeError(
        `exportMappingsFile: name ${index} of providerfamilies holds a comma, which separates the names.`,
      );
    }
  }
  // The commas between the names stay as they are, for who cuts the list before decoding it.
  return names.map(encodeQueryPart).join(',');
}

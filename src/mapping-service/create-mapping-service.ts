import { createCalling } from './calling.js';
import { type CreateMappingServiceOptions, completeOptions } from './create-options.js';
import { eachMappingsPage } from './each-mappings-page.js';
import { readMasterHotelBrands } from './hotel-brands.js';
import { readDate, readMappingsPage } from './mappings-page.js';
import type { Envelope, MappingService } from './operations.js';
import { prepareRawRequest } from './raw-request.js';
import { createRetrying } from './retrying.js';
import { reviewByFilePath, reviewPath } from './review-paths.js';
import { prepareCalls } from './service-calls.js';
import { defaultStatusCodes, type StatusCodeTable } from './verdict.js';
import { prepareExport, prepareHotels, prepareMappingsQuery } from './written-requests.js';

/** An answer may be a page of a thousand mappings, or a list of all brands. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** What further codes mean that belong to operations other than the reviews. (Design 6.) */
const codesOfOtherOperations: StatusCodeTable = {
  2006: 'refused', // invalid resume key
  2007: 'refused', // invalid date-time
  2012: 'refused', // invalid limit
  2016: 'refused', // sync id missing
  2017: 'refused', // date-time missing
  2025: 'refused', // e-mail missing
  2027: 'refused', // resume key expired
};

const readEnvelope = (envelope: Envelope) => envelope;

/**
 * The typed client of the service's operations (spec 4): each call is authenticated, retried where that is safe, and
 * resolves only with a success. It keeps connections open until it is closed.
 *
 * Its calls reject with a MappingServiceError, with the signal's reason when aborted, and with a TypeError for what
 * cannot be sent.
 *
 * @throws TypeError when an option cannot be used; its message quotes neither the key nor the account
 */
export function createMappingService(options: CreateMappingServiceOptions): MappingService {
  const { baseUrl, apiKey, accountId } = options;
  const { policy, random, masterIdName, ...limits } = completeOptions(options);
  const statusCodes = { ...defaultStatusCodes, ...codesOfOtherOperations, ...options.statusCodes };
  const calls = prepareCalls({ baseUrl, apiKey, accountId, statusCodes, maxAnswerBytes, ...limits });
  const closing = new AbortController();
  const call = createCalling({
    calls,
    retrying: createRetrying({ policy, random, closed: closing.signal }),
    statusCodes,
  });

  const service: MappingService = {
    async getMappings(query, options) {
      return call(
        {
          operation: 'getMappings',
          isRepeatable: true,
          ...prepareMappingsQuery(query),
          read: (envelope, date) => readMappingsPage(envelope, { masterIdName, date }),
        },
        options,
      );
    },
    eachMappingsPage: ({ resumeKey: firstKey, ...query }, options) =>
      eachMappingsPage(
        (resumeKey) =>
          service.getMappings(resumeKey === undefined ? query : { ...query, resumeKey }, options),
        firstKey,
      ),
    async reviewBookedHotels(hotels, options) {
      const body = prepareHotels(hotels, masterIdName);
      return call(
        {
          operation: 'reviewBookedHotels',
          isRepeatable: true,
          method: 'POST',
          path: reviewPath,
          body,
          read: readEnvelope,
        },
        options,
      );
    },
    async reviewBookedHotelsByFile(ftpFilePath, options) {
      return call(
        {
          operation: 'reviewBookedHotelsByFile',
          isRepeatable: false,
          method: 'GET',
          path: reviewByFilePath(ftpFilePath),
          read: readEnvelope,
        },
        options,
      );
    },
    async getMasterHotelBrands(options) {
      return call(
        {
          operation: 'getMasterHotelBrands',
          isRepeatable: true,
          method: 'GET',
          path: '/content/GetMasterHotelBrands',
          read: readMasterHotelBrands,
        },
        options,
      );
    },
    async exportMappingsFile(request, options) {
      return call(
        {
          operation: 'exportMappingsFile',
          isRepeatable: false,
          ...prepareExport(request),
          read: (envelope, date) => ({ ...envelope, answeredAt: readDate(date) }),
        },
        options,
      );
    },
    async call(request, options) {
      return call(
        {
          operation: 'call',
          isRepeatable: request.isRepeatable === true,
          ...prepareRawRequest(request),
          read: readEnvelope,
        },
        options,
      );
    },
    close() {
      closing.abort();
      return calls.transport.close();
    },
  };
  return service;
}

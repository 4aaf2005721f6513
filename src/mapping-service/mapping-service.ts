import { describeHost, readDate } from '../http/syntax.js';
import { readMappingsPage, readMasterHotelBrands } from './answers.js';
import { createCallWithRetries } from './call-with-retries.js';
import { createServiceClient } from './client.js';
import type { Envelope, MappingService, MappingsPage } from './operations.js';
import { type CreateMappingServiceOptions, completeOptions } from './options.js';
import { createPager, type PagingRules } from './paging.js';
import {
  prepareExport,
  prepareHotels,
  prepareMappingsQuery,
  prepareRawRequest,
  reviewByFilePath,
  reviewPath,
} from './requests.js';
import { defaultStatusCodes, type StatusCodeTable } from './verdict.js';

/** Large enough for a page of a thousand mappings or the list of all brands. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Codes of the operations other than the reviews. (Design 6.) */
const codesOfOtherOperations: StatusCodeTable = {
  2006: 'refused', // invalid resume key
  2007: 'refused', // invalid date-time
  2012: 'refused', // invalid limit
  2016: 'refused', // sync id missing
  2017: 'refused', // date-time missing
  2025: 'refused', // e-mail missing
  2027: 'refused', // resume key expired
};

const asEnvelope = (envelope: Envelope) => envelope;

/**
 * The service's operations (spec 4), typed: each call is authenticated, retried where that is safe, and resolves only
 * with a success. Connections stay open until `close`.
 *
 * Calls reject with a MappingServiceError, with the signal's reason when aborted, and with a TypeError for what cannot
 * be sent.
 *
 * @throws TypeError when an option cannot be used; the message quotes neither the key nor the account
 */
export function createMappingService(options: CreateMappingServiceOptions): MappingService {
  const { baseUrl, apiKey, accountId } = options;
  const { policy, random, reading, paging, ...limits } = completeOptions(options);
  const statusCodes = { ...defaultStatusCodes, ...codesOfOtherOperations, ...options.statusCodes };
  const { httpStatus = {} } = options;
  const client = createServiceClient({
    ...{ baseUrl, apiKey, accountId, statusCodes, httpStatus, maxAnswerBytes },
    ...{ ca: options.ca, proxy: options.proxy },
    ...limits,
  });
  const closing = new AbortController();
  const call = createCallWithRetries({
    client,
    host: describeHost(baseUrl),
    statusCodes,
    policy,
    random,
    closed: closing.signal,
  });

  const service: MappingService = {
    async getMappings(query, options) {
      return call(
        {
          operation: 'getMappings',
          isRepeatable: true,
          ...prepareMappingsQuery(query),
          read: (envelope, date) => readMappingsPage(envelope, { ...reading, date }),
        },
        options,
      );
    },
    eachMappingsPage: ({ resumeKey: firstKey, ...query }, options) =>
      eachMappingsPage(
        (resumeKey) =>
          service.getMappings(resumeKey === undefined ? query : { ...query, resumeKey }, options),
        firstKey,
        paging,
      ),
    async reviewBookedHotels(hotels, options) {
      const body = prepareHotels(hotels, reading.masterIdName);
      return call(
        {
          operation: 'reviewBookedHotels',
          isRepeatable: true,
          method: 'POST',
          path: reviewPath,
          body,
          read: asEnvelope,
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
          read: asEnvelope,
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
          read: asEnvelope,
        },
        options,
      );
    },
    close() {
      closing.abort();
      return client.close();
    },
  };
  return service;
}

/**
 * All pages of Get Mappings (spec 4.1), one after another from the given resume key on.
 *
 * @throws MappingServiceError when the pages would never end
 */
async function* eachMappingsPage(
  getPage: (resumeKey: string | undefined) => Promise<MappingsPage>,
  firstKey: string | undefined,
  rules: PagingRules,
): AsyncGenerator<MappingsPage, void, undefined> {
  const pager = createPager(rules);
  let key = firstKey;
  do {
    const page = await getPage(key);
    key = pager.next(page, key);
    yield page;
  } while (key !== undefined);
}

import type { RetryPolicy } from '../base/retry.js';
import type { ProxyRules } from '../transports/http/connection-rules.js';
import { readDate } from '../transports/http/peer-clocks.js';
import { describeHost, encodeQueryPart } from '../transports/http/transport.js';
import { readMappingsPage, readMasterHotelBrands } from './answers.js';
import { createCallWithRetries } from './call-with-retries.js';
import { checkHeaderValue, createServiceClient } from './client.js';
import type { MappingService } from './operations.js';
import type { StatusCodeTable } from './verdict.js';

/** Large enough for the list of all brands. */
const maxAnswerBytes = 16_000_000;
/** More mappings than asked for are taken, as long as they fit. */
const maxPageBytes = (limit: number) => 1_000_000 + 2_000 * limit;
const connections = 8;
const connectTimeoutMs = 10_000;

/** Codes of these operations. (Design 6.) */
const ownStatusCodes: StatusCodeTable = {
  2006: 'refused', // invalid resume key
  2007: 'refused', // invalid date-time
  2012: 'refused', // invalid limit
  2016: 'refused', // sync id missing
  2017: 'refused', // date-time missing
  2025: 'refused', // e-mail missing
  2027: 'refused', // resume key expired
};

export interface MappingServiceOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly accountId: string;
  /** For a whole call; each try has all of it. */
  readonly timeoutSeconds: number;
  /** The name of the master hotel id in this deployment's JSON. */
  readonly masterIdName: string;
  readonly statusCodes: StatusCodeTable;
  readonly proxy: ProxyRules | undefined;
  readonly retry: RetryPolicy;
  /** The time from which a `Retry-After` date counts. */
  readonly clock: () => Date;
  /** Uniform in [0, 1): spreads the waits between tries. */
  readonly random: () => number;
}

/** @throws TypeError for an address, key or account that cannot be used; the message quotes none of them */
export function createMappingService(options: MappingServiceOptions): MappingService {
  const { baseUrl, apiKey, accountId, timeoutSeconds, masterIdName, proxy, retry, clock, random } = options;
  const statusCodes = { ...ownStatusCodes, ...options.statusCodes };
  const timeoutMs = timeoutSeconds * 1000;
  const client = createServiceClient({
    ...{ baseUrl, apiKey, accountId, statusCodes, proxy, clock },
    ...{ maxAnswerBytes, connections, timeoutMs, connectTimeoutMs },
  });
  const call = createCallWithRetries({ client, host: describeHost(baseUrl), statusCodes, retry, random });

  return {
    async getMappings({ lastUpdateDateTime, syncId, providerFamily, resumeKey, limit }, { signal }) {
      const request = {
        operation: 'getMappings',
        isRepeatable: true,
        path: addQuery('/mappings', {
          lastUpdateDateTime: lastUpdateDateTime.toISOString(),
          providerFamily,
          resumeKey,
          limit: String(limit),
        }),
        headers: ['syncId', checkHeaderValue('syncId', syncId)],
        maxAnswerBytes: maxPageBytes(limit),
      };
      return call(request, (envelope, date) => readMappingsPage(envelope, masterIdName, date), signal);
    },
    async getMasterHotelBrands({ signal }) {
      const path = '/content/GetMasterHotelBrands';
      const request = { operation: 'getMasterHotelBrands', isRepeatable: true, path };
      return call(request, readMasterHotelBrands, signal);
    },
    async exportMappingsFile({ emailId, providers }, { signal }) {
      const path = addQuery('/mappings/ExportMappingsFile', { emailId });
      // The commas stay unencoded, for servers that split the list before decoding it.
      const names = providers.map(encodeQueryPart).join(',');
      const request = {
        operation: 'exportMappingsFile',
        isRepeatable: false,
        path: names === '' ? path : `${path}&providerfamilies=${names}`,
      };
      return call(request, (envelope, date) => ({ ...envelope, answeredAt: readDate(date) }), signal);
    },
    close: () => client.close(),
  };
}

/** A path with its query: parameters in the given order, those without a value left out. */
function addQuery(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeQueryPart(name)}=${encodeQueryPart(value)}`],
  );
  return `${path}?${query.join('&')}`;
}

import { encodeQueryPart } from '../transports/http/transport.js';
import { checkHeaderValue, type ServiceRequest } from './client.js';
import type { BookedHotel, ExportRequest, MappingsQuery, RawRequest } from './operations.js';

/** The service's, where a query names no limit. (Design 6.) */
const usualLimit = 10;

/** More mappings than asked for are taken, as long as they fit. */
const maxPageBytes = (limit: number) => 1_000_000 + 2_000 * limit;

/** Get Mappings (spec 4.1). @throws TypeError for a value that cannot be sent */
export function prepareMappingsQuery({
  lastUpdateDateTime,
  syncId,
  providerFamily,
  resumeKey,
  limit,
}: MappingsQuery): ServiceRequest {
  if (Number.isNaN(lastUpdateDateTime.getTime())) {
    throw new TypeError('getMappings: lastUpdateDateTime must be a valid date.');
  }
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new TypeError('getMappings: limit must be a whole number, 1 or more.');
  }
  return {
    method: 'GET',
    path: addQuery('/mappings', {
      lastUpdateDateTime: lastUpdateDateTime.toISOString(),
      providerFamily,
      // A blank key means none, as on the last page.
      resumeKey: resumeKey?.trim() === '' ? undefined : resumeKey,
      limit: limit?.toString(),
    }),
    headers: ['syncId', checkHeaderValue('syncId', syncId)],
    maxAnswerBytes: maxPageBytes(limit ?? usualLimit),
  };
}

/**
 * The request body of a review (spec 4.2).
 *
 * @param masterIdName the service's name of the master id
 * @throws TypeError for an invalid ServiceId
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

/** Export Mappings File (spec 4.5). @throws TypeError for a value that cannot be sent */
export function prepareExport({ emailId, providerfamilies }: ExportRequest): ServiceRequest {
  if (emailId.trim() === '') throw new TypeError('exportMappingsFile: emailId must be an e-mail address.');
  const path = addQuery('/mappings/ExportMappingsFile', { emailId });
  if (providerfamilies === undefined) return { method: 'GET', path };
  return { method: 'GET', path: `${path}&providerfamilies=${joinNames(providerfamilies)}` };
}

function joinNames(names: readonly string[]): string {
  if (names.length === 0) {
    throw new TypeError(
      'exportMappingsFile: providerfamilies is empty; leave it out to export all providers.',
    );
  }
  for (const [index, name] of names.entries()) {
    if (name.trim() === '')
      throw new TypeError(`exportMappingsFile: name ${index} of providerfamilies is blank.`);
    if (name.includes(',')) {
      throw new TypeError(
        `exportMappingsFile: name ${index} of providerfamilies contains a comma, which separates the names.`,
      );
    }
  }
  // The commas stay unencoded, for servers that split the list before decoding it.
  return names.map(encodeQueryPart).join(',');
}

/** Headers that the client and its connection set themselves, in lower case. */
const ownHeaders = new Set([
  'accept',
  'accept-encoding',
  'accountid',
  'apikey',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/**
 * Checks and prepares a request that the library's user composed.
 *
 * @throws TypeError when it would not be the intended call; the message quotes no value
 */
export function prepareRawRequest({
  method,
  path,
  query = {},
  headers = {},
  body,
}: RawRequest): ServiceRequest {
  if (method !== 'GET' && method !== 'POST') throw new TypeError('call: method must be GET or POST.');
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#\\]|\/\.{1,2}(\/|$)/.test(path)) {
    throw new TypeError(
      'call: path must begin with a slash and be printable ASCII, percent-encoded where needed, without dot segments and without a query: parameters go into query.',
    );
  }
  if (method === 'GET' && body !== undefined) throw new TypeError('call: a GET has no body; use query.');
  return {
    method,
    path: addQuery(path, query),
    headers: Object.entries(headers).flatMap(([name, value]) => [
      checkHeaderName(name),
      checkHeaderValue(name, value),
    ]),
    ...(body !== undefined && { body: Buffer.from(writeJson(body)) }),
  };
}

function checkHeaderName(name: string): string {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) throw new TypeError('call: a header has an invalid name.');
  if (ownHeaders.has(name.toLowerCase()))
    throw new TypeError(`call: the header ${name} is set by the client.`);
  return name;
}

function writeJson(body: unknown): string {
  const json: string | undefined = JSON.stringify(body);
  if (json === undefined) throw new TypeError('call: body must be a value that JSON can represent.');
  return json;
}

/** A path with its query: parameters in the given order, those without a value left out. */
function addQuery(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`${encodeQueryPart(name)}=${encodeQueryPart(value)}`],
    )
    .join('&');
  return query === '' ? path : `${path}?${query}`;
}

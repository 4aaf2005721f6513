import type { RawRequest } from './operations.js';
import { addQuery } from './query.js';
import { checkHeaderValue } from './service-calls.js';

/** Header names that the client and its connection set themselves, in small letters. */
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

export interface PreparedRawRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base address, with the query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: Uint8Array;
}

/**
 * Checks a request of the caller's own and writes it down.
 *
 * @throws TypeError when it would not be the call that was meant; the message quotes no value
 */
export function prepareRawRequest({
  method,
  path,
  query = {},
  headers = {},
  body,
}: RawRequest): PreparedRawRequest {
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
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
    throw new TypeError('call: a header has a name that is none.');
  if (ownHeaders.has(name.toLowerCase()))
    throw new TypeError(`call: the header ${name} is set by the client.`);
  return name;
}

function writeJson(body: unknown): string {
  const json: string | undefined = JSON.stringify(body);
  if (json === undefined) throw new TypeError('call: body must be something that JSON can hold.');
  return json;
}

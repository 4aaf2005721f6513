import type { IncomingHttpHeaders } from 'node:http';
import { isSameSecret } from '../common/same-secret.js';
import type { Operation } from './service-event.js';

/** The version segment, which starts every path. (Spec 9.) */
export const basePath = '/api/3.0';

export interface OperationRoute {
  readonly kind: 'operation';
  readonly operation: Operation;
  readonly parameters: URLSearchParams;
}

type Route =
  | OperationRoute
  | { readonly kind: 'wrong-method'; readonly allowed: string }
  | { readonly kind: 'unknown-path' };

const operations = new Map<string, { readonly operation: Operation; readonly method: 'GET' | 'POST' }>([
  [`${basePath}/mappings`, { operation: 'mappings', method: 'GET' }],
  [`${basePath}/hotels/ReviewMappingsOfBookedHotels`, { operation: 'by-body', method: 'POST' }],
  [`${basePath}/hotels/ReviewMappingsOfBookedHotelsByFile`, { operation: 'by-file', method: 'GET' }],
  [`${basePath}/content/GetMasterHotelBrands`, { operation: 'brands', method: 'GET' }],
  [`${basePath}/mappings/ExportMappingsFile`, { operation: 'export', method: 'GET' }],
]);

/**
 * Matches paths exactly: case-sensitive and without decoding.
 *
 * @param target the request target with its query
 */
export function routeRequest(method: string, target: string): Route {
  const [path, query = ''] = splitOnce(target, '?');
  const found = operations.get(path);
  if (!found) return { kind: 'unknown-path' };
  if (method !== found.method) return { kind: 'wrong-method', allowed: found.method };
  return { kind: 'operation', operation: found.operation, parameters: new URLSearchParams(query) };
}

function splitOnce(text: string, separator: string): [string, string?] {
  const place = text.indexOf(separator);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}

/** The customer's account, as in the two headers. (Spec 5.) */
export interface Account {
  readonly apiKey: string;
  readonly accountId: string;
}

/** Why the headers are not those of the account; undefined when they are. Never quotes what was sent. */
export function findAccountProblem(headers: IncomingHttpHeaders, account: Account): string | undefined {
  const { apikey, accountid } = headers;
  if (typeof apikey !== 'string' || apikey === '') return 'The header apikey is missing.';
  if (typeof accountid !== 'string' || accountid === '') return 'The header accountId is missing.';
  // Compares both, so that the time taken doesn't reveal which one was wrong.
  const keyFits = isSameSecret(apikey, account.apiKey);
  const accountFits = isSameSecret(accountid, account.accountId);
  return keyFits && accountFits ? undefined : 'The headers apikey and accountId do not name an account.';
}

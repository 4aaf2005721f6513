/** The version segment, with which every path begins. (Spec 9.) */
export const basePath = '/api/3.0';

/** Which operation a request means. */
export type Route =
  | { readonly kind: 'by-body' }
  /** `ftpFilePath` is undefined when the query has none of that exact name. */
  | { readonly kind: 'by-file'; readonly ftpFilePath: string | undefined }
  | { readonly kind: 'wrong-method'; readonly allowed: string }
  | { readonly kind: 'unknown-path' };

/**
 * Paths are matched exactly, as they stand in the request: case counts, and nothing is decoded.
 *
 * @param target the request target with its query
 */
export function routeRequest(method: string, target: string): Route {
  const [path, query = ''] = splitOnce(target, '?');
  switch (path) {
    case `${basePath}/hotels/ReviewMappingsOfBookedHotels`:
      return method === 'POST' ? { kind: 'by-body' } : { kind: 'wrong-method', allowed: 'POST' };
    case `${basePath}/hotels/ReviewMappingsOfBookedHotelsByFile`: {
      if (method !== 'GET') return { kind: 'wrong-method', allowed: 'GET' };
      return { kind: 'by-file', ftpFilePath: new URLSearchParams(query).get('ftpFilePath') ?? undefined };
    }
    default:
      return { kind: 'unknown-path' };
  }
}

function splitOnce(text: string, separator: string): [string, string?] {
  const place = text.indexOf(separator);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}

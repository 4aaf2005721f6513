import { encodeQueryPart } from '../http/query-part.js';

/** A path with its query: parameters in their order, those without a value left out. */
export function addQuery(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`${encodeQueryPart(name)}=${encodeQueryPart(value)}`],
    )
    .join('&');
  return query === '' ? path : `${path}?${query}`;
}

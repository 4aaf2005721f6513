/** A part of a query, so that any text comes through whole. A slash may stand there as it is. (RFC 3986, 3.4.) */
export function encodeQueryPart(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2F', '/');
}

/** A path with its query: parameters in their order, those without a value left out. */
export function addQuery(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`${encodeQueryPart(name)}=${encodeQueryPart(value)}`],
    )
    .join('&');
  return query === '' ? path : `${path}?${query}`;
}

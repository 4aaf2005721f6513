/** A part of a query, so that any text comes through whole. A slash may stand there as it is. (RFC 3986, 3.4.) */
export function encodeQueryPart(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2F', '/');
}

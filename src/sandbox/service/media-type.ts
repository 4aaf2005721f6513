import type { IncomingHttpHeaders } from 'node:http';

const json = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** Why a body can't be read by what its headers say of it; undefined when it is plain JSON in UTF-8. */
export function findMediaObjection(headers: IncomingHttpHeaders): string | undefined {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (type === undefined) return 'The header Content-Type is missing: expected application/json.';
  if (!json.test(type)) return 'The Content-Type is not application/json.';
  if (encoding.toLowerCase() !== 'identity') return 'A body with a Content-Encoding is not read.';
  return undefined;
}

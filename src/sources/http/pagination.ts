import { createBusinessDay } from '../../booking/business-day.js';
import { encodeQueryPart } from '../../transports/http/transport.js';
import { readJsonPath } from '../json/json-text.js';
import { parseUrlTemplate, type RequestCredentials, writeRequestHeaders } from './request.js';

const anyDay = createBusinessDay('2000-01-01', 'UTC');

/** How an API returns more records than fit in one response. */
export type HttpPagination =
  | { readonly kind: 'none' }
  /** By page number. */
  | {
      readonly kind: 'page';
      readonly parameter: string;
      /** The number of the first page, 0 or 1; 1 by default. */
      readonly first?: number | undefined;
    }
  /** By how many records to skip. */
  | { readonly kind: 'offset'; readonly parameter: string }
  /** By a field of the response: a value for `parameter` or, without `parameter`, the address of the next page. */
  | { readonly kind: 'cursor'; readonly field: string; readonly parameter?: string | undefined }
  /** By a header `Link` with `rel="next"`. (RFC 8288.) */
  | { readonly kind: 'link' };

/** A page that was read. */
interface ReadPage {
  readonly url: URL;
  /** The number of records on it. */
  readonly records: number;
  /** The number of records on all earlier pages. */
  readonly recordsBefore: number;
  /** Counted from 0. */
  readonly index: number;
  /** The whole response. */
  readonly json: string;
  readonly link: string | undefined;
}

type NextPage =
  | { readonly kind: 'page'; readonly url: URL }
  | { readonly kind: 'end' }
  /** The response points to a page that must not be requested. */
  | { readonly kind: 'refused'; readonly reason: string };

interface Paging {
  readonly first: URL;
  /** A short page is never the end: an API may have filtered it, and the rest of the day would be lost. */
  next(page: ReadPage): NextPage;
}

const end: NextPage = { kind: 'end' };

/** @throws RangeError if the address already has one of the pagination's parameters */
export function createPaging(pagination: HttpPagination, base: URL): Paging {
  switch (pagination.kind) {
    case 'none':
      return { first: base, next: () => end };
    case 'page': {
      const { parameter, first = 1 } = pagination;
      const pageAt = (index: number) => addParameter(base, parameter, `${first + index}`);
      return {
        first: pageAt(0),
        next: ({ records, index }) => (records === 0 ? end : { kind: 'page', url: pageAt(index + 1) }),
      };
    }
    case 'offset': {
      const { parameter } = pagination;
      const pageFrom = (offset: number) => addParameter(base, parameter, `${offset}`);
      return {
        first: pageFrom(0),
        next: ({ records, recordsBefore }) =>
          records === 0 ? end : { kind: 'page', url: pageFrom(recordsBefore + records) },
      };
    }
    case 'cursor': {
      const { field, parameter } = pagination;
      if (parameter !== undefined) addParameter(base, parameter, '');
      return {
        first: base,
        next({ url, json }) {
          const cursor = readCursor(json, field);
          if (typeof cursor !== 'string') return cursor;
          return parameter === undefined
            ? follow(url, cursor)
            : { kind: 'page', url: addParameter(base, parameter, cursor) };
        },
      };
    }
    case 'link':
      return {
        first: base,
        next({ url, link }) {
          const target = link === undefined ? undefined : findNextLink(link);
          return target === undefined ? end : follow(url, target);
        },
      };
  }
}

function addParameter(url: URL, name: string, value: string): URL {
  if (url.searchParams.has(name)) {
    throw new RangeError(`The source's url has the parameter ${name} already, which is the pagination's.`);
  }
  const extended = new URL(url);
  extended.search = `${url.search}${url.search === '' ? '?' : '&'}${encodeQueryPart(name)}=${encodeQueryPart(value)}`;
  return extended;
}

function readCursor(json: string, field: string): string | NextPage {
  const found = readJsonPath(json, field);
  switch (found.kind) {
    case 'absent':
      return end;
    case 'ambiguous':
      return {
        kind: 'refused',
        reason: `${JSON.stringify(field)}, the pagination's field, occurs there twice`,
      };
    case 'found': {
      const value: unknown = JSON.parse(found.json);
      if (value === null) return end;
      // As written: JavaScript might lose digits of a number.
      if (typeof value === 'number') return found.json;
      if (typeof value === 'string') return value.trim() === '' ? end : value;
      return {
        kind: 'refused',
        reason: `${JSON.stringify(field)}, the pagination's field, is neither a text nor a number`,
      };
    }
  }
}

/** Every request carries the credentials, so a response must not redirect it to another origin. */
function follow(from: URL, target: string): NextPage {
  if (!URL.canParse(target, from.href)) {
    return { kind: 'refused', reason: 'what it returns as the address of the next page is not an address' };
  }
  const url = new URL(target, from);
  url.hash = '';
  if (url.origin !== from.origin || url.username !== '' || url.password !== '') {
    return {
      kind: 'refused',
      reason: 'the address of the next page leads to another host, scheme or port: it is not followed',
    };
  }
  return { kind: 'page', url };
}

/** `<target>` and its parameters, up to a comma that is neither quoted nor in a target. */
const link = /<([^<>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*")*)/g;
/** A parameter and its value, if it has one. Quoted text is never taken for another parameter. */
const parameter = /;\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;

/**
 * Returns the target of the first link with the relation `next`, as written; undefined if there is none. (RFC 8288.)
 *
 * @param header all `Link` headers, joined by commas
 */
function findNextLink(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(link)) {
    // Only the first `rel` counts. It may list several relations, in any case.
    const [, , quoted, plain] =
      [...parameters.matchAll(parameter)].find(([, name]) => name?.toLowerCase() === 'rel') ?? [];
    const relations = (quoted ?? plain ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target?.trim();
  }
  return undefined;
}

/**
 * Prepares the address and the headers of requests, and checks them together with the pagination.
 *
 * @throws RangeError for an invalid address, TypeError for an invalid header
 */
export function prepareRequests({
  url,
  pagination = { kind: 'none' },
  ...credentials
}: { readonly url: string; readonly pagination?: HttpPagination | undefined } & RequestCredentials) {
  const urlOf = parseUrlTemplate(url);
  createPaging(pagination, urlOf(anyDay));
  return { urlOf, headers: writeRequestHeaders(credentials) };
}

import { createBusinessDay } from '../../booking/business-day.js';
import { encodeQueryPart } from '../../http/url.js';
import { readJsonPath } from '../json/json-text.js';
import { parseUrlTemplate, type RequestCredentials, writeRequestHeaders } from './request.js';

const anyDay = createBusinessDay('2000-01-01', 'UTC');

/**
 * What an API answers behind its last page: with `not-found`, 404 or 410 is the end of the day there, as well as a page
 * without records.
 */
export type AfterLastPage = 'empty' | 'not-found';

/** How an API hands out more records than one answer holds. */
export type HttpPagination =
  | { readonly kind: 'none' }
  /** A number of the page among the parameters. */
  | {
      readonly kind: 'page';
      readonly parameter: string;
      /** The number of the first page, 0 or 1; 1 if not given. */
      readonly first?: number | undefined;
      /** How many records to ask for; they come with each other. */
      readonly sizeParameter?: string | undefined;
      readonly size?: number | undefined;
      /** `empty` if not given. */
      readonly afterLastPage?: AfterLastPage | undefined;
    }
  /** How many records to leave out, and how many to give. */
  | {
      readonly kind: 'offset';
      readonly parameter: string;
      readonly limitParameter: string;
      readonly limit: number;
      /** `empty` if not given. */
      readonly afterLastPage?: AfterLastPage | undefined;
    }
  /** The answer says what comes next: a text for that parameter or, where none is named, the next address. */
  | { readonly kind: 'cursor'; readonly field: string; readonly parameter?: string | undefined }
  /** A header `Link` with `rel="next"`. (RFC 8288.) */
  | { readonly kind: 'link' };

/** A page that was read. */
export interface ReadPage {
  readonly url: URL;
  /** How many records it held. */
  readonly records: number;
  /** How many the pages before it held. */
  readonly recordsBefore: number;
  /** Counted from 0. */
  readonly index: number;
  /** The whole answer. */
  readonly json: string;
  readonly link: string | undefined;
}

export type NextPage =
  | {
      readonly kind: 'page';
      readonly url: URL;
      /** This one need not be there: the page before was a short one, or the API has no empty pages. */
      readonly isDoubtful: boolean;
    }
  | { readonly kind: 'end' }
  /** What the answer says cannot be followed. */
  | { readonly kind: 'refused'; readonly reason: string };

export interface Paging {
  readonly first: URL;
  /**
   * A short page alone is never the end: an API that gives at most so many records, however many were asked for, would cut
   * the day off.
   */
  next(page: ReadPage): NextPage;
}

const end: NextPage = { kind: 'end' };

/** @throws RangeError where the address has one of the pagination's parameters already */
export function createPaging(pagination: HttpPagination, base: URL): Paging {
  switch (pagination.kind) {
    case 'none':
      return { first: base, next: () => end };
    case 'page': {
      const { parameter, first = 1, sizeParameter, size, afterLastPage } = pagination;
      const sized =
        sizeParameter === undefined || size === undefined
          ? base
          : addParameter(base, sizeParameter, `${size}`);
      const pageAt = (index: number) => addParameter(sized, parameter, `${first + index}`);
      return {
        first: pageAt(0),
        next: ({ records, index }) =>
          records === 0
            ? end
            : {
                kind: 'page',
                url: pageAt(index + 1),
                isDoubtful: afterLastPage === 'not-found' || records < (size ?? 0),
              },
      };
    }
    case 'offset': {
      const { parameter, limitParameter, limit, afterLastPage } = pagination;
      const limited = addParameter(base, limitParameter, `${limit}`);
      const pageFrom = (offset: number) => addParameter(limited, parameter, `${offset}`);
      return {
        first: pageFrom(0),
        // As many as came, not as many as were asked for: an API may have a limit of its own.
        next: ({ records, recordsBefore }) =>
          records === 0
            ? end
            : {
                kind: 'page',
                url: pageFrom(recordsBefore + records),
                isDoubtful: afterLastPage === 'not-found' || records < limit,
              },
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
            : { kind: 'page', url: addParameter(base, parameter, cursor), isDoubtful: false };
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
        reason: `${JSON.stringify(field)}, the pagination's field, stands there twice`,
      };
    case 'found': {
      const value: unknown = JSON.parse(found.json);
      if (value === null) return end;
      // As it is written: JavaScript may not hold all of a number's digits.
      if (typeof value === 'number') return found.json;
      if (typeof value === 'string') return value.trim() === '' ? end : value;
      return {
        kind: 'refused',
        reason: `${JSON.stringify(field)}, the pagination's field, is neither a text nor a number`,
      };
    }
  }
}

/** Credentials go with every call: an answer cannot send them elsewhere. */
function follow(from: URL, target: string): NextPage {
  if (!URL.canParse(target, from.href)) {
    return { kind: 'refused', reason: 'what it gives as the address of the next page is none' };
  }
  const url = new URL(target, from);
  url.hash = '';
  if (url.origin !== from.origin || url.username !== '' || url.password !== '') {
    return {
      kind: 'refused',
      reason: 'the address of the next page leads to another host, scheme or port: it is not followed',
    };
  }
  return { kind: 'page', url, isDoubtful: false };
}

/** `<target>` and what is said of it, up to the comma that is neither quoted nor in a target. */
const link = /<([^>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*")*)/g;
/** A parameter and its value, if it has one; what stands in quotes is never taken for another parameter. */
const parameter = /;\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g;

/**
 * The target of the first link whose relation is `next`, as it is written; undefined where there is none. (RFC 8288.)
 *
 * @param header the fields `Link`, joined by commas
 */
export function findNextLink(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(link)) {
    // Of several the first counts; a relation may be a list of words, and case doesn't count.
    const [, , quoted, plain] =
      [...parameters.matchAll(parameter)].find(([, name]) => name?.toLowerCase() === 'rel') ?? [];
    const relations = (quoted ?? plain ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target?.trim();
  }
  return undefined;
}

/**
 * Checks together what the requests are made of.
 *
 * @throws RangeError for an address, TypeError for a header that can't be used
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

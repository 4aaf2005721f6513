import type { PeerFault } from '../../base/peer-patience.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { SourceFault } from '../../booking/source.js';
import { encodeQueryPart } from '../../transports/http/transport.js';
import { anyDay } from '../common/day-template.js';
import { readJsonPath } from '../json/json-text.js';
import type { HttpPagination } from './kind.js';
import { parseUrlTemplate } from './request.js';

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

/** What is wrong with a page. Quotes nothing of the response. */
export class PageFault extends Error {
  constructor(
    reason: string,
    readonly fault: SourceFault = 'unreadable',
    readonly peer?: PeerFault,
  ) {
    super(reason);
  }
}

interface Paging {
  readonly first: URL;
  /**
   * The address of the next page; undefined at the end. A short page is never the end: an API may have filtered it, and the rest
   * of the day would be lost.
   *
   * @throws PageFault for a response that points to a page that must not be requested
   */
  next(page: ReadPage): URL | undefined;
}

/** @throws RangeError if the address already has a parameter that is the pagination's */
export function createPaging(pagination: HttpPagination, base: URL): Paging {
  switch (pagination.kind) {
    case 'none':
      return { first: base, next: () => undefined };
    case 'page': {
      const pageAt = count(base, pagination.parameter, 1);
      return {
        first: pageAt(0),
        next: ({ records, index }) => (records === 0 ? undefined : pageAt(index + 1)),
      };
    }
    case 'offset': {
      const pageFrom = count(base, pagination.parameter, 0);
      return {
        first: pageFrom(0),
        next: ({ records, recordsBefore }) => (records === 0 ? undefined : pageFrom(recordsBefore + records)),
      };
    }
    case 'cursor': {
      const { field, parameter } = pagination;
      if (parameter !== undefined && base.searchParams.has(parameter)) throw isTaken(parameter);
      return {
        first: base,
        next({ url, json }) {
          const cursor = readCursor(json, field);
          if (cursor === undefined) return undefined;
          return parameter === undefined ? follow(url, cursor) : addParameter(base, parameter, cursor);
        },
      };
    }
    case 'link':
      return {
        first: base,
        next({ url, link }) {
          const target = link === undefined ? undefined : findNextLink(link);
          return target === undefined ? undefined : follow(url, target);
        },
      };
  }
}

/** Counts from the number that the address has for the parameter: some APIs call their first page 0. */
function count(base: URL, parameter: string, usualFirst: number): (steps: number) => URL {
  const [written, ...more] = base.searchParams.getAll(parameter);
  if (written === undefined) return (steps) => addParameter(base, parameter, `${usualFirst + steps}`);
  if (more.length > 0 || !/^\d{1,9}$/.test(written)) throw isTaken(parameter);
  return (steps) => {
    const url = new URL(base);
    url.searchParams.set(parameter, `${Number(written) + steps}`);
    return url;
  };
}

const isTaken = (parameter: string) =>
  new RangeError(`The source's url has the parameter ${parameter} already, which is the pagination's.`);

function addParameter(url: URL, name: string, value: string): URL {
  const extended = new URL(url);
  extended.search = `${url.search}${url.search === '' ? '?' : '&'}${encodeQueryPart(name)}=${encodeQueryPart(value)}`;
  return extended;
}

/**
 * Parses the address of a source.
 *
 * @throws RangeError for an invalid one, and for one that has a parameter of the pagination
 */
export function readAddress({
  url,
  pagination = { kind: 'none' },
}: {
  readonly url: string;
  readonly pagination?: HttpPagination | undefined;
}): (day: BusinessDay) => URL {
  const urlOf = parseUrlTemplate(url);
  createPaging(pagination, urlOf(anyDay));
  return urlOf;
}

function readCursor(json: string, path: string): string | undefined {
  const found = readJsonPath(json, path);
  const field = `${JSON.stringify(path)}, the pagination's field,`;
  if (found.kind === 'absent') return undefined;
  if (found.kind === 'ambiguous') throw new PageFault(`${field} occurs there twice`);
  const value: unknown = JSON.parse(found.json);
  // As written: JavaScript might lose digits of a number.
  if (typeof value === 'number') return found.json;
  if (value !== null && typeof value !== 'string')
    throw new PageFault(`${field} is neither a text nor a number`);
  return value?.trim() ? value : undefined;
}

/** Every request carries the credentials, so a response must not redirect it to another origin. */
function follow(from: URL, target: string): URL {
  if (!URL.canParse(target, from.href))
    throw new PageFault('what it returns as the address of the next page is not an address');
  const url = new URL(target, from);
  url.hash = '';
  if (url.origin !== from.origin || url.username !== '' || url.password !== '')
    throw new PageFault(
      'the address of the next page leads to another host, scheme or port: it is not followed',
    );
  return url;
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

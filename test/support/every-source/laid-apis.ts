import { useBookingsApi } from '../../sources/http/bookings-api.js';
import type { HurtfulRecord } from './hurtful-day.js';
import { byNumber, type LaidDay, noFile } from './review-laid-day.js';
import { writeJson } from './written-days.js';

const pageSize = 150;
const token = 'token-of-the-api';

/** What a page says of the next one, and how that one is requested. */
interface PagingStyle {
  readonly pagination: Readonly<Record<string, unknown>>;
  readonly offsetOf: (query: URLSearchParams) => number;
  /** Appended to the other members of the response. */
  readonly members?: (offset: number) => string;
  readonly headers?: (next: string) => Readonly<Record<string, string>>;
}

const after = (query: URLSearchParams) => Number(query.get('after'));

export const pagingStyles = {
  'by number': {
    pagination: { kind: 'page', parameter: 'page', sizeParameter: 'size', size: pageSize },
    offsetOf: (query) => (Number(query.get('page')) - 1) * Number(query.get('size')),
  },
  'by offset': {
    pagination: { kind: 'offset', parameter: 'skip', limitParameter: 'top', limit: pageSize * 2 },
    offsetOf: (query) => Number(query.get('skip')),
  },
  'by cursor': {
    pagination: { kind: 'cursor', parameter: 'after', field: 'meta.next' },
    offsetOf: after,
    members: (offset) => `,"meta":{"next":${offset}}`,
  },
  'by link': {
    pagination: { kind: 'link' },
    offsetOf: after,
    headers: (next) => ({ link: `<${next}>; rel="next"` }),
  },
} satisfies Readonly<Record<string, PagingStyle>>;

/** An API that returns the day in pages, and nothing for another day. It ends with the test. */
export async function layBehindApi(
  records: readonly HurtfulRecord[],
  style: keyof typeof pagingStyles,
): Promise<LaidDay> {
  const { pagination, offsetOf, members, headers }: PagingStyle = pagingStyles[style];
  const api = await useBookingsApi(({ url, headers: asked }, response) => {
    if (asked.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    const isOfDay = url.searchParams.get('from') === '2026-11-19T23:00:00.000Z';
    const offset = offsetOf(url.searchParams);
    const page = isOfDay ? records.slice(offset, offset + pageSize) : [];
    const next = new URL(url);
    next.searchParams.set('after', String(offset + pageSize));
    const isLast = offset + pageSize >= records.length;
    const beside = isLast ? '' : (members?.(offset + pageSize) ?? '');
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(isLast ? {} : headers?.(next.href)),
    });
    const list = page.map((record, index) => writeJson(record, offset + index)).join(',\n');
    response.end(`{"data":{"bookings":[${list}]},"page":${offset}${beside}}`);
  });
  const source = {
    ...noFile,
    kind: 'http',
    url: `${api.origin}/v1/bookings?from={dayStart}&to={dayEnd}`,
    bearerToken: token,
    records: 'data.bookings',
    pagination,
  };
  return { settings: { source }, recordAt: byNumber };
}

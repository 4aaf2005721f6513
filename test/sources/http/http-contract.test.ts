import type { ServerResponse } from 'node:http';
import type { HttpPagination } from '../../../src/sources/http/kind.js';
import { describeSourceContract, type IntendedRecord, type SourceDriver } from '../../contracts/source.js';
import { type BookingsApi, sendHalf, sendJson, startBookingsApi } from './bookings-api.js';
import { openHttpSource } from './open-source.js';

const pageSize = 4_000;
const token = 'token-that-nobody-sees';

interface Style {
  readonly pagination: HttpPagination;
  readonly query?: string;
  /** The offset of the requested page. */
  readonly offsetOf: (query: URLSearchParams) => number;
  readonly answer: (response: ServerResponse, page: object, next: URL | undefined, offset: number) => void;
}

const paged = (_response: ServerResponse, page: object) => sendJson(_response, page);
const next = (url: URL, offset: number) => {
  const following = new URL(url);
  following.searchParams.set('after', String(offset));
  return following;
};

const styles: Readonly<Record<string, Style>> = {
  'page by number': {
    pagination: { kind: 'page', parameter: 'page' },
    offsetOf: (query) => (Number(query.get('page')) - 1) * pageSize,
    answer: paged,
  },
  'page by number from 0': {
    pagination: { kind: 'page', parameter: 'p' },
    query: '&p=0',
    offsetOf: (query) => Number(query.get('p')) * pageSize,
    answer: paged,
  },
  'page by offset': {
    pagination: { kind: 'offset', parameter: 'skip' },
    offsetOf: (query) => Number(query.get('skip')),
    answer: paged,
  },
  'page by cursor': {
    pagination: { kind: 'cursor', parameter: 'after', field: 'meta.next' },
    offsetOf: (query) => Number(query.get('after')),
    answer: (response, page, following, offset) =>
      sendJson(response, { ...page, meta: { next: following && offset + pageSize } }),
  },
  'page by address': {
    pagination: { kind: 'cursor', field: '@odata.nextLink' },
    offsetOf: (query) => Number(query.get('after')),
    answer: (response, page, following) =>
      sendJson(response, {
        ...page,
        '@odata.nextLink': following && `${following.pathname}${following.search}`,
      }),
  },
  'page by link': {
    pagination: { kind: 'link' },
    offsetOf: (query) => Number(query.get('after')),
    answer: (response, page, following) =>
      sendJson(response, page, following ? { link: `<${following.href}>; rel="next"` } : {}),
  },
};

function createHttpDriver({ pagination, query = '', offsetOf, answer }: Style): SourceDriver {
  const days = new Map<string, readonly IntendedRecord[]>();
  let api: BookingsApi | undefined;
  let served = 0;
  let breaksAfter = Number.POSITIVE_INFINITY;

  async function open(all: number) {
    api = await startBookingsApi(({ url, headers }, response) => {
      if (headers.authorization !== `Bearer ${token}`) {
        response.writeHead(401).end();
        return;
      }
      const records = days.get(url.searchParams.get('from') ?? '') ?? [];
      const offset = offsetOf(url.searchParams);
      const page = { data: { bookings: records.slice(offset, offset + pageSize) } };
      if (offset >= breaksAfter) {
        sendHalf(response, page);
        return;
      }
      served += page.data.bookings.length;
      const isLast = offset + pageSize >= records.length;
      answer(response, page, isLast ? undefined : next(url, offset + pageSize), offset);
    });
    const source = openHttpSource({
      url: `${api.origin}/v1/bookings?from={dayStart}&to={dayEnd}&key=${token}${query}`,
      headers: { Authorization: `Bearer ${token}` },
      records: 'data.bookings',
      pagination,
      columns: {},
    });
    return { source, secrets: [token], taken: () => served / all, held: () => api?.open() ?? 0 };
  }
  return {
    async prepare(records, { firstInstant }) {
      days.set(firstInstant.toISOString(), records);
      return { ...(await open(records.length)), places: records.map((_, index) => index + 1) };
    },
    prepareBroken(records, day) {
      breaksAfter = records.length / 2;
      return this.prepare(records, day);
    },
    prepareDays(several) {
      for (const { day, records } of several) days.set(day.firstInstant.toISOString(), records);
      return open(1);
    },
    dispose: async () => api?.close(),
  };
}

for (const [name, style] of Object.entries(styles)) {
  describeSourceContract(`http, ${name}`, () => createHttpDriver(style));
}

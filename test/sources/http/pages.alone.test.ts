import { describe, expect, it } from 'vitest';
import type { HttpPagination } from '../../../src/sources/http/kind.js';
import { type ApiRequest, sendJson, useBookingsApi } from './bookings-api.js';
import { readHttp } from './open-source.js';

const made = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ ServiceId: from + index }));
const paths = (requests: readonly ApiRequest[]) => requests.map(({ url }) => `${url.pathname}${url.search}`);

/** An API with `all` bookings that returns at most `most` at a time. */
async function useCountingApi(
  all: number,
  { pagination, most = 1_000 }: { readonly pagination: HttpPagination; readonly most?: number },
  read: (query: URLSearchParams) => { readonly offset: number; readonly limit: number },
) {
  const api = await useBookingsApi(({ url }, response) => {
    const { offset, limit } = read(url.searchParams);
    sendJson(response, made(1 + offset, Math.max(0, Math.min(limit, most, all - offset))));
  });
  const { ids } = await readHttp({ url: `${api.origin}/b?day={day}&limit=3`, pagination });
  return { ids, asked: paths(api.requests).map((path) => path.replace('/b?day=2026-11-20&', '')) };
}

const everyOne = (all: number) => made(1, all).map(({ ServiceId }) => ServiceId);

describe('pages by number', () => {
  const byPage = (query: URLSearchParams) => ({
    offset: (Number(query.get('page')) - 1) * Number(query.get('limit')),
    limit: Number(query.get('limit')),
  });
  const pagination = { kind: 'page', parameter: 'page' } as const;

  it('end with an empty page after a full one', async () => {
    const { ids, asked } = await useCountingApi(6, { pagination }, byPage);
    expect(ids).toEqual(everyOne(6));
    expect(asked).toEqual(['limit=3&page=1', 'limit=3&page=2', 'limit=3&page=3']);
  });

  it('fail if there is none after the last short one: the day may be incomplete', async () => {
    const api = await useBookingsApi(({ url }, response) => {
      const { offset, limit } = byPage(url.searchParams);
      if (offset >= 5) response.writeHead(404).end();
      else sendJson(response, made(1 + offset, Math.min(limit, 5 - offset)));
    });
    const reading = readHttp({ url: `${api.origin}/{day}?limit=3`, pagination });
    await expect(reading).rejects.toMatchObject({ name: 'SourceError', fault: 'missing' });
  });
});

describe('pages by offset', () => {
  it('continue after what was returned, and end with an empty list', async () => {
    const { ids, asked } = await useCountingApi(
      10,
      { pagination: { kind: 'offset', parameter: 'skip' } },
      (query) => ({ offset: Number(query.get('skip')), limit: Number(query.get('limit')) }),
    );
    expect(ids).toEqual(everyOne(10));
    expect(asked).toEqual([
      'limit=3&skip=0',
      'limit=3&skip=3',
      'limit=3&skip=6',
      'limit=3&skip=9',
      'limit=3&skip=10',
    ]);
  });
});

describe('pages by cursor', () => {
  it.each([[undefined], [null], ['  ']])('end if it is %j', async (last) => {
    const api = await useBookingsApi(({ number }, response) =>
      sendJson(response, { items: made(number, 1), next: number === 1 ? 'a/b&day=2026-11-19#? ü' : last }),
    );
    const { ids } = await readHttp({
      url: `${api.origin}/b?day={day}`,
      records: 'items',
      pagination: { kind: 'cursor', field: 'next', parameter: 'after' },
    });
    expect(ids).toEqual([1, 2]);
    expect(paths(api.requests)).toEqual([
      '/b?day=2026-11-20',
      '/b?day=2026-11-20&after=a/b%26day%3D2026-11-19%23%3F%20%C3%BC',
    ]);
  });

  it.each([[true], [{ after: 'x' }]])('are refused if it is %j', async (next) => {
    const api = await useBookingsApi((_, response) => sendJson(response, { items: made(1, 1), next }));
    const reading = readHttp({
      url: `${api.origin}/{day}`,
      records: 'items',
      pagination: { kind: 'cursor', field: 'next', parameter: 'after' },
    });
    await expect(reading).rejects.toThrow('neither a text nor a number');
  });
});

describe('a next page', () => {
  it.each<[string, string, HttpPagination]>([
    [
      '12345678901234567890',
      '/2026-11-20?after=12345678901234567890',
      { kind: 'cursor', field: 'next', parameter: 'after' },
    ],
    ['"/v2/more?x=1"', '/v2/more?x=1', { kind: 'cursor', field: 'next' }],
  ])('by %s is %s, and may be empty', async (next, path, pagination) => {
    const pages = [`{"items":[{"ServiceId":1}],"next":${next}}`, '{"items":[],"next":"/c"}'];
    const api = await useBookingsApi(({ number }, response) =>
      response.end(pages[number - 1] ?? '{"items":[{"ServiceId":3}],"next":null}'),
    );
    const { ids } = await readHttp({ url: `${api.origin}/{day}`, records: 'items', pagination });
    expect(ids).toEqual([1, 3]);
    expect(paths(api.requests)[1]).toBe(path);
  });

  it('is found among several links, relative to the page, without its fragment', async () => {
    const api = await useBookingsApi(({ url, number }, response) =>
      sendJson(
        response,
        made(number, 1),
        number === 1
          ? {
              link: [
                '</first>; rel=first, <ignored>; title="a, rel=next"',
                `<more?x=${url.searchParams.get('day')}#end>; title="<"; REL="last NEXT"`,
              ],
            }
          : {},
      ),
    );
    const { ids } = await readHttp({ url: `${api.origin}/v1/b?day={day}`, pagination: { kind: 'link' } });
    expect(ids).toEqual([1, 2]);
    expect(paths(api.requests)).toEqual(['/v1/b?day=2026-11-20', '/v1/more?x=2026-11-20']);
  });

  it.each([
    ['title*=UTF-8\'\'x; rel = "next"; rel=prev'],
    ['title="a \\" ; rel=last"; crossorigin; rel="next"'],
  ])('is found with any other parameters: %s', async (parameters) => {
    const api = await useBookingsApi(({ number }, response) =>
      sendJson(response, made(number, 1), number === 1 ? { link: `</more>; ${parameters}` } : {}),
    );
    const { ids } = await readHttp({ url: `${api.origin}/b?day={day}`, pagination: { kind: 'link' } });
    expect(ids).toEqual([1, 2]);
  });

  it.each([
    ['another host', 'http://localhost.example.com/b'],
    ['a host after backslashes', '\\\\elsewhere.example.com\\b'],
    ['another scheme', 'https://127.0.0.1/b'],
    ['no host at all', 'file:///etc/passwd'],
    ['a user name', 'http://who@HOST/b'],
  ])('on %s is refused, and not requested', async (_, address) => {
    const api = await useBookingsApi((__, response) =>
      sendJson(response, { items: made(1, 1), next: address.replace('HOST', new URL(api.origin).host) }),
    );
    const reading = readHttp({
      url: `${api.origin}/{day}`,
      headers: { 'X-Key': 'secret-of-the-key' },
      records: 'items',
      pagination: { kind: 'cursor', field: 'next' },
    });
    await expect(reading).rejects.toThrow(/page 1: .*(not followed|is not an address)/);
    expect(api.requests).toHaveLength(1);
  });
});

describe('pages that form a loop', () => {
  it.each([
    ['a page that ignores its number', { kind: 'page', parameter: 'page' }, [1]],
    ['a cursor that stays', { kind: 'cursor', field: 'next', parameter: 'after' }, [1]],
    ['cursors that come back', { kind: 'cursor', field: 'next', parameter: 'after' }, [1, 2, 3]],
    ['addresses that come back', { kind: 'cursor', field: 'address' }, [1, 2, 3, 4, 5]],
  ] satisfies [string, HttpPagination, number[]][])('stop: %s', async (_, pagination, circle) => {
    const api = await useBookingsApi(({ number }, response) => {
      const next = circle[number % circle.length];
      const ServiceId = circle[(number - 1) % circle.length];
      sendJson(response, { items: [{ ServiceId }], next: `c${next}`, address: `/2026?c=${next}` });
    });
    const reading = readHttp({ url: `${api.origin}/{day}`, records: 'items', pagination });
    await expect(reading).rejects.toThrow(/loop|an earlier page/);
    expect(api.requests.length).toBeLessThan(circle.length * 3 + 3);
  });
});

describe('endless pages', () => {
  const pagination = { kind: 'cursor', field: 'next', parameter: 'next' } as const;
  /** An API whose every page names a further one. Without a limit the reader would continue forever; it ends at 1,000. */
  const readEndless = async (
    listOf: (page: number) => readonly object[],
    options: object = {},
    last = 1_000,
  ) => {
    const api = await useBookingsApi(({ url }, response) => {
      const page = Number(url.searchParams.get('next') ?? 0);
      sendJson(response, { list: listOf(page), next: page < last ? page + 1 : null });
    });
    const reading = readHttp({ url: `${api.origin}/{day}`, records: 'list', pagination, ...options });
    return { ...(await reading.catch((error: Error) => ({ ids: error.message }))), requests: api.requests };
  };
  const each = (page: number) => [{ ServiceId: page }];

  it('fail after too many, or if they bring nothing new', async () => {
    const many = await readEndless(each, { maxPages: 20 });
    expect(many.ids).toContain('page 21: the API returns more than 20 pages: do they end at all?');
    expect(many.requests).toHaveLength(20);
    expect((await readEndless(each, { maxPages: 20 }, 19)).ids).toHaveLength(20);
    const empty = await readEndless((page) => (page === 0 ? each(1) : []));
    expect(empty.ids).toContain('101 pages in a row without a record');
    expect(empty.requests).toHaveLength(102);
    const gaps = await readEndless((page) => (page % 70 === 0 ? each(page) : []), {}, 150);
    expect(gaps.ids).toEqual([0, 70, 140]);
  });
});

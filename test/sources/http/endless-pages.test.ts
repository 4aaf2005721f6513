import { describe, expect, it } from 'vitest';
import { sendJson, useBookingsApi } from './bookings-api.js';
import { readHttp } from './open-source.js';

/** An API whose every page names a further one. */
const useEndlessApi = (listOf: (page: number) => readonly object[]) =>
  useBookingsApi(({ url }, response) => {
    const page = Number(url.searchParams.get('next') ?? 0);
    // Without a limit the reader would continue forever; the test ends it.
    sendJson(response, { list: listOf(page), next: page < 1_000 ? page + 1 : null });
  });
const pagination = { kind: 'cursor', field: 'next', parameter: 'next' } as const;

describe('endless pages', () => {
  it('fail after too many', async () => {
    const api = await useEndlessApi((page) => [{ ServiceId: page }]);
    const options = { url: `${api.origin}/{day}`, records: 'list', pagination };
    await expect(readHttp({ ...options, maxPages: 20 })).rejects.toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining('page 21: the API returns more than 20 pages: do they end at all?'),
    });
    expect(api.requests).toHaveLength(20);
  });

  it('are read to their end if there are exactly that many', async () => {
    const api = await useEndlessApi((page) => [{ ServiceId: page }]);
    const options = { url: `${api.origin}/{day}`, records: 'list', pagination };
    expect((await readHttp({ ...options, maxPages: 1_001 })).ids).toHaveLength(1_001);
  });

  it('fail if they bring nothing new', async () => {
    const api = await useEndlessApi((page) => (page === 0 ? [{ ServiceId: 1 }] : []));
    const options = { url: `${api.origin}/{day}`, records: 'list', pagination };
    await expect(readHttp(options)).rejects.toThrow('101 pages in a row without a record');
    expect(api.requests).toHaveLength(102);
  });
});

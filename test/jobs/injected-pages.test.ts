import { describe, expect, it } from 'vitest';
import { sendJson, useBookingsApi } from '../sources/http/bookings-api.js';
import { expectNoHarm, prepareGuardedPlace } from './guarded-place.js';

const token = 'token-of-the-source';

describe('an API that points to another host', () => {
  /** Must never receive the token. */
  const useOther = () => useBookingsApi((_, response) => sendJson(response, []));

  it.each([302, 307])('fails the day with a redirect (%i), which is not followed', async (status) => {
    const other = await useOther();
    const api = await useBookingsApi((_, response) =>
      response.writeHead(status, { location: `${other.origin}/bookings` }).end(),
    );
    const place = await prepareGuardedPlace();
    await place.use({
      kind: 'http',
      url: `${api.origin}/{day}`,
      headers: { Authorization: `Bearer ${token}` },
    });
    const result = await place.folder.runDay();
    expect(result.report.error?.message).toContain(`redirects (http-${status}), which is not followed`);
    expect(result.exitCode).toBe(1);
    expect(result.stdout + result.stderr).not.toContain(token);
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${token}`]);
    expect(other.requests).toEqual([]);
    expectNoHarm(place);
  });

  it.each([
    ['another port', 'http://HOST/b'],
    ['another host after two slashes', '//HOST/b'],
    ['another host after backslashes', '\\\\HOST\\b'],
    ['another host after a user', 'http://pms.example.com@HOST/b'],
    ['a user on the same host', 'http://who@SAME/b'],
  ])('by a next page on %s is not followed, and fails the day', async (_, next) => {
    const other = await useOther();
    const api = await useBookingsApi(({ url }, response) => {
      const address = next.replace('HOST', new URL(other.origin).host).replace('SAME', url.host);
      const isLink = url.pathname.startsWith('/link');
      sendJson(
        response,
        { items: [{ ServiceId: 7 }], ...(isLink ? {} : { next: address }) },
        isLink ? { link: `<${address}>; rel="next"` } : {},
      );
    });
    const place = await prepareGuardedPlace();
    const results = [];
    for (const pagination of [{ kind: 'link' }, { kind: 'cursor', field: 'next' }]) {
      const url = `${api.origin}/${pagination.kind}/{day}`;
      await place.use({
        kind: 'http',
        url,
        records: 'items',
        pagination,
        headers: { Authorization: `Bearer ${token}` },
      });
      results.push(await place.folder.runDay());
    }
    for (const { report, exitCode, stdout, stderr } of results) {
      expect(report.error?.message).toMatch(
        /leads to another host, scheme or port|address of the next page is not an address/,
      );
      expect(exitCode).toBe(1);
      expect(stdout + stderr).not.toContain(token);
    }
    expect(api.requests).toHaveLength(2);
    expect(other.requests).toEqual([]);
    expectNoHarm(place);
  });
});

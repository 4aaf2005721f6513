import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { SourceFault } from '../../../src/booking/source.js';
import { openSource } from '../../../src/sources/registry.js';
import { findOffset, type PeerClock } from '../../../src/transports/http/peer-clocks.js';
import { settingsOf } from '../../contracts/sample.js';
import { createGate } from '../../support/gate.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { openTestParts } from '../../support/source-parts.js';
import { day, expectFault, readToEnd } from '../reading.js';
import { sendHalf, sendJson, useBookingsApi } from './bookings-api.js';
import { openHttpSource, readHttp } from './open-source.js';

const guest = 'Ann Guest-Canary';

describe('a record of a response', () => {
  it('has the same values as in NDJSON, and its place', async () => {
    const api = await useBookingsApi((_, response) =>
      response.end(`{"data": { "bookings" : [
        {"ServiceId": 1.00000000000000001, "guest": {"name": "A]\\"}"}, "ProviderHotelId": "007"} ,
        7, null, [], {"ServiceId": 2, "ServiceId": 3}, {"ServiceId":-0.5e1}, {"ProviderName":"${'x'.repeat(2000)}"}
      ]}}`),
    );
    const { records } = await readHttp({
      url: `${api.origin}/{day}`,
      records: 'data.bookings',
      columns: { ...masterIdOnly, BookingClientName: 'guest.name', ProviderHotelId: 'ProviderHotelId' },
      recordLimit: 2_000,
    });
    expect(records).toEqual([
      { place: 1, fields: { ServiceId: Number.NaN, BookingClientName: 'A]"}', ProviderHotelId: '007' } },
      { place: 2, unreadable: 'not-an-object' },
      { place: 3, unreadable: 'not-an-object' },
      { place: 4, unreadable: 'not-an-object' },
      { place: 5, unreadable: 'duplicate-member' },
      { place: 6, fields: { ServiceId: -5 } },
      { place: 7, unreadable: 'record-too-long' },
    ]);
  });
});

it('each response tells what time it is there', async () => {
  const api = await useBookingsApi((_, response) => sendJson(response, [{ ServiceId: 1 }]));
  const offsets: (number | undefined)[] = [];
  const peerClock: PeerClock = {
    clock: () => Date.now() + 3_600_000,
    note: (found) => offsets.push(found && Math.round(findOffset(found) / 60_000)),
  };
  const settings = settingsOf({ kind: 'http', url: `${api.origin}/{day}`, columns: masterIdOnly });
  await readToEnd(await openSource(settings.source, { ...openTestParts(settings), peerClock }));
  expect(offsets).toEqual([-60]);
});

describe('the address of a day', () => {
  it.each([
    // 23 hours, and 25.
    ['2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
  ])('of %s requests from %s to %s', async (iso, from, to) => {
    const api = await useBookingsApi((_, response) => sendJson(response, []));
    const source = openHttpSource({
      url: `${api.origin}/{day:yyyy}/{day:yyyy/MM}/b?from={dayStart}&to={dayEnd}&q={day:'&x='d}`,
    });
    const asked = createBusinessDay(iso, 'Europe/Madrid');
    expect((await readToEnd(source, { of: asked })).chunks).toEqual([]);
    const [request] = api.requests;
    expect(request?.url.pathname).toBe(`/2026/2026%2F${iso.slice(5, 7)}/b`);
    expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({
      from,
      to,
      q: `&x=${Number(iso.slice(8))}`,
    });
  });

  it('cannot be changed by a pattern', () => {
    const odd = fc.string({
      unit: fc.constantFrom('.', '/', '\\', '?', '#', '&', '%', ':', '@', ' ', 'é', '\n'),
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(odd, (text) => {
        const url = `https://api.example.com/a/{day:'${text}'d}/z?day={day:d'${text}'}`;
        const located = openHttpSource({ url }).locate(day);
        expect(located).toBe(`https://api.example.com/a/${encodeURIComponent(`${text}20`)}/z for 2026-11-20`);
      }),
    );
  });

  it.each([
    ['bookings/{day}', 'is not an address'],
    ['https://api{day}.example.com/b', 'is not an address'],
    ['https://api.example.com\\{day}', 'is not an address'],
    ['ftp://api.example.com/{day}', 'is not an address'],
    ['http://api.example.com/{day}', 'must begin with https://'],
    ['http://127.0.0.1.example.com/{day}', 'must begin with https://'],
    ['https://canary:pass@api.example.com/{day}', 'user name or a password'],
    ['https://api.example.com/b#{day}', 'fragment'],
    ['https://api.example.com/b', 'names no day'],
    ['https://api.example.com/{daze}', 'has an unknown placeholder; known are'],
  ])('must not be %s', (url, words) => {
    expect(() => openHttpSource({ url })).toThrow(words);
    expect(() => openHttpSource({ url })).not.toThrow('canary');
  });

  it('must not have a parameter of the pagination that does not say where to begin', () => {
    const pagination = { kind: 'page', parameter: 'page' } as const;
    for (const query of ['page=one', 'page=1&page=2'])
      expect(() => openHttpSource({ url: `https://api.example.com/{day}?${query}`, pagination })).toThrow(
        'has the parameter page already',
      );
    const cursor = { kind: 'cursor', field: 'next', parameter: 'after' } as const;
    expect(() =>
      openHttpSource({ url: 'https://api.example.com/{day}?after=1', pagination: cursor }),
    ).toThrow('has the parameter after already');
  });
});

describe('credentials', () => {
  it('are sent as headers, spelled as configured', async () => {
    const api = await useBookingsApi((_, response) => sendJson(response, []));
    const url = `${api.origin}/{day}`;
    await readHttp({
      url,
      headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'k 1', ACCEPT: 'application/hal+json' },
    });
    await readHttp({ url, headers: { authorization: 'Basic YTpi' } });
    expect(
      api.requests.map(({ headers }) => [headers.authorization, headers['x-api-key'], headers.accept]),
    ).toEqual([
      ['Bearer abc', 'k 1', 'application/hal+json'],
      ['Basic YTpi', undefined, 'application/json'],
    ]);
  });

  it('are never part of messages', async () => {
    const api = await useBookingsApi((_, response) => response.writeHead(403).end(guest));
    const secrets = ['secret-key', 'secret-token', 'secret-header'];
    const options = {
      url: `${api.origin}/b?key=secret-key&day={day}`,
      headers: { Authorization: 'Bearer secret-token', 'X-Key': 'secret-header' },
    };
    expect(openHttpSource(options).locate(day)).toBe(`${api.origin}/b for 2026-11-20`);
    const words = /rejected the credentials \(http-403\)/;
    await expectFault(readHttp(options), 'login-refused', words, secrets);
    expect(api.requests).toHaveLength(1);
  });
});

describe('a response that is not a page', () => {
  const booking = `{"BookingClientName":"${guest}"}`;
  it.each<[string, string | Buffer, string, SourceFault]>([
    ['no JSON', `<html>${guest}`, 'is not JSON', 'unreadable'],
    ['another list', `{"data":[${booking}]}`, 'has no "items"', 'unreadable'],
    ['an object in place of the list', `{"items":${booking}}`, 'has no list at "items"', 'unreadable'],
    ['two lists', `{"items":[],"items":[${booking}]}`, 'has "items" twice', 'unreadable'],
    ['another encoding', Buffer.from(`{"items":["é${guest}"]}`, 'latin1'), 'is not UTF-8', 'binary'],
    ['too much', `{"items":["${'x'.repeat(70_000)}"]}`, 'more than 65536 bytes', 'unreadable'],
  ])('%s: is an error after the first page, not the end', async (_, answer, words, fault) => {
    const api = await useBookingsApi(({ number }, response) => {
      if (number === 1) sendJson(response, { items: [{ ServiceId: 1 }] });
      else response.end(answer);
    });
    const reading = readHttp({
      url: `${api.origin}/{day}`,
      records: 'items',
      pagination: { kind: 'page', parameter: 'page' },
      maxPageBytes: 65_536,
    });
    await expectFault(reading, fault, new RegExp(`/2026-11-20 for 2026-11-20, page 2: the .*${words}`));
  });

  it('may have 16 MB, and more only where it is the whole day', async () => {
    const page = Buffer.alloc(16_000_001, ' ');
    page.write('[{"ServiceId": 1}]');
    const api = await useBookingsApi((_, response) => response.end(page));
    const url = `${api.origin}/{day}`;
    expect((await readHttp({ url })).ids).toEqual([1]);
    const reading = readHttp({ url, pagination: { kind: 'page', parameter: 'page' } });
    await expectFault(reading, 'unreadable', /page 1: the API returned more than 16000000 bytes/);
  });

  it.each<[number, SourceFault, number, RegExp]>([
    [204, 'unreadable', 1, /\(http-204\)/],
    [206, 'unreadable', 1, /\(http-206\)/],
    [404, 'missing', 1, /2026-11-20/],
    [410, 'missing', 1, /2026-11-20/],
    [503, 'unreadable', 3, /page 1: .* no usable response in 3 tries \(http-503\): try again later\./],
  ])('http-%i is %s after %i tries', async (status, fault, tries, words) => {
    const api = await useBookingsApi((_, response) => response.writeHead(status).end(guest));
    await expectFault(readHttp({ url: `${api.origin}/{day}` }), fault, words);
    expect(api.requests).toHaveLength(tries);
  });

  it.each([302, 307])('a redirect by %i is not followed', async (status) => {
    const other = await useBookingsApi((_, response) => sendJson(response, []));
    const api = await useBookingsApi((_, response) =>
      response.writeHead(status, { location: `${other.origin}/?name=${guest}` }).end(),
    );
    const reading = readHttp({ url: `${api.origin}/{day}`, headers: { Authorization: 'Bearer abc' } });
    const words = new RegExp(`redirects \\(http-${status}\\), which is not followed`);
    await expectFault(reading, 'unreadable', words);
    expect(other.requests).toHaveLength(0);
  });
});

describe('a temporary failure', () => {
  it.each([408, 425, 429, 500, 599])('http-%i is retried', async (status) => {
    const api = await useBookingsApi(({ number }, response) => {
      if (number < 3) response.writeHead(status).end();
      else sendJson(response, [{ ServiceId: 1 }]);
    });
    expect((await readHttp({ url: `${api.origin}/{day}` })).ids).toEqual([1]);
    expect(api.requests).toHaveLength(3);
  });

  it('has its tries for each page, however many pages a day has', async () => {
    const failed = new Set<string>();
    const api = await useBookingsApi(({ url }, response) => {
      const page = url.searchParams.get('page') ?? '';
      if (!failed.has(page)) {
        failed.add(page);
        response.writeHead(503).end();
      } else sendJson(response, Number(page) <= 6 ? [{ ServiceId: Number(page) }] : []);
    });
    const pagination = { kind: 'page', parameter: 'page' } as const;
    expect((await readHttp({ url: `${api.origin}/{day}`, pagination })).ids).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('of the connection in the middle is retried, and nothing is returned twice', async () => {
    const page = { items: [{ ServiceId: 1, BookingClientName: guest }, { ServiceId: 2 }] };
    const api = await useBookingsApi(({ number }, response) => {
      if (number === 1) response.destroy();
      else if (number === 2) sendHalf(response, page);
      else sendJson(response, page);
    });
    expect((await readHttp({ url: `${api.origin}/{day}`, records: 'items' })).ids).toEqual([1, 2]);
  });

  it('with Retry-After is waited for, up to the cap, and does not count as a try', async () => {
    const api = await useBookingsApi(({ number }, response) => {
      if (number < 4) response.writeHead(429, { 'retry-after': '86400' }).end();
      else sendJson(response, [{ ServiceId: 1 }]);
    });
    const retry = { tries: 1, waits: 3, baseMs: 0, capMs: 0, retryAfterCapMs: 60 };
    const say = vi.fn();
    expect((await readHttp({ url: `${api.origin}/{day}`, retry, say })).ids).toEqual([1]);
    expect(api.requests).toHaveLength(4);
    expect(say, 'a short wait is not worth a message').not.toHaveBeenCalled();
  });

  it('that asks for a long wait is told of, and an abort ends it', async () => {
    const stopping = new AbortController();
    const api = await useBookingsApi((_, response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end();
    });
    const retry = { tries: 3, waits: 3, baseMs: 1, capMs: 1, retryAfterCapMs: 3_600_000 };
    const say = vi.fn(() => stopping.abort(new Error('stopped by hand')));
    await expect(readHttp({ url: `${api.origin}/{day}`, retry, say }, stopping.signal)).rejects.toThrow(
      'stopped by hand',
    );
    expect(say).toHaveBeenCalledWith(expect.stringMatching(/http-503.*retrying in 1 h/));
    expect(api.requests).toHaveLength(1);
  });

  it('is none if it cannot be reached safely', async () => {
    const api = await useBookingsApi((_, response) => sendJson(response, []));
    const url = `${api.origin.replace('http:', 'https:')}/{day}`;
    const error = await expectFault(readHttp({ url }), 'unreadable', /reached safely \(tls-protocol\)/);
    expect(error.peer).toBe('refused');
  });

  it('is no answer that comes within the time that is set', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const asked = createGate();
    const api = await useBookingsApi(asked.open);
    const settings = settingsOf({ kind: 'http', url: `${api.origin}/{day}`, timeoutSeconds: 30 });
    const stopping = new AbortController();
    const source = await openSource(settings.source, openTestParts(settings));
    const reading = readToEnd(source, { signal: stopping.signal });
    await asked.passed;
    vi.advanceTimersByTime(29_999);
    expect(vi.getTimerCount()).toBe(1);
    stopping.abort('stopped by hand');
    await expect(reading).rejects.toBe('stopped by hand');
  });

  it('by timeout is given up on', async () => {
    const api = await useBookingsApi(() => {});
    const reading = readHttp({ url: `${api.origin}/{day}`, timeoutMs: 50 });
    await expectFault(reading, 'unreadable', /in 3 tries \(timeout\)/);
  });
});

describe('a response that was compressed on its way, although plain ones are requested', () => {
  const pageOf = (...ids: number[]) => Buffer.from(JSON.stringify(ids.map((ServiceId) => ({ ServiceId }))));
  /** An API with the given second page and an empty third one. */
  const read = async (encoding: string, body: Buffer) => {
    const api = await useBookingsApi(({ number }, response) => {
      if (number === 2) response.writeHead(200, { 'content-encoding': encoding }).end(body);
      else response.end(number === 1 ? pageOf(1) : '[]');
    });
    const { ids } = await readHttp({
      ...{ url: `${api.origin}/{day}`, pagination: { kind: 'page', parameter: 'page' } },
    });
    return { ids, encoding: api.requests[0]?.headers['accept-encoding'] };
  };

  it('is read, or an error at once, and never the end of the day', async () => {
    expect(await read('gzip', gzipSync(pageOf(2, 3)))).toEqual({ ids: [1, 2, 3], encoding: 'identity' });
    const damaged = read('gzip', gzipSync(pageOf(2, 3)).subarray(0, 20));
    await expectFault(damaged, 'unreadable', /page 2: .*damaged or truncated compressed data/);
    await expectFault(read('zip', pageOf(2, 3)), 'unreadable', /page 2: .*unsupported compression/);
  });
});

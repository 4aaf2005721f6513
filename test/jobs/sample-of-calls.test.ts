import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { sendJson, useBookingsApi } from '../sources/http/bookings-api.js';
import { writeModule } from '../sources/module/module-folder.js';
import { patienceMs } from '../support/patience.js';
import { day, failuresOf, settingsOf, takeSample } from '../support/sampled.js';

const waiting = { timeout: patienceMs, interval: 20 };
const guest = 'Canaria Zwitscherfink';
const token = 'canary-token-77aa';
const reason = new Error('stopped by hand');

describe('the sample of an API', () => {
  const retry = { retry: { baseSeconds: 0.01, capSeconds: 0.05, tries: 3 } };
  const settings = (origin: string, others = {}) =>
    settingsOf(
      {
        kind: 'http',
        url: `${origin}/bookings?day={day}&size=2`,
        headers: { Authorization: `Bearer ${token}` },
        records: 'data.list',
        pagination: { kind: 'page', parameter: 'page' },
        ...others,
      },
      retry,
    );

  it('is its first page, requested as the source does', async () => {
    const api = await useBookingsApi((request, response) => {
      if (request.number === 1) {
        response.writeHead(503).end();
        return;
      }
      const list = [
        { hotel: { id: 7 }, guest, tags: ['a'], 'a.b': 1 },
        { at: null, arrival: '2026-11-20' },
      ];
      sendJson(response, { data: { list }, next: 'more' });
    });
    expect(await takeSample(settings(api.origin))).toEqual({
      columns: ['hotel.id', 'guest', 'tags', 'a.b', 'at', 'arrival'],
      records: [{ 'hotel.id': '7', guest, 'a.b': '1' }, { arrival: '2026-11-20' }],
      delimiter: undefined,
    });
    expect(api.requests.map(({ url }) => url.pathname + url.search)).toEqual(
      Array(2).fill(`/bookings?day=${day.iso}&size=2&page=1`),
    );
    expect(api.requests[1]?.headers.authorization).toBe(`Bearer ${token}`);
    await vi.waitUntil(() => api.open() === 0, waiting);
  });

  it('is the beginning of a large page, and nothing of an empty one', async () => {
    const list = Array.from({ length: 2_000 }, (_, id) => ({ id }));
    const api = await useBookingsApi(({ number }, response) => sendJson(response, number === 1 ? list : []));
    const whole = settings(api.origin, { records: '', pagination: { kind: 'none' } });
    expect((await takeSample(whole)).records).toHaveLength(500);
    expect(await takeSample(whole)).toEqual({ columns: [], records: [], delimiter: undefined });
  });

  it.each([
    ['an answer without the list', 200, { data: guest }, 'unreadable', 'has no "data.list"'],
    ['a refusal', 401, { message: guest }, 'login-refused', 'rejected the credentials (http-401)'],
    ['a wrong address', 404, { message: guest }, 'missing', 'found nothing there (http-404)'],
    ['an outage', 503, { message: guest }, 'unreadable', 'gave no usable response in 3 tries (http-503)'],
  ])('fails with the same message as reading the day: %s', async (_, status, body, fault, words) => {
    const api = await useBookingsApi((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const { ofSample, ofSource, said } = await failuresOf(settings(api.origin));
    expect(ofSample).toMatchObject({ name: 'SourceError', fault, message: expect.stringContaining(words) });
    expect(ofSample).toEqual(ofSource);
    for (const kept of [token, guest]) expect(said).not.toContain(kept);
  });

  it('stops when aborted while the API does not answer', async () => {
    const api = await useBookingsApi(() => {});
    const stopping = new AbortController();
    const outcome = takeSample(settings(api.origin), stopping.signal).catch((error: unknown) => error);
    await vi.waitUntil(() => api.requests.length === 1, waiting);
    stopping.abort(reason);
    expect(await outcome).toBe(reason);
    await vi.waitUntil(() => api.open() === 0, waiting);
  });
});

describe('the sample of a module', () => {
  const open = async (code: string) => settingsOf({ kind: 'module', path: await writeModule(code) });

  it('consists of the first values yielded, and the generator is closed', async () => {
    const settings = await open(`
      import { writeFileSync } from 'node:fs';
      export async function* bookings(day) {
        let yielded = 0;
        try {
          for (;;) yield { id: BigInt(++yielded), guest: { name: '${guest}', at: new Date() }, day: day.iso };
        } finally {
          writeFileSync(import.meta.filename + '.ended', String(yielded));
        }
      }`);
    const { columns, records } = await takeSample(settings);
    expect(columns).toEqual(['id', 'guest.name', 'guest.at', 'day']);
    expect(records).toHaveLength(500);
    expect(records[1]).toEqual({ id: '2', 'guest.name': guest, day: day.iso });
    const { path } = settings.source as { readonly path: string };
    expect(existsSync(`${path}.ended`)).toBe(true);
  });

  it('is the first list, and no second one is requested', async () => {
    const settings = await open(`
      export async function* bookings() {
        yield [];
        yield [{ id: 1 }, 'no record', { id: 2 }];
        throw new Error('asked for the next');
      }`);
    expect(await takeSample(settings)).toEqual({
      columns: ['id'],
      records: [{ id: '1' }, { id: '2' }],
      delimiter: undefined,
    });
  });

  it.each([
    ['that throws', `export async function* bookings() { throw new TypeError('${guest}'); }`, 'TypeError'],
    [
      'whose record throws',
      `export async function* bookings() { yield { get ServiceId() { throw new RangeError('${guest}'); } }; }`,
      'RangeError',
    ],
    ['without the function', 'export const booking = 1;', 'exports no function bookings'],
    ['that returns nothing iterable', 'export function bookings() {}', 'returns nothing to iterate over'],
  ])('fails with the same message as reading the day: one %s', async (_, code, words) => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { ofSample, ofSource, said } = await failuresOf(await open(code));
    vi.mocked(process.stderr.write).mockRestore();
    expect(ofSample).toMatchObject({
      name: 'SourceError',
      fault: 'unreadable',
      message: expect.stringContaining(words),
    });
    expect(ofSample).toEqual(ofSource);
    expect(said).not.toContain(guest);
  });

  it('stops when aborted while the module waits', async () => {
    const settings = await open('export async function* bookings() { await new Promise(() => {}); }');
    const stopping = new AbortController();
    const outcome = takeSample(settings, stopping.signal).catch((error: unknown) => error);
    stopping.abort(reason);
    expect(await outcome).toBe(reason);
  });
});

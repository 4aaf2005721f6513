import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { performRequest } from '../../../src/cases/case-requests.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { getData, getPage, now, startDesk, stopServers } from '../some-desk.js';
import { hotels, loadHotels, openCases, threeCases } from './some-cases.js';

interface Listed {
  readonly total: number;
  readonly cases: readonly { readonly id: number; readonly note: string | null; readonly kept?: object }[];
  readonly choices: object;
}

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  await loadHotels(ledger, hotels);
});
afterEach(stopServers);

const change = (ids: readonly number[], request: Parameters<typeof performRequest>[2]) =>
  performRequest(ledger.cases, ids, request, { who: 'bea', clock: () => now });

async function list(query: string, role: 'viewer' | 'team' = 'team') {
  const { url } = await startDesk({ ledger, role });
  const { status, data } = await getData(url, `/cases?${query}`);
  expect(status).toBe(200);
  return data as Listed;
}

describe('the list of cases', () => {
  it.each([
    ['state=reported', [3]],
    ['provider=expedia', [2]],
    ['country=FR', [3, 1]],
    ['country=PT&provider=hotelbeds', []],
    ['checkInBefore=2026-12-05', [2, 3]],
    ['day=2026-11-19', []],
    ['assignee=Bea', [1]],
    ['assignee=-', [2, 3]],
    ['text=etoile', [3, 1]],
    ['text=e-2', [2]],
    ['text=BR-2', [1]],
    ['text=BR', []],
  ])('with %s has %j', async (query, ids) => {
    await change([3], { kind: 'report' });
    await change([1], { kind: 'assign', assignee: 'Bea' });
    const { cases, total } = await list(query);
    expect([cases.map(({ id }) => id), total]).toEqual([ids, ids.length]);
  });
});

describe('pages of the list', () => {
  it('have 50 cases each, of the same check-in in the order of the clocks at their hotels', async () => {
    const many = Array.from({ length: 70 }, (_, index) => ({
      ...{ hotel: `M-${index}`, booked: index % 2 === 0 ? 7 : 700, copy: 70 },
      stays: [[`M-${index}`, '2026-12-24'] as const],
    }));
    await loadHotels(
      ledger,
      [{ serviceId: 700, coordinates: { latitude: 35.6, longitude: 139.7 } }, ...hotels],
      'later',
    );
    await openCases(ledger, many);
    const { url } = await startDesk({ ledger, role: 'viewer' });
    const read = async (page: number) =>
      (await getData(url, `/cases?page=${page}`)).data as Listed & { readonly pages: number };
    const [first, second, beyond] = [await read(1), await read(2), await read(9)];
    expect([first.pages, first.total, first.cases.length, second.cases.length]).toEqual([2, 73, 50, 23]);
    expect(beyond).toEqual(second);
    const ids = [...first.cases, ...second.cases].map(({ id }) => id);
    expect(ids.slice(0, 3)).toEqual([2, 3, 1]);
    // The day begins in Tokyo first.
    expect(ids.slice(3, 38).every((id) => id % 2 === 1)).toBe(true);
    expect(new Set(ids).size).toBe(73);
    const { text } = await getPage(url, '/cases?page=1&state=open');
    expect(text).toContain('73 cases: page 1 of 2');
    expect(text).toContain('href="/cases?state=open&amp;page=2"');
  });
});

describe('a user who may not see bookings', () => {
  it('finds no reference, note or kept column: not on the page, in its data, in the CSV, or by searching', async () => {
    await change([1], { kind: 'note', note: 'called the guest of BR-1' });
    await change([1], { kind: 'resolve', bookings: ['BR-2'], as: 'confirmed', note: 'BR-2 is fine' });
    for (const path of ['/cases', '/cases/1', '/cases.csv']) {
      const { url } = await startDesk({ ledger, role: 'viewer', parts: { extraColumns: ['Price'] } });
      const { text } = await getPage(url, path);
      expect(text).not.toMatch(/BR-\d|called|fine|Price|choose/i);
      const data = await (await fetch(url + path, { headers: { accept: 'application/json' } })).text();
      expect(data).not.toMatch(/BR-\d|called|fine|Price/);
    }
    expect(await list('text=BR-1', 'viewer')).toMatchObject({ total: 0 });
    expect((await list('', 'viewer')).total).toBe(3);
  });
});

describe('the CSV', () => {
  it('has the columns of `cases --csv` and all cases of the filter, and is recorded', async () => {
    const { url, recorded } = await startDesk({ ledger, role: 'team' });
    const { text, headers } = await getPage(url, '/cases.csv?provider=hotelbeds');
    expect(headers.get('content-disposition')).toBe('attachment; filename="cases-2026-11-21.csv"');
    const rows: Record<string, string>[] = parse(text, { bom: true, columns: true });
    expect(rows.map(({ id }) => id)).toEqual(['3', '1']);
    expect(Object.keys(rows[0] ?? {}).slice(0, 8)).toEqual([
      ...['id', 'firstCheckIn', 'state', 'openBookings', 'bookings'],
      ...['inHouse', 'inHouseUntil', 'leftBookings'],
    ]);
    expect(rows[1]).toMatchObject({ bookedHotelName: 'Grand Plaza', copyHotelCity: 'Paris' });
    expect(recorded).toMatchObject([
      { who: 'ana (desk)', action: 'cases', details: { found: 2, csv: true } },
    ]);
  });

  it('contains no formula that somebody else wrote', async () => {
    await loadHotels(ledger, [{ serviceId: 7, name: '=HYPERLINK("http://evil")' }], 'later');
    const { url } = await startDesk({ ledger, role: 'viewer' });
    expect((await getPage(url, '/cases.csv')).text).toContain(`'=HYPERLINK`);
  });
});

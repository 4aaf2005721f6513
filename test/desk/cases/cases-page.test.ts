import { parse } from 'csv-parse/sync';
import { beforeEach, expect, it } from 'vitest';
import { performRequest } from '../../../src/cases/case-requests.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { getData, getPage, now, startDesk } from '../some-desk.js';
import { hotels, loadHotels, openCases, threeCases } from './some-cases.js';

interface Listed {
  readonly total: number;
  readonly cases: readonly { readonly id: number }[];
}

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  await loadHotels(ledger, hotels);
});

const change = (ids: readonly number[], request: Parameters<typeof performRequest>[2]) =>
  performRequest(ledger.cases, ids, request, { who: 'bea', clock: () => now });

it('The list has the cases that its filters choose', async () => {
  await change([3], { kind: 'report' });
  await change([1], { kind: 'assign', assignee: 'Bea' });
  const { url } = await startDesk({ ledger, role: 'team' });
  const find = async (query: string) => {
    const { cases, total } = (await getData(url, `/cases?${query}`)).data as Listed;
    return [query, cases.map(({ id }) => id), total];
  };
  for (const [query, ids] of [
    ['state=reported', [3]],
    ['state=left', []],
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
  ] as const)
    expect(await find(query)).toEqual([query, ids, ids.length]);
});

it('The list is recorded if it shows what is kept of a booking, and only then', async () => {
  const findExtra = async () => new Map([['BR-3', { Price: '90.50' }]]);
  const keeping = withReplaced(ledger, { bookings: { findExtra } });
  const { url, recorded } = await startDesk({
    ledger: keeping,
    role: 'team',
    parts: { extraColumns: ['Price'] },
  });
  expect((await getPage(url, '/cases?provider=hotelbeds')).text).not.toContain('90.50');
  expect(recorded).toEqual([]);
  expect((await getPage(url, '/cases')).text).toContain('90.50');
  expect(recorded).toMatchObject([{ action: 'cases', details: { found: 3 } }]);
});

it('Pages of the list have 50 cases each', async () => {
  const many = Array.from({ length: 70 }, (_, index) => ({
    ...{ hotel: `M-${index}`, booked: 7, copy: 70, stays: [[`M-${index}`, '2026-12-24'] as const] },
  }));
  await openCases(ledger, many);
  const { url } = await startDesk({ ledger, role: 'viewer' });
  const read = async (page: number) => (await getData(url, `/cases?page=${page}`)).data as Listed;
  const [first, second, beyond] = [await read(1), await read(2), await read(9)];
  expect([first, second].map(({ total, cases }) => [total, cases.length])).toEqual([
    [73, 50],
    [73, 23],
  ]);
  expect(beyond).toEqual(second);
  const ids = [...first.cases, ...second.cases].map(({ id }) => id);
  expect([ids.slice(0, 3), new Set(ids).size]).toEqual([[2, 3, 1], 73]);
  const { text } = await getPage(url, '/cases?page=1&state=open');
  expect(text).toContain('73 cases: page 1 of 2');
  expect(text).toContain('href="/cases?state=open&amp;page=2"');
});

it('A user who may not see bookings finds no reference, note or kept column: not on a page, in data, in the CSV, or by searching', async () => {
  await change([1], { kind: 'note', note: 'called the guest of BR-1' });
  await change([1], { kind: 'resolve', bookings: ['BR-2'], as: 'confirmed', note: 'BR-2 is fine' });
  const { url } = await startDesk({ ledger, role: 'viewer', parts: { extraColumns: ['Price'] } });
  for (const path of ['/cases', '/cases/1', '/cases.csv'])
    for (const accept of ['text/html', 'application/json']) {
      const text = await (await fetch(url + path, { headers: { accept } })).text();
      expect(text).not.toMatch(/BR-\d|called|fine|Price|choose/i);
    }
  for (const [text, total] of [
    ['BR-1', 0],
    ['H-1', 1],
  ] as const)
    expect((await getData(url, `/cases?text=${text}`)).data).toMatchObject({ total });
});

it('The CSV has the columns of `cases --csv`, all cases of the filter and no formula, and is recorded', async () => {
  await loadHotels(ledger, [{ serviceId: 7, name: '=HYPERLINK("http://evil")' }], 'later');
  const { url, recorded } = await startDesk({ ledger, role: 'team' });
  const { text, headers } = await getPage(url, '/cases.csv?provider=hotelbeds');
  expect(headers.get('content-disposition')).toBe('attachment; filename="cases-2026-11-21.csv"');
  const rows: Record<string, string>[] = parse(text, { bom: true, columns: true });
  expect(rows.map(({ id }) => id)).toEqual(['3', '1']);
  expect(rows[1]).toMatchObject({
    firstCheckIn: '2026-12-05',
    bookedHotelName: `'=HYPERLINK("http://evil")`,
  });
  expect(recorded).toMatchObject([{ who: 'ana (desk)', action: 'cases', details: { found: 2, csv: true } }]);
});

import { beforeEach, expect, it } from 'vitest';
import type { BatchStream } from '../../../src/booking/sending.js';
import type { ProviderJson } from '../../../src/cases/scores/scorecard.js';
import type { DeskParts } from '../../../src/desk/page.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { deliverBookings, someBooking } from '../some-bookings.js';
import { getData, getPage, now, readRows, startDesk } from '../some-desk.js';

interface ProvidersData {
  readonly from: string;
  readonly to: string;
  readonly total: number;
  readonly providers: readonly ProviderJson[];
}

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
});
/** An e-mail that names the first booking of a run. */
const nameFirst = (runId: string, stream: BatchStream = 'posted') =>
  ledger.mails.record({
    ...{
      sha256: `${runId} ${stream}`,
      receivedAt: now,
      readAt: now,
      from: 'a file',
      outcome: 'named' as const,
    },
    bookings: [{ runId, stream, batch: 0, row: 0 }],
    pairs: [],
  });

it('Providers are compared over the last 90 days, and unknown figures are shown as unknown', async () => {
  await deliverBookings(ledger, 'r1', [someBooking(), someBooking({ bookingReferenceId: 'BR-2' })]);
  await deliverBookings(ledger, 'r2', [someBooking({ providerName: 'expedia' })], { day: '2026-08-24' });
  await deliverBookings(ledger, 'r3', [someBooking({ providerName: 'old' })], { day: '2026-08-23' });
  await nameFirst('r1');
  const { url } = await startDesk({ ledger });
  const { data } = (await getData(url, '/providers')) as { data: ProvidersData };
  expect([data.from, data.to, data.total]).toEqual(['2026-08-24', '2026-11-21', 2]);
  expect(data.providers).toMatchObject([
    { providerName: 'hotelbeds', sent: 2, known: 0, affected: null, affectedShare: null, namedByEmail: 1 },
    { providerName: 'expedia', sent: 1, affected: null },
  ]);
  const { text } = await getPage(url, '/providers');
  expect(text).toContain('unknown: verdicts by e-mail only, 2 sent');
  expect(text).toContain('href="/providers/hotelbeds?from=2026-08-24&amp;to=2026-11-21"');
  expect(text).not.toMatch(/\b0(\.00)? %/);
});

it('A provider is shown by weeks, the newest first, each with its seven days', async () => {
  const days = ['2026-11-21', '2026-11-15', '2026-11-14', '2026-11-08'];
  for (const day of days)
    await deliverBookings(ledger, day, [someBooking({ bookingReferenceId: day })], { day });
  const { url } = await startDesk({ ledger });
  const { text } = await getPage(url, '/providers/hotelbeds');
  expect(readRows(text).map(([week, sent]) => [week, sent])).toEqual([
    ['15 Nov 2026', '2'],
    ['8 Nov 2026', '2'],
  ]);
});

it('A long range is refused, and one that ends before it begins', async () => {
  const { url } = await startDesk({ ledger });
  const statusOf = async (query: string) => (await getPage(url, `/providers${query}`)).status;
  expect(await statusOf('?from=2026-11-22&to=2026-11-21')).toBe(400);
  expect(await statusOf('?from=2020-01-01&to=2026-11-21')).toBe(400);
  // Its 90 days begin with the calendar.
  expect(await statusOf('?to=0001-01-05')).toBe(200);
  expect(await statusOf('?from=2024-02-26&to=2026-11-21')).toBe(200);
  expect(await statusOf('?from=&to=')).toBe(200);
});

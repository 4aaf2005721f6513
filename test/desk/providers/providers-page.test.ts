import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BatchStream } from '../../../src/booking/sending.js';
import type { ProviderJson } from '../../../src/cases/scores/scorecard.js';
import type { DeskParts } from '../../../src/desk/page.js';
import { day } from '../../contracts/ledger/days.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { collectBookings, deliverBookings, someBooking } from '../some-bookings.js';
import { getData, getPage, now, readRows, startDesk, stopServers } from '../some-desk.js';
import { addFileRun } from '../some-file-run.js';

interface ProvidersData {
  readonly from: string;
  readonly to: string;
  readonly total: number;
  readonly providers: readonly ProviderJson[];
}

const evil = `"'><script>alert(1)</script>/../%2f${'x'.repeat(150)}`;

let ledger: DeskParts['ledger'];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => now);
});
afterEach(stopServers);

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

it('The share has an interval where a result has verdicts, and changes as verdicts arrive', async () => {
  await addFileRun(ledger, 'r1', day);
  const { url } = await startDesk({ ledger });
  const read = async () => ((await getData(url, '/providers')).data as ProvidersData).providers[0];
  expect(await read()).toMatchObject({ sent: 6, known: 5, affected: 1, affectedShare: 0.2 });
  await nameFirst('r1', 'file');
  expect(await read()).toMatchObject({ known: 5, affected: 2, affectedShare: 0.4 });
  const { text } = await getPage(url, '/providers');
  expect(readRows(text)[0]?.[2]).toBe('40.00 % (11.76 to 76.93), 2 of 5');
});

it('A provider is shown by week, with its worst hotels', async () => {
  for (const [id, of] of [
    ['r1', '2026-11-05'],
    ['r2', day],
  ] as const) {
    await deliverBookings(ledger, id, [someBooking()], { day: of });
    await nameFirst(id);
  }
  const { url } = await startDesk({ ledger });
  const path = '/providers/hotelbeds?from=2026-10-20&to=2026-11-21';
  const { text } = await getPage(url, path);
  expect(readRows(text.slice(text.indexOf('<h2>By week</h2>')))).toEqual([
    ['15 Nov 2026', '1', 'unknown: verdicts by e-mail only, 1 sent', '1'],
    ['8 Nov 2026', '0', 'nothing sent', '0'],
    ['1 Nov 2026', '1', 'unknown: verdicts by e-mail only, 1 sent', '1'],
  ]);
  expect(readRows(text.slice(text.indexOf('<h2>Hotels that are wrong')))).toEqual([['007', '2', '0']]);
  expect(text).toContain('href="/mappings?provider=hotelbeds&amp;hotel=007"');
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

it('Many providers come page by page, each page below 100 kB', async () => {
  for (let run = 0; run < 15; run += 1)
    await deliverBookings(
      ledger,
      `r${run}`,
      Array.from({ length: 8 }, (_, place) => someBooking({ providerName: `provider ${run} ${place}` })),
      { day: `2026-11-${String(run + 1).padStart(2, '0')}` },
    );
  const { url } = await startDesk({ ledger });
  const path = '/providers?from=2024-02-26&to=2026-11-21';
  const { text } = await getPage(url, path);
  expect(text).toContain('120 providers: page 1 of 2');
  expect(Buffer.byteLength(text)).toBeLessThan(100_000);
  const last = (await getData(url, `${path}&page=2`)).data as ProvidersData;
  expect(last.providers).toHaveLength(20);
});

it('A provider may have any name, and the page of one without sent bookings says so', async () => {
  await deliverBookings(ledger, 'r1', [someBooking({ providerName: evil, providerHotelId: evil })]);
  await collectBookings(ledger, 'r2', [someBooking({ providerName: 'not sent' })], { day: '2026-11-21' });
  const { url } = await startDesk({ ledger });
  const { text } = await getPage(url, '/providers');
  expect(text).not.toContain('<script>alert');
  const [, address = ''] = /href="(\/providers\/[^"]+)"/.exec(text) ?? [];
  const provider = await getPage(url, address.replaceAll('&amp;', '&').replaceAll('&#39;', "'"));
  expect([provider.status, provider.text]).toEqual([200, expect.stringContaining('<dt>Sent</dt><dd>1</dd>')]);
  expect(provider.text).not.toContain('<script>alert');
  expect((await getPage(url, '/providers/not%20sent')).text).toContain('No booking of not sent was sent');
});

import { expect, it } from 'vitest';
import { performRequest } from '../../src/cases/case-requests.js';
import {
  at,
  chunkOf,
  collectedRun,
  day,
  failed,
  newRun,
  perform,
  rightOf,
} from '../contracts/ledger/days.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { loadHotels, openCases } from './cases/some-cases.js';
import { deliverBookings, someBooking } from './some-bookings.js';
import { getPage, startDesk } from './some-desk.js';

const evil = `"'><script>alert(1)</script>\u202e\u001b[2J/../%2f`;
const asked = encodeURIComponent(evil);

/** Whatever somebody else may name, write or answer. */
async function openHostileLedger() {
  const ledger = await openTemporaryLedger(() => at);
  const booking = someBooking({
    ...{ bookingReferenceId: evil, bookingClientName: evil, providerName: evil, providerHotelId: evil },
  });
  await deliverBookings(ledger, 'sent', [booking], { day, reason: evil });
  const run = await collectedRun(ledger, 'ended', { reason: evil });
  await perform(ledger, run, 'batch 0', { ...failed, evidence: { code: evil, answer: evil } });
  const failure = { class: 'data', code: evil, message: evil } as const;
  await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at });
  const next = await ledger.runs.create(newRun('rejects', { day: '2026-11-21' }));
  const collect = await ledger.bookings.beginCollect(rightOf(next), { source: evil, at, batchSize: 4 });
  const reject = {
    place: 1,
    reason: 'service-id-invalid',
    field: evil,
    value: evil,
    reference: evil,
  } as const;
  await collect.store(chunkOf({ rejects: [reject] }));
  await collect.finish({ steps: [], at });
  const stays = [[evil, '2026-12-24']] as const;
  await openCases(ledger, [{ provider: evil, hotel: evil, booked: 5, copy: 6, day, stays }]);
  const hotel = { name: evil, address: evil, city: evil, country: evil, phones: evil };
  const website = `javascript:${evil}`;
  await loadHotels(
    ledger,
    [5, 6].map((serviceId) => ({ serviceId, ...hotel, email: evil, website })),
  );
  const by = { who: evil, clock: () => at };
  await performRequest(ledger.cases, [1], { kind: 'assign', assignee: evil, note: evil }, by);
  await ledger.notices.raise([
    { event: 'run-failed', subject: evil, day, facts: { code: evil, message: evil }, raisedAt: at },
    { event: 'sync-failing', subject: evil, facts: { message: evil }, raisedAt: at },
  ]);
  await ledger.audit.record({ at, who: evil, action: 'show', subject: evil, details: { [evil]: evil } });
  return ledger;
}

it('No page has a script, a control character or a link of its data', async () => {
  const { url } = await startDesk({
    ...{ ledger: await openHostileLedger(), role: 'admin', clock: () => at },
    parts: { extraColumns: ['<script>alert(1)</script>'] },
  });
  const ofRuns = ['sent', 'ended', 'rejects'].flatMap((id) =>
    ['', '/rejected', '/refused', '/posted', '/unanswered', '/affected', '/suspects'].map(
      (list) => `/runs/${id}${list}`,
    ),
  );
  const paths = [
    ...['/', `/days/${day}`, `/days/${day}/run`, `/days/${day}/replay`, ...ofRuns],
    ...[`/replay?from=${day}&to=${day}`, '/cases', '/cases/1', '/cases/change?do=assign&id=1'],
    ...['provider', 'country', 'assignee', 'text'].map((name) => `/cases?${name}=${asked}`),
    ...[`/bookings?reference=${asked}&answers=yes`, `/mappings?provider=${asked}&hotel=${asked}`],
    ...['/mappings', '/mappings/sync', '/providers', `/providers/${asked}`, '/notifications', '/audit'],
  ];
  const shown = new Set<string>();
  const found: string[] = [];
  for (const path of paths) {
    const { status, text } = await getPage(url, path);
    expect([path, status]).toEqual([path, 200]);
    for (const what of ['<script>alert', 'href="javascript']) expect(text, path).not.toContain(what);
    // The value of a field has to be what it stands for.
    const words = text.replace(/ value="[^"]*"/g, '');
    for (const at of ['\u202e', '\u001b'].map((active) => words.indexOf(active)))
      if (at >= 0) found.push(`${path}: ${JSON.stringify(words.slice(at - 90, at + 9))}`);
    if (text.includes('&lt;script&gt;')) shown.add(path.replace(/\?.*/, ''));
  }
  expect(found).toEqual([]);
  for (const path of [
    '/',
    '/cases',
    '/cases/1',
    '/bookings',
    '/mappings',
    '/providers',
    '/notifications',
    '/audit',
  ])
    expect(shown).toContain(path);
  for (const path of [`/days/${day}`, '/runs/ended', '/runs/rejects/rejected']) expect(shown).toContain(path);
});

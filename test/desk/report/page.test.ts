import { expect, it } from 'vitest';
import { type DayReport, gatherDayReport, listSections, renderPage } from '../../../src/desk/day-report.js';
import { renderNotes } from '../../../src/rules/finding.js';
import { parse, service, source } from '../../config/writing.js';
import { at, day, done, newRun, perform, rightOf } from '../../contracts/ledger/days.js';
import { collectedFileRun, performUpTo } from '../../contracts/ledger/file-days.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';

/** What an attacker would call a provider, a hotel or a booking. */
const hostile = '<script>alert(1)</script>|`x`[a](javascript:1)\u001b[2J\n# no';
const options = { timezone: 'Europe/Madrid', command: (words: string) => `hotel-review ${words}` };

const hotels = {
  ...{
    providerName: hostile,
    providerHotelId: hostile,
    serviceId: 5,
    copyServiceId: 7,
    copy: 'mapped' as const,
  },
  ...{ bookedHotel: hostile, copyHotel: hostile, distanceKm: 12.34 },
};
const report: DayReport = {
  ...{ day: '2026-11-20', writtenAt: '2026-11-21T02:30:00.000Z', judgement: 'attention', headline: hostile },
  runs: [],
  verdicts: { knowledge: 'judged', affected: 1, unanswered: 4, posted: 2 },
  canary: null,
  rejects: [{ reason: 'service-id-missing', count: 1_300, firstPlace: 7 }],
  warnings: [],
  volume: {
    ...{ accepted: 100, usual: 400, isOfWeekday: true },
    compared: [{ day: '2026-11-13', accepted: 400 }],
    providers: [
      { provider: hostile, accepted: 60, usual: 200 },
      { provider: 'Tiny', accepted: 0, usual: null },
    ],
  },
  steps: [{ kind: 'batch', steps: 2, attempts: 3, startedAt: 0, endedAt: 90_000 }],
  affected: { count: 101, first: [{ ...hotels, reference: hostile, checkIn: null, checkOut: null }] },
  cases: {
    count: 1,
    first: [
      {
        ...{ ...hotels, id: 3, state: 'open', openBookings: 2, leftBookings: 0 },
        ...{ firstCheckIn: '2026-11-19', inHouse: 1, inHouseUntil: '2026-11-24' },
      },
    ],
  },
  left: {
    count: 1,
    first: [
      {
        ...{ ...hotels, id: 2, state: 'reported', openBookings: 0, leftBookings: 3 },
        ...{ firstCheckIn: null, inHouse: 0, inHouseUntil: null },
      },
    ],
  },
};
const sections = listSections(report, [], options.timezone);

it('A report says what is unknown, what is usual, and when guests check in', () => {
  const notes = renderNotes(
    sections.flatMap((section) => section.notes),
    options.command,
  );
  expect(notes.map((line) => line.trim())).toEqual(
    expect.arrayContaining([
      '100 bookings, usually 400 on this weekday',
      'All of them: hotel-review affected 2026-11-20 --csv FILE',
      'To list them: hotel-review cases --left',
    ]),
  );
  const rowOf = (begin: string) => sections.find(({ title }) => title.startsWith(begin))?.rows?.[0];
  expect(rowOf('Affected bookings')).toMatchObject({ 'check-in': 'unknown', distance: '12.3 km' });
  const inHouse = 'in house since 2026-11-19, until 2026-11-24';
  expect(rowOf('Open cases')).toMatchObject({ 'check-in': inHouse });
  expect(rowOf('Never resolved')).toMatchObject({ case: '2', mapping: 'reported', left: 3 });
  expect(rowOf('Steps')).toEqual({ step: 'batch', count: 2, attempts: 3, time: '1 min 30 s' });
});

it('A report as a page loads nothing, runs nothing, and escapes all untrusted text', () => {
  const page = renderPage(report, sections, options);
  expect(page).not.toMatch(/<script|<link|<img|https?:|@import|url\(| style=/i);
  expect(page).not.toContain('\u001b');
  expect(page).toContain('&lt;script&gt;');
  expect(page.match(/<table/g)).toHaveLength(7);
});

it('A report is about all runs of its day, also about those that it does not list', async () => {
  const ledger = await openTemporaryLedger(() => at);
  const night = await collectedFileRun(ledger, 'night');
  await performUpTo(ledger, night, 'trigger');
  const verdicts = { affected: 0, unanswered: 0, unclear: 0, malformed: 0, listsUnanswered: true as const };
  await perform(ledger, night, 'await-result', { ...done, file: { verdicts } });
  await perform(ledger, night, 'archive', done);
  await ledger.runs.settle(rightOf(night), { state: 'succeeded', at });
  for (let number = 1; number <= 21; number += 1) {
    const run = await ledger.runs.create(newRun(`today-${number}`, { trigger: 'today' }));
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
  }
  const config = parse({ service, source });
  const { report } = await gatherDayReport(config, ledger, day, at);
  expect(report.runs).toHaveLength(20);
  expect(report.verdicts.knowledge).toBe('judged');
});

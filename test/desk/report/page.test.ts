import { describe, expect, it } from 'vitest';
import { type DayReport, listSections } from '../../../src/desk/day-report.js';
import { renderPage } from '../../../src/desk/day-report-page.js';
import { type Finding, renderNotes } from '../../../src/rules/finding.js';

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
const findings: readonly Finding[] = [
  {
    ...{ code: 'unanswered', level: 'attention', words: '4 bookings without a verdict' },
    advice: [['to list them', 'affected 2026-11-20 --unanswered']],
  },
];
const sections = listSections(report, findings, options.timezone);
const page = renderPage(report, sections, options);

describe('a report', () => {
  it('says what is unknown, what is usual, and how to list the rest', () => {
    const said = renderNotes(
      sections.flatMap(({ notes }) => notes),
      options.command,
    ).map((line) => line.trim());
    expect(said).toContain('To list them: hotel-review affected 2026-11-20 --unanswered');
    expect(said).toContain('All of them: hotel-review affected 2026-11-20 --csv FILE');
    expect(said).toContain('100 bookings, usually 400 on this weekday');
    const [affected = {}] = sections.find(({ title }) => title === 'Affected bookings')?.rows ?? [];
    expect(affected).toMatchObject({ 'check-in': 'unknown', distance: '12.3 km' });
    const [open] = sections.find(({ title }) => title === 'Open cases')?.rows ?? [];
    expect(open).toMatchObject({ 'check-in': 'in house since 2026-11-19, until 2026-11-24' });
    expect(said).toContain('To list them: hotel-review cases --left');
    const [left = {}] = sections.find(({ title }) => title.startsWith('Never resolved'))?.rows ?? [];
    expect(left).toMatchObject({ case: '2', mapping: 'reported', left: 3 });
    expect(Object.keys(left).slice(0, 3)).toEqual(['case', 'mapping', 'left']);
    expect(Object.keys(affected).at(-1)).toBe('distance');
    expect(sections.find(({ title }) => title.startsWith('Steps'))?.rows).toEqual([
      { step: 'batch', count: 2, attempts: 3, time: '1 min 30 s' },
    ]);
  });

  it('as a page loads nothing, runs nothing, and escapes all untrusted text', () => {
    expect(page).not.toMatch(/<script|<link|<img|https?:|@import|url\(/i);
    expect(page).not.toContain('\u001b');
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toMatch(/ style=/);
    expect(page.match(/<table/g)).toHaveLength(7);
    expect(page).toContain('<td data-about="records" class="number">1,300</td>');
  });
});

import { describe, expect, it } from 'vitest';
import type { DayReport } from '../../../src/desk/report/day-report.js';
import { renderPage } from '../../../src/desk/report/page.js';
import { listSections } from '../../../src/desk/report/sections.js';

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
  rejects: [{ reason: 'service-id-missing', count: 3, firstPlace: 7 }],
  warnings: [],
  volume: {
    ...{ accepted: 100, usual: 400, isOfWeekday: true },
    compared: [{ day: '2026-11-13', accepted: 400 }],
    providers: [{ provider: hostile, accepted: 60, usual: 200 }],
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
const sections = listSections(report, options);

describe('a report', () => {
  it('says what is unknown, what is usual, and how to list the rest', () => {
    const said = sections.flatMap(({ notes }) => notes);
    expect(said).toContain('4 bookings without a verdict: hotel-review affected 2026-11-20 --unanswered');
    expect(said).toContain('the first 1 are below; all of them: hotel-review affected 2026-11-20 --csv FILE');
    expect(said).toContain('100 bookings, usually 400 on this weekday');
    const [affected] = sections.find(({ title }) => title === 'Verdicts')?.table?.rows ?? [];
    expect(affected?.[0]).toBe('unknown');
    const [open] = sections.find(({ title }) => title === 'Open cases')?.table?.rows ?? [];
    expect(open?.[0]).toBe('in house since 2026-11-19, until 2026-11-24');
    expect(said).toContain('to list them: hotel-review cases --left');
    const [left] = sections.find(({ title }) => title.startsWith('Never resolved'))?.table?.rows ?? [];
    expect(left?.slice(0, 3)).toEqual(['2', 'reported', '3']);
    expect(affected?.at(-1)).toBe('12.3 km');
    expect(sections.find(({ title }) => title.startsWith('Steps'))?.bars).toEqual([
      { label: '2 × batch', value: 90_000, text: '1 min 30 s, 3 attempts' },
    ]);
  });

  it('as a page loads nothing, runs nothing, and escapes all untrusted text', () => {
    const page = renderPage(report, sections, options.timezone);
    expect(page).not.toMatch(/<script|<link|<img|https?:|@import|url\(/i);
    expect(page).not.toContain('\u001b');
    expect(page).toContain('&lt;script&gt;');
    expect(page.match(/<ul class="bars"/g)).toHaveLength(4);
    expect(page).not.toMatch(/ style=/);
    expect(page).toContain('<line class="usual"');
  });
});

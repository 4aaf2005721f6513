import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderDayColumns, renderSentColumns } from '../../src/charts/day-columns.js';
import { anyDays, broken, listDays, readTable } from './sample-days.js';

type DayCounts = Parameters<typeof renderDayColumns>[0]['days'][number];

function countDay(day: string, counts: Partial<DayCounts> = {}): DayCounts {
  return { day, accepted: 100, rejected: 0, unanswered: 0, affected: 0, ...counts };
}

function renderRange(days: readonly string[], counts: readonly DayCounts[], missing: readonly string[] = []) {
  const [from = '', to = ''] = [days.at(0), days.at(-1)];
  return renderDayColumns({ title: 'Bookings per day', from, to, days: counts, missing }).markup;
}

describe('the columns of days', () => {
  it('say what was accepted and what is missing, in words and in a table', () => {
    const days = listDays('2026-11-16', 4);
    const counts = [
      countDay('2026-11-16', { accepted: 12_345, rejected: 3, unanswered: 2, affected: 1 }),
      countDay('2026-11-17'),
    ];
    const chart = renderRange(days, counts, ['2026-11-18']);
    expect(chart).toContain('12,445 bookings accepted on 2 days; 1 day missing (×)');
    expect(chart).toContain('aria-label="Bookings per day"');
    expect(readTable(chart)).toEqual([
      ['Day', 'Accepted', 'Missing days', 'Rejected', 'Unanswered', 'Affected'],
      ['16 Nov 2026', '12,345', '0', '3', '2', '1'],
      ['17 Nov 2026', '100', '0', '0', '0', '0'],
      ['18 Nov 2026', '0', '1', '0', '0', '0'],
      ['19 Nov 2026', '0', '0', '0', '0', '0'],
    ]);
  });

  it('mark consecutive missing days with one cross, and no others', () => {
    const days = listDays('2026-11-01', 30);
    const missing = ['2026-11-20', '2026-11-05', '2026-11-06'];
    const chart = renderRange(days, [countDay('2026-11-01')], missing);
    expect(chart.match(/>×</g)).toHaveLength(2);
  });

  it('keep one rejected booking visible beside a hundred thousand', () => {
    const chart = renderRange(listDays('2026-11-01', 2), [
      countDay('2026-11-01', { accepted: 1_000_000, rejected: 1 }),
      countDay('2026-11-02', { rejected: 90_000 }),
    ]);
    const [mark] = /class="rejected" d="([^"]*)"/.exec(chart)?.slice(1) ?? [];
    expect(mark).toMatch(/^M[\d.]+ 18v-[45]/);
    expect(chart).toContain('90,001 on 2 days');
  });

  it('show what is unknown as unknown, and never as none', () => {
    const days = listDays('2026-11-01', 3);
    const unknown = { unanswered: null, affected: null };
    const all = renderRange(
      days,
      days.map((day) => countDay(day, unknown)),
    );
    expect(all.match(/<\/strong> unknown</g)).toHaveLength(2);
    expect(all).toMatch(/class="unknown" d="M0 16h3"/);
    const [first = '', ...others] = days;
    const some = renderRange(days, [countDay(first, unknown), ...others.map((day) => countDay(day))]);
    expect(some.match(/none; 1 day unknown/g)).toHaveLength(2);
    expect(some).toContain('<td>unknown</td>');
  });

  it('are summed by month in numbers, as a lower bound if a part is unknown', () => {
    const days = listDays('2026-10-01', 60);
    const counts = days.map((day) => countDay(day, { affected: day === '2026-10-05' ? null : 1 }));
    const chart = renderRange(days, counts);
    expect(readTable(chart)[1]).toEqual(['Oct 2026', '3,100', '0', '0', '0', 'at least 30']);
  });

  it('are empty without a day, or with a reversed range', () => {
    expect(renderRange(['2026-11-01'], [])).toContain('No day to show yet.');
    expect(renderRange(['2026-11-02', '2026-11-01'], [countDay('2026-11-01')])).not.toContain('<svg');
  });

  it('of a year take at most 13 kB', () => {
    const days = listDays('2025-11-20', 366);
    const counts = days.map((day, index) =>
      countDay(day, { accepted: 10_000 + index * 137, rejected: index % 3, affected: index % 2 }),
    );
    expect(renderRange(days, counts).length).toBeLessThan(13_000);
  });

  it('contain no broken number, whatever the counts', () => {
    fc.assert(
      fc.property(anyDays, ({ from, to, days }) => {
        const [counts, gaps] = [days.slice(0, 30), days.slice(30).map(({ day }) => day)];
        const chart = renderDayColumns({ title: 'T', from, to, days: counts, missing: gaps }).markup;
        expect(chart).not.toMatch(broken);
      }),
    );
  });

  it('escape the title', () => {
    const range = { title: '<script>"', from: '2026-11-01', to: '2026-11-01' };
    const chart = renderDayColumns({ ...range, missing: [], days: [countDay('2026-11-01')] }).markup;
    expect(chart).not.toContain('<script');
  });
});

describe('the columns of a provider', () => {
  it('show what was sent and what of it is affected, and leave out days without bookings', () => {
    const chart = renderSentColumns({
      ...{ title: 'Sent', from: '2026-11-01', to: '2026-11-03' },
      days: [
        { day: '2026-11-01', sent: 1_200, affected: 3 },
        { day: '2026-11-02', sent: 0, affected: 0 },
        { day: '2026-11-03', sent: 5, affected: null },
      ],
    }).markup;
    expect(chart).toContain('1,205 bookings sent on 2 days');
    expect(chart).toContain('3 on 1 day, at most 3; 1 day unknown');
    expect(readTable(chart).slice(1)).toEqual([
      ['1 Nov 2026', '1,200', '3'],
      ['2 Nov 2026', '0', '0'],
      ['3 Nov 2026', '5', 'unknown'],
    ]);
  });

  it('say that nothing was sent', () => {
    const range = { title: 'Sent', from: '2026-11-01', to: '2026-11-03' };
    const days = [{ day: '2026-11-01', sent: 0, affected: null }];
    expect(renderSentColumns({ ...range, days }).markup).toContain('Nothing was sent.');
  });
});

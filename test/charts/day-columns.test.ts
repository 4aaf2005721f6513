import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DayCounts, renderDayColumns } from '../../src/charts/day-columns.js';
import { anyDays, broken, listDays } from './sample-days.js';

const linkTo = (day: string) => `/days/${day}`;

function countDay(day: string, counts: Partial<DayCounts> = {}): DayCounts {
  return { day, accepted: 100, rejected: 0, unanswered: 0, affected: 0, ...counts };
}

function renderRange(days: readonly string[], counts: readonly DayCounts[], missing: readonly string[] = []) {
  const [from = '', to = ''] = [days.at(0), days.at(-1)];
  return renderDayColumns({ title: 'Bookings per day', from, to, days: counts, missing, linkTo }).markup;
}

describe('the columns of days', () => {
  it('link each day and each missing day, and say its numbers', () => {
    const days = listDays('2026-11-16', 4);
    const counts = [
      countDay('2026-11-16', { accepted: 12_345, rejected: 3, unanswered: 2, affected: 1 }),
      countDay('2026-11-17'),
    ];
    const chart = renderRange(days, counts, ['2026-11-18']);
    expect(chart.match(/<a href=/g)).toHaveLength(3);
    expect(chart).toContain('href="/days/2026-11-18"');
    expect(chart).toContain('<title>16 Nov: 12,345, 3 rejected, 2 unanswered, 1 affected</title>');
    expect(chart).toContain('<title>17 Nov: 100</title>');
    expect(chart).toContain('<title>18 Nov: no run</title>');
    expect(chart).toContain('12,445 bookings accepted on 2 days; 1 day missing');
  });

  it('have links outside of the image, and without a tab stop for each day', () => {
    const chart = renderRange(['2026-11-16'], [countDay('2026-11-16')]);
    const image = /<svg role="img".*?<svg class="chart-links"/s.exec(chart)?.[0];
    expect(image).toContain('aria-label="Bookings per day"');
    expect(image).not.toContain('<a ');
    expect(chart).toMatch(/<svg class="chart-links" aria-hidden="true"/);
    expect(chart).toContain('tabindex="-1"');
  });

  it('mark consecutive missing days with one cross, and no others', () => {
    const days = listDays('2026-11-01', 30);
    const missing = ['2026-11-20', '2026-11-05', '2026-11-06'];
    const chart = renderRange(days, [countDay('2026-11-01')], missing);
    expect(chart.match(/class="cross"/g)).toHaveLength(2);
    expect(chart.match(/<a href=/g)).toHaveLength(4);
  });

  it('keep one rejected booking visible beside a hundred thousand', () => {
    const chart = renderRange(listDays('2026-11-01', 2), [
      countDay('2026-11-01', { accepted: 1_000_000, rejected: 1 }),
      countDay('2026-11-02', { rejected: 90_000 }),
    ]);
    const [mark] = /class="columns rejected" d="([^"]*)"/.exec(chart)?.slice(1) ?? [];
    expect(mark).toMatch(/^M[\d.]+ 18V1[34]/);
    expect(chart).toContain('90,001 on 2 days');
  });

  it('show what is unknown as unknown, and never as none', () => {
    const days = listDays('2026-11-01', 3);
    const unknown = { unanswered: null, affected: null };
    const all = renderRange(
      days,
      days.map((day) => countDay(day, unknown)),
    );
    expect(all.match(/<\/tspan> unknown</g)).toHaveLength(2);
    expect(all).toContain('<title>1 Nov: 100, verdicts unknown</title>');
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
    expect(chart).toContain('<th scope="row">2026-10</th><td>3,100</td>');
    expect(chart).toContain('<td>at least 30</td>');
  });

  it('are empty without a day, or with a reversed range', () => {
    expect(renderRange(['2026-11-01'], [])).toContain('No day to show yet.');
    expect(renderRange(['2026-11-02', '2026-11-01'], [countDay('2026-11-01')])).not.toContain('<svg');
  });

  it('of a year take at most 55 kB with links, and 13 kB without', () => {
    const days = listDays('2025-11-20', 366);
    const counts = days.map((day, index) =>
      countDay(day, { accepted: 10_000 + index * 137, rejected: index % 3, affected: index % 2 }),
    );
    expect(renderRange(days, counts).length).toBeLessThan(55_000);
    const [from = '', to = ''] = [days.at(0), days.at(-1)];
    const plain = renderDayColumns({ title: 'Bookings', from, to, days: counts, missing: [] }).markup;
    expect(plain.length).toBeLessThan(13_000);
  });

  it('contain no broken number, whatever the counts', () => {
    fc.assert(
      fc.property(anyDays, ({ from, to, days }) => {
        const [counts, gaps] = [days.slice(0, 30), days.slice(30).map(({ day }) => day)];
        const chart = renderDayColumns({ title: 'T', from, to, days: counts, missing: gaps, linkTo }).markup;
        expect(chart).not.toMatch(broken);
      }),
    );
  });

  it('escape the title and the addresses', () => {
    const chart = renderDayColumns({
      ...{ title: '<script>"', from: '2026-11-01', to: '2026-11-01', missing: [] },
      days: [countDay('2026-11-01')],
      linkTo: () => '"><script>',
    }).markup;
    expect(chart).not.toContain('<script');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RunDuration, renderDurations } from '../../src/charts/durations.js';
import { anyDays, broken, listDays, readTable } from './sample-days.js';

function render(days: readonly string[], runs: readonly RunDuration[]): string {
  const [from = '', to = ''] = [days.at(0), days.at(-1)];
  return renderDurations({ title: 'Durations', from, to, runs }).markup;
}

/** In the plot and in the legend. */
const countSigns = (chart: string, sign: string) => chart.split(`>${sign}</text>`).length - 1;
const countColumns = (chart: string) => chart.match(/v-\d+h0.8v/g)?.length ?? 0;
const november = listDays('2026-11-01', 30);

describe('the durations of runs', () => {
  it('are columns, with crosses over failed runs, on an axis of whole minutes', () => {
    const chart = render(november, [
      { day: '2026-11-01', durationMs: 240_000 },
      { day: '2026-11-03', durationMs: 100_000, isFailed: true },
      { day: '2026-11-02', durationMs: 360_000 },
    ]);
    expect(countColumns(chart)).toBe(3);
    expect(countSigns(chart, '×')).toBe(2);
    expect(readTable(chart)[3]).toEqual(['3 Nov 2026', '1', '1 min 40 s', '1 min 40 s', '1']);
    expect(chart).toMatch(/>0<.*>2 min<.*>4 min<.*>6 min</s);
    expect(chart).toContain('3 runs, half took at most 4 min, the longest 6 min, 1 failed');
  });

  it('that are far longer than the others are marked at the edge', () => {
    const runs = november.map((day, index) => ({ day, durationMs: index === 9 ? 36_000_000 : 60_000 }));
    const chart = render(november, runs);
    expect(countSigns(chart, '▲')).toBe(2);
    expect(chart).toContain('took longer than the axis');
    expect(chart).toContain('the longest 10 h');
    expect(countColumns(chart)).toBe(30);
    expect(countSigns(render(november, runs.slice(0, 9)), '▲')).toBe(0);
  });

  it.each([
    [0, '0.1 s'],
    [1_500, '0.5 s'],
    [45_000, '15 s'],
    [3_600_000, '15 min'],
    [5_400_000, '2 h'],
    [90_000_000, '12 h'],
    [900_000_000, '5 d'],
  ])('of up to %i ms have a tick at %s', (durationMs, tick) => {
    expect(render(november, [{ day: '2026-11-02', durationMs }])).toContain(`>${tick}</text>`);
  });

  it('are empty if no run has ended in these days', () => {
    expect(render(november, [{ day: '2026-12-01', durationMs: 1 }])).toContain('No run to show yet.');
  });

  it('of a year take at most 12 kB', () => {
    const days = listDays('2025-11-20', 366);
    const runs = days.map((day, index) => ({
      day,
      durationMs: 200_000 + index * 970,
      isFailed: index % 60 === 3,
    }));
    expect(render(days, runs).length).toBeLessThan(12_000);
  });

  it('contain no broken number, whatever the clock said', () => {
    fc.assert(
      fc.property(anyDays, ({ from, to, days }) => {
        expect(renderDurations({ title: '<script>', from, to, runs: days }).markup).not.toMatch(broken);
      }),
    );
  });
});

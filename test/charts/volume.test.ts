import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderVolume, type VolumeDay } from '../../src/charts/volume.js';
import { anyDays, broken, listDays, readTable } from './sample-days.js';

function render(days: readonly string[], volumes: readonly VolumeDay[]): string {
  const [from = '', to = ''] = [days.at(0), days.at(-1)];
  return renderVolume({ title: 'Volume', from, to, days: volumes }).markup;
}

const lineOf = (chart: string) => / class="line" d="(M[^"]*)"/.exec(chart)?.[1] ?? '';

describe('the volume against the usual', () => {
  it('has a column for each day, and a line for the usual with gaps where it is unknown', () => {
    const days = listDays('2026-11-01', 5);
    const volumes = days.map((day, index) => ({ day, accepted: 80, usual: index === 2 ? null : 100 }));
    expect(render(days, volumes).match(/v-112h0.8v112/g)).toHaveLength(5);
    expect(lineOf(render(days, volumes))).toBe('M0.5,0L1.5,0M3.5,0L4.5,0');
    expect(
      lineOf(
        render(
          days,
          [...volumes].reverse().filter(({ day }) => day !== '2026-11-02'),
        ),
      ),
    ).toBe('M0.5,0ZM3.5,0L4.5,0');
  });

  it('says how the last known day compares, and marks days with far fewer bookings', () => {
    const days = listDays('2026-11-01', 3);
    const chart = render(days, [
      { day: '2026-11-01', accepted: 20, usual: 100, isDrop: true },
      { day: '2026-11-02', accepted: 1_100, usual: 1_000 },
      { day: '2026-11-03', accepted: null, usual: 1_000 },
    ]);
    expect(chart).toContain('2 Nov 2026: 1,100, usually 1,000; 1 day with far fewer than usual');
    expect(chart.match(/>▼</g)).toHaveLength(2);
    expect(readTable(chart).slice(1)).toEqual([
      ['1 Nov 2026', '20', '20 %', '1'],
      ['2 Nov 2026', '1,100', '110 %', '0'],
      ['3 Nov 2026', 'unknown', 'unknown', '0'],
    ]);
  });

  it('says that a day is not compared where too few others are known', () => {
    expect(render(['2026-11-01'], [{ day: '2026-11-01', accepted: 0, usual: null }])).toContain(
      '1 Nov 2026: 0, not compared yet',
    );
  });

  it('is empty where no day is known', () => {
    expect(render(['2026-11-01'], [{ day: '2026-11-01', accepted: null, usual: 3 }])).not.toContain('<svg');
    expect(render(['2026-11-01'], [])).toContain('No day to show yet.');
  });

  it('of a year takes at most 12 kB', () => {
    const days = listDays('2025-11-20', 366);
    const volumes = days.map((day, index) => ({ day, accepted: 10_000 + index * 137, usual: 9_000 + index }));
    expect(render(days, volumes).length).toBeLessThan(12_000);
  });

  it('contains no broken number, whatever the counts', () => {
    fc.assert(
      fc.property(anyDays, ({ from, to, days }) => {
        const volumes = days.map(({ day, affected, usual, isFailed }) => ({
          ...{ day, usual, accepted: affected, isDrop: isFailed },
        }));
        expect(renderVolume({ title: '<script>', from, to, days: volumes }).markup).not.toMatch(broken);
      }),
    );
  });
});

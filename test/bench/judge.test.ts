import { describe, expect, it } from 'vitest';
import type { Comparison, Reach } from '../../bench/comparison.js';
import { judge, summarise } from '../../bench/harness/judge.js';

const side = (...values: readonly number[]) =>
  summarise(
    'side',
    values.map((value) => ({ value })),
  );
const judgeBy = (reach: Reach, unit: Comparison['unit'] = 's') => {
  const comparison = { name: 'file-run', reach, unit };
  return (ours: readonly number[], other: readonly number[]) =>
    judge(comparison, side(...ours), side(...other));
};

describe('a side of a comparison', () => {
  it('has its median, its range, the median of its CPU seconds and its highest peak', () => {
    const samples = [
      { value: 9, cpuSeconds: 5, peakMb: 100 },
      { value: 1, cpuSeconds: 7, peakMb: 300 },
      { value: 2, cpuSeconds: 6, peakMb: 200 },
    ];

    expect(summarise('ours', samples)).toEqual({
      name: 'ours',
      samples,
      median: 2,
      min: 1,
      max: 9,
      cpuSeconds: 6,
      peakMb: 300,
    });
  });

  it('has no CPU seconds and no peak where none were measured', () => {
    expect(side(1)).not.toHaveProperty('cpuSeconds');
    expect(side(1)).not.toHaveProperty('peakMb');
  });
});

describe('a ratio', () => {
  it('is our median divided by the other one', () => {
    expect(judgeBy({})([1, 3, 100], [5, 6, 7])).toEqual({ ratio: 0.5 });
  });

  it('is reached up to and including its limit where less is better', () => {
    const judgeTimes = judgeBy({ ratio: { atMost: 0.5 } });

    expect(judgeTimes([3], [6]).isReached).toBe(true);
    expect(judgeTimes([3.001], [6]).isReached).toBe(false);
  });

  it('is reached from its limit upwards where more is better', () => {
    const judgeRates = judgeBy({ ratio: { atLeast: 0.8 } }, 'MB/s');

    expect(judgeRates([8], [10]).isReached).toBe(true);
    expect(judgeRates([7.99], [10]).isReached).toBe(false);
  });

  it('as a target needs another side', () => {
    const comparison = { name: 'show', reach: { ratio: { atMost: 1 } }, unit: 's' } as const;

    expect(() => judge(comparison, side(1), undefined)).toThrow('show: its reach has a ratio');
  });
});

describe('a limit of our own', () => {
  it('applies to our median, even in milliseconds where seconds are measured', () => {
    const comparison = { name: 'show', reach: { ours: { atMost: 150, unit: 'ms' } }, unit: 's' } as const;

    expect(judge(comparison, side(0.15), undefined)).toEqual({ isReached: true });
    expect(judge(comparison, side(0.151), undefined)).toEqual({ isReached: false });
  });

  it('in MB applies to our highest peak where times are measured', () => {
    const comparison = { name: 'memory', reach: { ours: { atMost: 300, unit: 'MB' } }, unit: 's' } as const;
    const ours = (...peaks: readonly number[]) =>
      summarise(
        'ours',
        peaks.map((peakMb) => ({ value: 1, peakMb })),
      );

    expect(judge(comparison, ours(290, 300, 280), undefined)).toEqual({ isReached: true });
    expect(judge(comparison, ours(290, 301, 280), undefined)).toEqual({ isReached: false });
  });

  it('must be met in addition to the ratio', () => {
    const judgeBoth = judgeBy({ ratio: { atMost: 1.3 }, ours: { atMost: 300, unit: 'MB' } }, 'MB');

    expect(judgeBoth([290], [250]).isReached).toBe(true);
    expect(judgeBoth([310], [250]).isReached).toBe(false);
    expect(judgeBoth([290], [200]).isReached).toBe(false);
  });

  it('is an error for figures that were not measured', () => {
    const comparison = { name: 'memory', reach: { ours: { atMost: 300, unit: 'MB' } }, unit: 's' } as const;

    expect(() => judge(comparison, side(1), undefined)).toThrow('a limit in MB, which was not measured');
  });
});

import { describe, expect, it } from 'vitest';
import type { Comparison } from '../../bench/comparison.js';
import { compareAll } from '../../bench/harness/compare.js';
import { comparison, contestant } from './bench-results.js';

async function compare(comparisons: readonly Comparison[], budgetMs?: number, now: () => number = () => 0) {
  const logged: string[] = [];
  const compared = await compareAll(comparisons, {
    scale: 'quick',
    commit: '1234567',
    now,
    budgetMs,
    log: (line) => logged.push(line),
  });
  return { ...compared, logged };
}

describe('the comparisons', () => {
  it('keep every sample and compute medians, ratio and verdict', async () => {
    const three = comparison('file-run', {
      rounds: 3,
      prepare: async () => ({
        ours: contestant('ours', 1, 9, 2),
        other: contestant('the script', 4, 4, 5),
        notes: ['a note'],
        close: async () => {},
      }),
    });

    const { rows, failures } = await compare([three]);

    expect(failures).toEqual([]);
    expect(rows[0]).toMatchObject({
      name: 'file-run',
      ours: { name: 'ours', median: 2, samples: [{ value: 1 }, { value: 9 }, { value: 2 }] },
      other: { name: 'the script', median: 4 },
      ratio: 0.5,
      isReached: true,
      notes: ['a note'],
      commit: '1234567',
    });
  });

  it('log a line for each round', async () => {
    const { logged } = await compare([comparison('file-run')]);

    expect(logged).toEqual(['file-run: preparing', 'file-run 1/1: ours 2.00 s, the script 4.00 s']);
  });

  it('have five rounds by default', async () => {
    const { rounds, ...usual } = comparison('file-run', {
      prepare: async () => ({ ours: contestant('ours', 1, 2, 3, 4, 5, 6, 7), close: async () => {} }),
      reach: {},
    });

    expect((await compare([usual])).rows[0]?.ours.samples).toHaveLength(5);
  });

  it('have fewer rounds on request, and never more', async () => {
    const rounds = async (mostRounds: number) => {
      const ours = contestant('ours', 1, 2, 3, 4);
      const three = comparison('three', {
        rounds: 3,
        reach: {},
        prepare: async () => ({ ours, close: async () => {} }),
      });
      const options = { scale: 'quick', commit: '1', now: () => 0, log: () => {}, mostRounds } as const;
      return (await compareAll([three], options)).rows[0]?.ours.samples.length;
    };

    expect(await rounds(2)).toBe(2);
    expect(await rounds(9)).toBe(3);
  });

  it('report what cannot run, and run the others', async () => {
    const obstacle = 'needs another-program: apt-get install another-program';

    const { rows, notTried, logged } = await compare([
      comparison('another-program', { findObstacle: () => obstacle }),
      comparison('file-run'),
    ]);

    expect(logged[0]).toBe(`NOT TRIED: another-program ${obstacle}`);
    expect(notTried).toEqual([{ name: 'another-program', obstacle }]);
    expect(rows.map(({ name }) => name)).toEqual(['file-run']);
  });

  it('continue after one that failed, which closes its stage', async () => {
    let isClosed = false;
    const failing = comparison('failing', {
      prepare: async () => ({
        ours: { name: 'ours', run: () => Promise.reject(new Error('exit code 1')) },
        close: async () => {
          isClosed = true;
        },
      }),
    });

    const { rows, failures, logged } = await compare([failing, comparison('file-run')]);

    expect(isClosed).toBe(true);
    expect(logged).toContain('FAILED: failing: exit code 1');
    expect(failures.map(({ name }) => name)).toEqual(['failing']);
    expect(rows.map(({ name }) => name)).toEqual(['file-run']);
  });

  it('share a time budget: what one leaves unused goes to the next ones', async () => {
    let time = 0;
    const lasting = (name: string, turnMs: number) =>
      comparison(name, {
        rounds: 50,
        reach: {},
        prepare: async () => ({
          ours: {
            name: 'ours',
            async run() {
              time += turnMs;
              return { value: 1 };
            },
          },
          close: async () => {},
        }),
      });

    const { rows } = await compare(
      [lasting('slow', 40), lasting('quick', 1), lasting('usual', 10)],
      300,
      () => time,
    );

    // 100 ms, of which 80 are used; 110, of which 50 are; 170.
    expect(rows.map(({ ours }) => ours.samples.length)).toEqual([2, 50, 17]);
  });
});

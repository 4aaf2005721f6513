import { describe, expect, it } from 'vitest';
import { listAddresses } from '../../bench/desk/page-addresses.js';
import { listMissed, summarisePage } from '../../bench/desk/page-figures.js';
import { planRuns, specialDays } from '../../bench/desk/planned-runs.js';
import { deskSizes } from '../../bench/desk/sizes.js';
import { listRoutes } from '../../src/desk/desk.js';
import { otherParts, runsOnly } from '../desk/some-desk.js';

const today = '2026-11-21';

describe('the bench of the desk', () => {
  it('loads every page and every preview of the table of routes', () => {
    const pages = listRoutes({ ...otherParts, ledger: runsOnly([]) }).filter(
      ({ kind }) => kind === 'page' || kind === 'action',
    );

    expect(Object.keys(listAddresses(today, deskSizes.full.years)).sort()).toEqual(
      pages.map(({ path }) => path).sort(),
    );
  });

  it('has 1,000 days, 5,000 runs and 5 million bookings', () => {
    const days = planRuns(today, deskSizes.full.years);
    const runs = days.flat();

    expect(days).toHaveLength(1_000);
    expect(runs.length).toBeGreaterThan(4_950);
    expect(runs.reduce((sum, { records }) => sum + records, 0)).toBeGreaterThan(5_000_000);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(runs.length);
    expect(runs.at(-1)?.day).toBe('2026-11-20');
  });

  it('has a run with 10,000 batches, and one with long lists, each the last of its day', () => {
    const runs = planRuns(today, deskSizes.full.years).flat();
    const { manyBatches, longLists } = specialDays(today);
    const last = (day: string) => runs.findLast((run) => run.day === day);

    expect(last(manyBatches)).toMatchObject({ shape: 'many-batches', delivery: 'body' });
    expect((last(manyBatches)?.records ?? 0) / (last(manyBatches)?.batchSize ?? 1)).toBe(10_000);
    expect(last(longLists)).toMatchObject({ shape: 'long-lists', delivery: 'file' });
    expect(runs.filter(({ shape }) => shape === 'failing').length).toBeGreaterThan(30);
  });

  it('names each page that fails, takes too long, or is too large', () => {
    const load = (milliseconds: number, bytes: number, status = 200) => ({ status, milliseconds, bytes });
    const pages = [
      summarisePage('/', [load(100, 99_000), load(900, 100_000), load(110, 50_000)]),
      summarisePage('/slow', [load(250, 1_000), load(150, 1_000), load(201, 1_000)]),
      summarisePage('/large', [load(10, 1_000), load(10, 100_501)]),
      summarisePage('/failing', [load(10, 1_000), load(10, 100, 503)]),
    ];

    expect(pages[0]).toEqual({ address: '/', medianMs: 110, slowestMs: 900, kilobytes: 100, failures: [] });
    expect(listMissed(pages, 'time')).toEqual(['/slow: 201 ms (up to 250)', '/failing: answered 503']);
    expect(listMissed(pages, 'size')).toEqual(['/large: 101 kB', '/failing: answered 503']);
  });
});

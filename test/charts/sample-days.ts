import fc from 'fast-check';

const dayMs = 86_400_000;

/** Consecutive days, YYYY-MM-DD. */
export function listDays(from: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => addDays(from, index));
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);
}

const count = fc.oneof(fc.nat(20), fc.nat(100_000), fc.maxSafeNat());

/** Counts of days around a range of days, in any order, some of them unknown. */
export const anyDays = fc.record({
  from: fc.integer({ min: 0, max: 800 }).map((days) => addDays('2025-01-01', days)),
  to: fc.integer({ min: 0, max: 800 }).map((days) => addDays('2025-01-01', days)),
  days: fc.uniqueArray(
    fc.record({
      day: fc.integer({ min: 0, max: 800 }).map((days) => addDays('2025-01-01', days)),
      accepted: count,
      rejected: count,
      unanswered: fc.option(count),
      affected: fc.option(count),
      usual: fc.option(count),
      durationMs: fc.oneof(fc.integer({ min: -5_000, max: 400_000_000 }), fc.nat(5_000)),
      isFailed: fc.boolean(),
    }),
    { selector: ({ day }) => day, maxLength: 40 },
  ),
});

/** What must be in no chart: a broken number, a style that the page's policy refuses. */
export const broken = /NaN|Infinity|undefined|null|\[object| style=|e-\d/;

/** The cells of the table behind a chart, with its head. */
export function readTable(chart: string): string[][] {
  const [, table = ''] = /<details class="chart-numbers">(.*?)<\/details>/s.exec(chart) ?? [];
  return [...table.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<t[hd]\b[^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell),
  );
}

import { describe, expect, it } from 'vitest';
import { type PlannedDay, renderRangePlan, toPlanObject } from '../../src/cli/range-plan-table.js';
import { someRun } from '../review/some-run.js';

const run = someRun();
const failed = someRun({ state: 'failed' });
const days: readonly PlannedDay[] = [
  { day: '2026-11-15', plan: { action: 'new-run' } },
  { day: '2026-11-16', plan: { action: 'new-run', replaces: run.id } },
  { day: '2026-11-17', plan: { action: 'resume', run: failed } },
  { day: '2026-11-18', plan: { action: 'top-up', run } },
  { day: '2026-11-19', plan: { action: 'nothing', why: 'has a run', run: failed } },
  { day: '2026-11-20', plan: { action: 'nothing', why: 'has no run' } },
  { day: '2026-11-21', plan: { action: 'refused', message: 'run it first', run: failed } },
];

describe('the plan of a range', () => {
  it('is a line a day, and why days are refused', () => {
    const text = renderRangePlan(days);
    expect(text).toBe(`dry run: 4 days of 7 would be reviewed; nothing was sent
  2026-11-15  new run
  2026-11-16  new run; gives up run 20261120-k3f9xq7d
  2026-11-17  go on with run 20261120-k3f9xq7d (failed)
  2026-11-18  late bookings: top-up of run 20261120-k3f9xq7d
  2026-11-19  nothing: it has a run (20261120-k3f9xq7d, failed)
  2026-11-20  nothing: it has no run
  2026-11-21  refused: run 20261120-k3f9xq7d is failed
2026-11-21:
  run it first
`);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('is one object for a program', () => {
    expect(toPlanObject(days)).toEqual({
      dryRun: true,
      days: [
        { day: '2026-11-15', action: 'new-run', runId: null },
        { day: '2026-11-16', action: 'new-run', runId: null, replaces: run.id },
        { day: '2026-11-17', action: 'resume', runId: run.id },
        { day: '2026-11-18', action: 'top-up', runId: run.id },
        { day: '2026-11-19', action: 'nothing', runId: run.id, why: 'has a run' },
        { day: '2026-11-20', action: 'nothing', runId: null, why: 'has no run' },
        { day: '2026-11-21', action: 'refused', runId: run.id, why: 'run it first' },
      ],
    });
  });
});

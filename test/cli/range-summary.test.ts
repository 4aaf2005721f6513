import { describe, expect, it } from 'vitest';
import {
  type DayOutcome,
  describeOutcome,
  endsRange,
  exitCodeOfDay,
  renderRangeSummary,
  toDayObject,
} from '../../src/cli/range-summary.js';
import { toReport } from '../../src/review/day/report.js';
import type { Run } from '../../src/review/run.js';
import { someRun } from '../review/some-run.js';
import { command } from './plain-command.js';

type Reviewed = DayOutcome & { readonly kind: 'reviewed' };

function reviewed(run: Run, exitCode: Reviewed['exitCode']): Reviewed {
  return { kind: 'reviewed', day: run.day, report: toReport(run, run.startedAt), exitCode };
}

const message =
  'batch 3 of run 20261118-k3f9xq7d ended with http-403, which no retry mends. Check service.apiKey.';
const done = reviewed(someRun({ day: '2026-11-17', counts: { delivered: 1_234_567 } }), 0);
const fatal = reviewed(
  someRun({
    day: '2026-11-18',
    state: 'failed',
    counts: { delivered: 500, pending: 490 },
    failure: { class: 'fatal', code: 'http-403', message },
  }),
  1,
);
const late = reviewed(someRun({ day: '2026-11-19', topsUp: true, state: 'awaiting-result' }), 3);
const stopped = reviewed(someRun({ day: '2026-11-20', state: 'collecting' }), 1);
const left: DayOutcome = { kind: 'left', day: '2026-11-21', why: 'has a run', runId: '20261121-k3f9xq7d' };
const unknown: DayOutcome = { kind: 'left', day: '2026-11-22', why: 'has no run' };
const busy: DayOutcome = {
  kind: 'error',
  day: '2026-11-23',
  failure: { exitCode: 4, class: 'busy', message: '2026-11-23 is being run by another process' },
};
const refused: DayOutcome = {
  kind: 'error',
  day: '2026-11-24',
  failure: { exitCode: 2, class: 'usage', message: 'run r of 2026-11-24 is unfinished' },
};
const all = [done, fatal, late, stopped, left, unknown, busy, refused];

describe('the summary of a range', () => {
  it('is a line a day, and below it what to do about each that is not done', () => {
    const text = renderRangeSummary(all, command);
    expect(text).toBe(`  day         run                state              delivered  pending  refused
  2026-11-17  20261120-k3f9xq7d  succeeded          1,234,567        0        0
  2026-11-18  20261120-k3f9xq7d  failed                   500      490        0
  2026-11-19  20261120-k3f9xq7d  awaiting-result +        990        0        0
  2026-11-20  20261120-k3f9xq7d  stopped                  990        0        0
  2026-11-21  20261121-k3f9xq7d  has a run
  2026-11-22                     has no run
  2026-11-23                     busy
  2026-11-24                     error
  + late bookings: only what the runs before it had not delivered
2026-11-18:
  batch 3 of run 20261118-k3f9xq7d ended with http-403, which no retry mends.
  Check service.apiKey.
  When that is mended: hotel-review run --day 2026-11-18
2026-11-19:
  To look for its result again: hotel-review run --day 2026-11-19
2026-11-20:
  To go on: hotel-review run --day 2026-11-20
2026-11-23:
  2026-11-23 is being run by another process
2026-11-24:
  run r of 2026-11-24 is unfinished
`);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('of days that are all done is the table alone', () => {
    expect(renderRangeSummary([done], command).split('\n')).toHaveLength(3);
  });
});

describe('a day of a range', () => {
  it('ends with the exit code of its run, of its error, or with 0 where it is left', () => {
    expect(all.map(exitCodeOfDay)).toEqual([0, 1, 3, 1, 0, 0, 4, 2]);
  });

  it('ends the range when all others would fare as badly', () => {
    expect(all.filter(endsRange)).toEqual([fatal]);
    for (const errorClass of ['configuration', 'internal', 'stopped'] as const) {
      const failure = { exitCode: 1, class: errorClass, message: 'x' } as const;
      expect(endsRange({ kind: 'error', day: '2026-11-20', failure })).toBe(true);
    }
  });

  it('says in a few words how it ended', () => {
    const nothing = someRun({ topsUp: true, counts: { accepted: 0, delivered: 0 } });
    expect([...all, reviewed(nothing, 0)].map(describeOutcome)).toEqual([
      'succeeded, 1,234,567 delivered',
      'failed, 500 delivered',
      'awaiting-result, 990 delivered',
      'stopped, 990 delivered',
      'left as it is: it has a run',
      'left as it is: it has no run',
      '2026-11-23 is being run by another process',
      'run r of 2026-11-24 is unfinished',
      'succeeded, nothing new',
    ]);
  });

  it('is an object of its own for a program', () => {
    expect(toDayObject(done)).toBe(done.report);
    expect([left, unknown, busy].map(toDayObject)).toEqual([
      { day: '2026-11-21', runId: '20261121-k3f9xq7d', skipped: 'has a run' },
      { day: '2026-11-22', runId: null, skipped: 'has no run' },
      {
        day: '2026-11-23',
        error: { class: 'busy', message: '2026-11-23 is being run by another process' },
      },
    ]);
  });
});

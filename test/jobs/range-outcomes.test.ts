import { describe, expect, it } from 'vitest';
import type { ExitCode } from '../../jobs/exit-code.js';
import { renderPlans } from '../../jobs/replay.js';
import {
  outcomeOfFailure,
  outcomeOfLeft,
  outcomeOfRun,
  renderNotStarted,
  renderRange,
} from '../../jobs/replay-range.js';
import type { Run } from '../../src/ledger/run.js';
import { type PlannedDay, toPlanObjects } from '../../src/review/day/range-plan.js';
import { runToJson } from '../../src/review/day/report.js';
import { createCommandWriter } from '../../src/text/shell.js';
import { someRun } from '../review/some-run.js';
import { command } from '../support/plain-command.js';

function reviewed(run: Run, code: ExitCode) {
  return outcomeOfRun(toJson(run), code, command);
}

function toJson(run: Run) {
  return runToJson(run, { now: run.startedAt, timezone: 'Europe/Madrid' });
}

const message =
  'batch 3 of run 20261118-k3f9xq7d ended with http-403, which retrying cannot fix. Check service.apiKey.';
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
const left = outcomeOfLeft('2026-11-21', 'has a run', '20261121-k3f9xq7d');
const unknown = outcomeOfLeft('2026-11-22', 'has no run');
const busy = outcomeOfFailure('2026-11-23', {
  exitCode: 4,
  class: 'busy',
  message: '2026-11-23 is being run by another process',
});
const refused = outcomeOfFailure('2026-11-24', {
  exitCode: 2,
  class: 'usage',
  message: 'run r of 2026-11-24 is unfinished',
});
const all = [done, fatal, late, stopped, left, unknown, busy, refused];

describe('the summary of a range', () => {
  it('says what a stopped day waits for', () => {
    const run = someRun({ day: '2026-11-20', state: 'delivering' });
    const waiting = { step: 'batch 3', until: '2026-11-21T02:31:30.000Z', code: 'http-503' };
    const outcome = outcomeOfRun({ ...toJson(run), waiting }, 1, command);
    expect(renderRange([outcome])).toContain(
      '2026-11-20:\n  waiting until 2026-11-21 02:31:30Z for batch 3 (http-503)\n  To resume it: ',
    );
    expect(outcome.json).toMatchObject({ waiting });
  });

  it('is a line per day, and below it what to do about each that is not done', () => {
    const text = renderRange(all);
    expect(text).toBe(`  day         run                state              delivered  pending  refused
  2026-11-17  20261120-k3f9xq7d  succeeded          1,234,567        0        0
  2026-11-18  20261120-k3f9xq7d  failed                   500      490        0
  2026-11-19  20261120-k3f9xq7d  awaiting-result +        990        0        0
  2026-11-20  20261120-k3f9xq7d  stopped                  990        0        0
  2026-11-21  20261121-k3f9xq7d  has a run
  2026-11-22                     has no run
  2026-11-23                     busy
  2026-11-24                     error
  + late bookings: only what earlier runs had not delivered
2026-11-18:
  batch 3 of run 20261118-k3f9xq7d ended with http-403, which retrying cannot
  fix. Check service.apiKey.
  Once that is fixed: hotel-review run --day 2026-11-18
2026-11-19:
  To check for its result: hotel-review run --day 2026-11-19
2026-11-20:
  To resume it: hotel-review run --day 2026-11-20
2026-11-23:
  2026-11-23 is being run by another process
2026-11-24:
  run r of 2026-11-24 is unfinished
`);
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('of days that are all done is only the table', () => {
    expect(renderRange([done]).split('\n')).toHaveLength(3);
  });
});

describe('a day of a range', () => {
  it('has the exit code of its run, of its error, or 0 if it was left out', () => {
    expect(all.map(({ code }) => code)).toEqual([0, 1, 3, 1, 0, 0, 4, 2]);
  });

  it('ends the range when all others would fail in the same way', () => {
    expect(all.filter(({ endsRange }) => endsRange)).toEqual([fatal]);
    for (const errorClass of ['configuration', 'internal', 'stopped'] as const) {
      const failure = { exitCode: 1, class: errorClass, message: 'x' } as const;
      expect(outcomeOfFailure('2026-11-20', failure).endsRange).toBe(true);
    }
  });

  it('describes its outcome in a few words', () => {
    const nothing = someRun({ topsUp: true, counts: { accepted: 0, delivered: 0 } });
    expect([...all, reviewed(nothing, 0)].map(({ words }) => words)).toEqual([
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

  it('is a separate object for a program', () => {
    expect([left, unknown, busy].map(({ json }) => json)).toEqual([
      { day: '2026-11-21', runId: '20261121-k3f9xq7d', skipped: 'has a run' },
      { day: '2026-11-22', runId: null, skipped: 'has no run' },
      {
        day: '2026-11-23',
        error: { class: 'busy', message: '2026-11-23 is being run by another process' },
      },
    ]);
  });
});

const noOptions = { mode: undefined, reason: undefined, delivery: undefined };
const notBegun = { why: 'it was stopped', next: '2026-11-04', to: '2026-11-20' };

describe('the end of a range that stopped early', () => {
  it('says which days were not started, and how to continue', () => {
    expect(renderNotStarted(noOptions, notBegun, command)).toBe(
      `Not started: 2026-11-04 to 2026-11-20, because it was stopped.
To continue: hotel-review replay 2026-11-04 --to 2026-11-20
`,
    );
  });

  it('names a single remaining day as one', () => {
    const text = renderNotStarted(noOptions, { ...notBegun, next: '2026-11-20' }, command);
    expect(text).toBe(
      'Not started: 2026-11-20, because it was stopped.\nTo continue: hotel-review replay 2026-11-20\n',
    );
  });

  it('continues with the options of the range, quoted for a shell', () => {
    const options = { mode: 'all', reason: "the hotel's export came late", delivery: 'file' } as const;
    const text = renderNotStarted(
      options,
      notBegun,
      createCommandWriter('npx --no hotel-review', 'other.yaml'),
    );
    expect(text).toContain(
      "To continue: npx --no hotel-review replay 2026-11-04 --to 2026-11-20 --all --reason 'the hotel'\\''s export came late' " +
        '--delivery file --config other.yaml\n',
    );
  });
});

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
  it('is a line per day, and why days are refused', () => {
    const text = renderPlans(days);
    expect(text).toBe(`dry run: 4 days of 7 would be reviewed; nothing was sent
  2026-11-15  new run
  2026-11-16  new run; cancels run 20261120-k3f9xq7d
  2026-11-17  resume run 20261120-k3f9xq7d (failed)
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
    expect(toPlanObjects(days)).toEqual([
      { day: '2026-11-15', action: 'new-run', runId: null },
      { day: '2026-11-16', action: 'new-run', runId: null, replaces: run.id },
      { day: '2026-11-17', action: 'resume', runId: run.id },
      { day: '2026-11-18', action: 'top-up', runId: run.id },
      { day: '2026-11-19', action: 'nothing', runId: run.id, why: 'has a run' },
      { day: '2026-11-20', action: 'nothing', runId: null, why: 'has no run' },
      { day: '2026-11-21', action: 'refused', runId: run.id, why: 'run it first' },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import {
  acceptanceOf,
  countVerdicts,
  durationOf,
  groupByDay,
  hasSentNothing,
  hasUnexpectedCount,
  hasWork,
  isActive,
  isSameSighting,
  isSilent,
  isToBeAccepted,
  isUnusual,
  mayCompleteDay,
  mayHaveResult,
  type Run,
  runStates,
  wasToBeAccepted,
} from '../../src/rules/run.js';
import { drop, fewBookings, manyAffected, someRun } from '../review/some-run.js';

type Changes = Parameters<typeof someRun>[0];

it('the verdicts of a result are counted, and none are known without one', () => {
  const verdicts = { affected: 2, unanswered: 1, unclear: 3, malformed: 9 };
  expect(countVerdicts({ rows: 7, verdicts })).toEqual({ affected: 2, unanswered: 4 });
  expect(countVerdicts({ rows: 7 })).toEqual({ affected: null, unanswered: 7 });
  expect(countVerdicts(undefined)).toEqual({ affected: null, unanswered: null });
});

it('a run took as long as it was worked on, by a clock that may have been set back', () => {
  const { finishedAt: _, ...run } = someRun({ startedAt: 1_000, pausedMs: 500 });
  const took = [durationOf({ ...run, finishedAt: 5_000 }, 9_000), durationOf(run, 9_000), durationOf(run, 1)];
  expect(took).toEqual([3_500, 7_500, 0]);
});

it('the hook may expect another number of records than the source held, once that is known', () => {
  const { collectedAt: _, ...collecting } = someRun({ expected: 1 });
  const counts = { read: 12, filtered: 2 };
  const runs = [someRun(), collecting, someRun({ expected: 10, counts }), someRun({ expected: 12, counts })];
  expect(runs.map(hasUnexpectedCount)).toEqual([false, false, false, true]);
});

describe('what somebody has to accept', () => {
  const volume = fewBookings;
  const few = { ...volume, drops: [{ ...drop, provider: 'x' }] };
  const implausible = manyAffected;
  const by = { at: 1, by: 'ada' };
  const accepted = { volume: by, affected: { ...by, affected: 30 } };

  it.each<[string, Changes, boolean, boolean]>([
    ['nothing', {}, false, false],
    ['few bookings of one provider', { volume: few }, false, false],
    ['few bookings', { volume }, true, true],
    ['few bookings, accepted', { volume, acceptances: accepted }, true, false],
    ['many affected ones', { implausible, acceptances: { volume: by } }, true, true],
    ['many affected ones, accepted', { implausible, acceptances: accepted }, true, false],
    [
      'more than were accepted',
      { implausible: { ...implausible, affected: 31 }, acceptances: accepted },
      true,
      true,
    ],
    ['more than nobody counted', { implausible, acceptances: { affected: by } }, true, true],
  ])('%s', (_, changes, was, is) => {
    const run = someRun(changes);
    expect([wasToBeAccepted(run), isToBeAccepted(run)]).toEqual([was, is]);
  });

  it('may be asked for one kind, and who accepted it', () => {
    const run = someRun({ volume, implausible, acceptances: { volume: by } });
    expect([isToBeAccepted(run, ['volume']), isToBeAccepted(run, ['affected'])]).toEqual([false, true]);
    expect([acceptanceOf(run, 'volume'), acceptanceOf(run, 'affected')]).toEqual([by, undefined]);
    const before = someRun({ acceptances: accepted });
    expect([acceptanceOf(before, 'affected'), acceptanceOf(someRun(), 'affected')]).toEqual([
      accepted.affected,
      undefined,
    ]);
  });
});

it('a run is active until it ended, has work while steps are open, and sent nothing if it ended without', () => {
  const judge = (of: (run: Run) => boolean, changes: Changes) =>
    runStates.filter((state) => of(someRun({ state, ...changes })));
  const active = ['collecting', 'delivering', 'awaiting-result'];
  expect(judge(isActive, {})).toEqual(active);
  expect(judge(hasWork, { openSteps: 1 })).toEqual(active);
  expect([judge(hasWork, { openSteps: 0 }), judge(hasWork, { openSteps: 1, overdueAt: 1 })]).toEqual([
    [],
    [],
  ]);
  expect(judge(hasSentNothing, { counts: { delivered: 0 } })).toEqual(['succeeded', 'failed', 'cancelled']);
  expect(judge(hasSentNothing, { counts: { delivered: 1 } })).toEqual([]);
});

it.each<[boolean, Changes]>([
  [false, { delivery: 'body' }],
  [true, { delivery: 'file' }],
  [true, { delivery: 'file', counts: { accepted: 0 } }],
  [true, { delivery: 'file', counts: { posted: 989 } }],
  [false, { delivery: 'file', counts: { posted: 990 } }],
])('may have a result, %s: %j', (expected, changes) => {
  expect(mayHaveResult(someRun(changes))).toBe(expected);
});

it('two sightings are of the same file only if its time says so', () => {
  const file = { name: 'a.csv', size: 9, modifiedAt: 1 };
  const { modifiedAt: _, ...timeless } = file;
  expect(isSameSighting(file, { ...file })).toBe(true);
  for (const other of [
    { ...file, name: 'b.csv' },
    { ...file, size: 8 },
    { ...file, modifiedAt: 2 },
    timeless,
  ])
    expect(isSameSighting(file, other)).toBe(false);
  expect(isSameSighting(timeless, timeless)).toBe(false);
});

it('a provider is silent without a booking, and a day unusual with few of any provider', () => {
  const drop = { provider: 'x', accepted: 0, usual: 9 };
  const drops = [drop, { ...drop, accepted: 1 }, { ...drop, provider: null }];
  expect(drops.map(isSilent)).toEqual([true, false, false]);
  const volumes = [{ drops: [] }, { drops: [], isLow: true }, { drops }];
  expect(volumes.map((of) => isUnusual({ accepted: 1, usual: 9, ...of }))).toEqual([false, true, true]);
});

it('only a run of today completes no day', () => {
  const triggers = ['schedule', 'hook', 'manual', 'replay', 'today'] as const;
  expect(triggers.filter((trigger) => !mayCompleteDay({ trigger }))).toEqual(['today']);
});

it('runs are grouped by their days, in their order', () => {
  const of = (id: string, day: string) => someRun({ id, day });
  const [a, b, c] = [of('a', '2026-11-20'), of('b', '2026-11-21'), of('c', '2026-11-20')];
  expect([...groupByDay([a, b, c])]).toEqual([
    ['2026-11-20', [a, c]],
    ['2026-11-21', [b]],
  ]);
});

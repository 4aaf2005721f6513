import { describe, expect, it } from 'vitest';
import type { StepTotals } from '../../src/rules/changes.js';
import type { Run } from '../../src/rules/run.js';
import {
  abandonRun,
  cancelRun,
  finishTakeOver,
  reopeningAbandoned,
  settleRun,
  startDelivery,
  takeOverSteps,
} from '../../src/rules/state-machine.js';
import type { PlannedStep } from '../../src/rules/step.js';
import { someRun } from '../review/some-run.js';

const at = Date.UTC(2026, 10, 21, 1, 30);

const batchOf = (stream: 'posted' | 'file', bookings: number, index: number): PlannedStep => ({
  name: `batch ${index}`,
  kind: 'batch',
  slice: { stream, batch: index, first: 0, bookings },
  bookings,
});
const plan: readonly PlannedStep[] = [
  batchOf('file', 7, 0),
  batchOf('posted', 2, 1),
  batchOf('posted', 3, 2),
  { name: 'trigger', kind: 'trigger', bookings: 0 },
];

it('the start of a delivery counts what a file run posts, the steps to perform, and the moment', () => {
  const started = { state: 'delivering', collectedAt: at, openSteps: 4 };
  expect(startDelivery(someRun({ delivery: 'file' }), plan, at)).toEqual({ ...started, posted: 5 });
  // By body, everything is.
  expect(startDelivery(someRun({ delivery: 'body' }), plan, at)).toEqual({ ...started, posted: 0 });
  // Names were stored again, if retention had removed them during the collect.
  const blanked = someRun({ namesBlankedAt: at - 1, linesBlanked: true });
  expect(startDelivery(blanked, [], at)).toMatchObject({ namesBlankedAt: null, linesBlanked: false });
});

const interrupted = {
  set: { state: 'ready', outcomeUnknown: true, notBefore: null, lastCode: 'owner-lost' },
  endsAttempt: { outcome: 'interrupted', code: 'owner-lost' },
};
const reopened = { state: 'ready', notBefore: null, endedAt: null, failureClass: null };

describe('taking over the steps', () => {
  it('of a run under way interrupts what is running, and ends all pauses', () => {
    expect(takeOverSteps(someRun({ state: 'delivering' }), 'schedule')).toEqual([
      { which: { states: ['running'] }, ...interrupted },
      { which: { states: ['ready'] }, set: { notBefore: null } },
    ]);
  });

  it('of a failed run reopens those that are tried again on this word, with fresh tries', () => {
    expect(takeOverSteps(someRun({ state: 'failed' }), 'schedule')).toEqual([
      { which: { states: ['running'] }, ...interrupted },
      { which: { states: ['failed'], failureClass: 'retryable' }, set: reopened },
      { which: { states: ['ready'] }, set: { tries: 0, waits: 0, notBefore: null } },
    ]);
  });

  it('of owners that are gone interrupts only theirs', () => {
    expect(reopeningAbandoned).toEqual({ which: { abandoned: true, states: ['running'] }, ...interrupted });
  });
});

describe('taking over a run', () => {
  const totals: StepTotals = {
    openSteps: 2,
    openKinds: ['batch', 'await-result'],
    refused: 4,
    failedSteps: 1,
  };
  const active: Partial<Run> = { state: 'delivering', delivery: 'file', token: 7 };

  const taken = { token: 8, openSteps: 2, namesBlankedAt: null };

  it('under way only raises the token, counts again what is open, and looks again for an overdue result', () => {
    expect(finishTakeOver(someRun(active), totals)).toStrictEqual(taken);
    const late = someRun({ ...active, overdueAt: at });
    expect(finishTakeOver(late, totals)).toStrictEqual({ ...taken, overdueAt: null });
  });

  it('records what was accepted and expected this time', () => {
    const [volume, affected] = [
      { at, by: 'ana' },
      { at, by: 'eva', affected: 30 },
    ];
    const request = { acceptances: { volume }, acceptsRepeated: true, expected: 0 };
    const accepted = someRun({ ...active, acceptances: { affected } });
    expect(finishTakeOver(accepted, totals, request)).toMatchObject({
      ...request,
      acceptances: { volume, affected },
    });
  });

  it('that failed clears its end and its counters', () => {
    const cleared = { failuresInRow: 0, finishedAt: null, failure: null };
    const expected = { ...taken, state: 'delivering', refused: 4, failedSteps: 1, ...cleared };
    expect(finishTakeOver(someRun({ ...active, state: 'failed' }), totals)).toEqual(expected);
  });

  it('that failed in its collect collects again', () => {
    const { collectedAt: _, ...run } = someRun({ ...active, state: 'failed' });
    expect(finishTakeOver(run, totals)).toMatchObject({ state: 'collecting' });
  });

  it.each(['delivering', 'failed'] as const)(
    'that was %s awaits its result if only that is missing',
    (state) => {
      const onlyResult = { ...totals, openKinds: ['archive', 'canary'] as const };
      const run = someRun({ ...active, state });
      expect(finishTakeOver(run, onlyResult)).toMatchObject({ state: 'awaiting-result' });
    },
  );

  it.each([
    ['a batch is open', { delivery: 'file' }, { openKinds: ['batch', 'archive'] }],
    ['the call is still to be made', { delivery: 'file' }, { openKinds: ['trigger'] }],
    ['it goes by body', { delivery: 'body' }, {}],
    ['more is open than a look and a canary', { delivery: 'file' }, { openSteps: 4 }],
  ] as const)('does not await a result if %s', (_, run, open) => {
    const found = { ...totals, openKinds: ['await-result' as const], ...open };
    expect(finishTakeOver(someRun({ ...active, ...run }), found)).not.toHaveProperty('state');
  });
});

describe('the end of a run', () => {
  it('is written once, with its failure, and says that names may have come since they were removed', () => {
    const failure = { class: 'data', code: 'steps-failed', message: '' } as const;
    const run = someRun({ state: 'delivering', namesBlankedAt: at - 1 });
    const end = { state: 'failed', failure, finishedAt: at, namesBlankedAt: null };
    expect(settleRun(run, { state: 'failed', failure, at })).toEqual(end);
    expect(settleRun(someRun({ state: 'succeeded' }), { state: 'failed', failure, at })).toBeUndefined();
  });

  it('keeps how implausible its result is, and how far its clock was ahead', () => {
    const found = { implausible: { affected: 9, judged: 10 }, clockLead: 60_000 };
    const run = someRun({ state: 'awaiting-result' });
    const end = { state: 'succeeded', failure: null, finishedAt: at };
    expect(settleRun(run, { state: 'succeeded', at, ...found })).toEqual({ ...end, ...found });
    expect(settleRun(run, { state: 'succeeded', at })).toStrictEqual(end);
  });

  it('by a new run leaves a success as it is, and fences whoever works on any other', () => {
    expect(cancelRun(someRun({ state: 'succeeded' }), at)).toEqual({});
    expect(cancelRun(someRun({ state: 'delivering', token: 3 }), at)).toEqual({
      state: 'cancelled',
      token: 4,
      finishedAt: at,
    });
  });

  it('by a person has a reason, and there is none for a run that is over', () => {
    const reason = 'the export was cut';
    expect(abandonRun(someRun({ state: 'failed' }), { reason, at })).toMatchObject({ cancelReason: reason });
    expect(abandonRun(someRun({ state: 'cancelled' }), { reason, at })).toBeUndefined();
  });
});

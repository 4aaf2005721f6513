import { describe, expect, it } from 'vitest';
import { decideOpening } from '../../../src/review/day/open-run.js';
import { planDay, rangeModes } from '../../../src/review/day/range-plan.js';
import { activeRunStates, type Run, type RunFailure, type RunState } from '../../../src/rules/run.js';
import { day } from '../late-days.js';
import { someRun } from '../some-run.js';

const noon = Date.parse('2026-11-20T11:00:00Z');
const ofToday = (changes: Partial<Run> = {}) =>
  someRun({ trigger: 'today', startedAt: noon, collectStartedAt: noon, ...changes } as Partial<Run>);
const unfinished: readonly RunState[] = [...activeRunStates, 'failed'];

describe('a run of today', () => {
  const open = (latest: Run | undefined, cronTimeAt?: number) =>
    decideOpening(latest, { mode: 'today', day, cronTimeAt });

  it('goes by body, and sends what is new since the last one', () => {
    expect(open(undefined)).toEqual({ kind: 'new', delivery: 'body' });
    expect(open(ofToday())).toEqual({ kind: 'new', topsUp: true, delivery: 'body' });
    expect(open(someRun({ delivery: 'file', collectStartedAt: noon }))).toEqual({
      kind: 'new',
      topsUp: true,
      delivery: 'body',
    });
  });

  it('has nothing to do in a cron time that is already done', () => {
    const latest = ofToday();
    expect(open(latest, noon)).toEqual({ kind: 'already-done', run: latest });
    expect(open(latest, noon + 1)).toMatchObject({ kind: 'new' });
  });

  it.each(unfinished)('resumes one that is %s', (state) => {
    const latest = ofToday({ state });
    expect(open(latest, noon)).toEqual({ kind: 'resume', run: latest });
  });

  it('leaves another active run alone, and does not wait for one that failed', () => {
    for (const state of activeRunStates)
      expect(open(someRun({ state }))).toMatchObject({ kind: 'already-done' });
    expect(open(someRun({ state: 'failed', delivery: 'file' }))).toMatchObject({ kind: 'new', topsUp: true });
  });

  it('leaves alone a day that a person cancelled', () => {
    expect(open(ofToday({ state: 'cancelled', cancelReason: 'test data' }))).toMatchObject({
      kind: 'already-done',
    });
  });

  it('keeps the number that the hook expected until a run has found it', () => {
    expect(open(someRun({ state: 'failed', expected: 12 }))).toMatchObject({ expected: 12 });
    expect(open(someRun({ expected: 1_000 }))).not.toHaveProperty('expected');
    expect(open(ofToday({ expected: 12 }))).toMatchObject({ expected: 12 });
    expect(decideOpening(ofToday({ expected: 12 }), { mode: 'run', day })).toMatchObject({ expected: 12 });
  });
});

it('leaves a run of its kind that needs a person, and reads a source again that was not right', () => {
  const open = (failure: Partial<RunFailure>) =>
    decideOpening(
      ofToday({ state: 'failed', failure: { class: 'fatal', code: 'http-401', message: '', ...failure } }),
      {
        ...{ mode: 'today', by: 'schedule', cronTimeAt: Number.POSITIVE_INFINITY, day },
      },
    ).kind;
  expect(open({})).toBe('already-done');
  expect(open({ class: 'refused', code: 'too-many-refused' })).toBe('already-done');
  expect(open({ class: 'retryable' })).toBe('resume');
  expect(open({ class: 'data', code: 'truncated' })).toBe('resume');
});

describe('after runs of today', () => {
  it('`run` tops up the day by the delivery that is configured or requested', () => {
    expect(decideOpening(ofToday(), { mode: 'run', day })).toEqual({ kind: 'new', topsUp: true });
    expect(decideOpening(ofToday(), { mode: 'run', day, delivery: 'file' })).toEqual({
      kind: 'new',
      topsUp: true,
    });
  });

  it.each(unfinished)('`run` takes over what a run of today that is %s has not sent', (state) => {
    const latest = ofToday({ state });
    expect(decideOpening(latest, { mode: 'run', day })).toEqual({
      kind: 'new',
      topsUp: true,
      replaces: latest.id,
    });
    expect(decideOpening(latest, { mode: 'replay', day })).toEqual({ kind: 'new', replaces: latest.id });
  });

  it('the day is missing rather than failed or done', () => {
    const plans = rangeModes.map((mode) => planDay(mode, ofToday({ state: 'failed' }), { day }).action);
    expect(Object.fromEntries(rangeModes.map((mode, at) => [mode, plans[at]]))).toEqual({
      missing: 'top-up',
      failed: 'nothing',
      all: 'new-run',
      late: 'top-up',
    });
  });
});

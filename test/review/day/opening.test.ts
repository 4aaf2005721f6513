import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { describeIncomparable } from '../../../src/review/collect/delivered-lines.js';
import { createRunId, type DayToOpen, decideOpening } from '../../../src/review/day/open-run.js';
import { activeRunStates, type Run, type RunState } from '../../../src/rules/run.js';
import { seededRandom } from '../../support/seed.js';
import { day } from '../late-days.js';
import { someRun } from '../some-run.js';

const unfinished: readonly RunState[] = [...activeRunStates, 'failed'];
const noon = Date.parse('2026-11-20T11:00:00Z');
const reason = 'a new export came';
const [id] = [someRun().id];
const ofToday = { trigger: 'today', startedAt: noon, collectStartedAt: noon } as const;
type Latest = Parameters<typeof someRun>[0];

/** What a request to a day decides, its latest run being as given. */
function open(latest: Latest, request: Partial<DayToOpen>) {
  const opening = decideOpening(latest && someRun(latest), { mode: 'run', day, ...request } as DayToOpen);
  const { run: _, ...others } = opening as { run?: unknown };
  return others;
}

const refused = (words: string) => ({ kind: 'usage-error', message: expect.stringContaining(words) });
const [done, resume, anew] = [{ kind: 'already-done' }, { kind: 'resume' }, { kind: 'new' }];
const topUp = (more: object = {}) => ({ kind: 'new', topsUp: true, ...more });

it('a request to resume a run that it names resumes it while it is active, and does nothing once it is over or replaced', () => {
  const request = { mode: 'resume', runId: id } as const;
  for (const state of activeRunStates) expect(open({ state }, request)).toEqual(resume);
  const over: Latest[] = [
    {},
    { state: 'failed' },
    { state: 'cancelled', cancelReason: 'a mistake' },
    { id: 'another', state: 'delivering' },
  ];
  for (const latest of over) expect(open(latest, request)).toEqual(done);
});

it('a result that has come resumes the run that lacks it, and no other that failed', () => {
  const request = { mode: 'resume', runId: id, by: 'result' } as const;
  const failedBy = (code: string) =>
    ({ state: 'failed', failure: { class: 'data', code, message: '' } }) as const;
  expect(open(failedBy('result-incomplete'), request)).toEqual(resume);
  expect(open(failedBy('truncated'), request)).toEqual(done);
});

describe('a day', () => {
  it('without a run, or with a cancelled one, gets a new one, which for late bookings leaves out what that had delivered', () => {
    for (const mode of ['run', 'replay', 'late'] as const) {
      expect(open(undefined, { mode })).toEqual(anew);
      expect(open({ state: 'cancelled' }, { mode })).toEqual(
        mode === 'late' ? topUp({ delivery: 'body' }) : anew,
      );
    }
  });

  it('whose run was cancelled while a call waited for it is left alone by that call, but not by a replay', () => {
    const cancelled = { state: 'cancelled' } as const;
    const before = [null, someRun({ state: 'delivering' }), someRun({ ...cancelled, id: 'an-earlier-run' })];
    for (const runBefore of before) {
      expect(open(cancelled, { runBefore })).toEqual(done);
      expect(open(cancelled, { runBefore, mode: 'replay' })).toEqual(anew);
    }
    expect(open(cancelled, { runBefore: someRun(cancelled) })).toEqual(anew);
  });

  it.each([
    ['body', 'file'],
    ['file', 'body'],
  ] as const)(
    'that is done by %s is left alone, sent again by a replay, and topped up by late bookings, the way it went',
    (delivery, other) => {
      expect(open({ delivery }, { delivery: other })).toEqual(done);
      expect(open({ delivery }, { mode: 'replay', delivery: other })).toEqual(anew);
      for (const asked of [undefined, delivery])
        expect(open({ delivery }, { mode: 'late', delivery: asked })).toEqual(topUp({ delivery }));
      expect(open({ delivery }, { mode: 'late', delivery: other, reason })).toEqual(
        refused(`delivered by ${delivery}, and late bookings must too, not by ${other}: omit --delivery`),
      );
    },
  );

  it('that held another number of records than the hook expects is topped up until it holds it', () => {
    for (const mode of ['run', 'late'] as const)
      expect(open({ expected: 12 }, { mode })).toEqual(topUp({ delivery: 'body', expected: 12 }));
    expect(open({ expected: 1_000 }, {})).toEqual(done);
  });

  it('that was collected before it ended, in its own zone, is topped up', () => {
    const collected = (collectStartedAt: number) => ({ collectStartedAt, delivery: 'file' as const });
    const last = day.lastInstant.getTime();
    for (const at of [day.firstInstant.getTime(), last]) {
      expect(open(collected(at), {})).toEqual(topUp({ delivery: 'file' }));
      expect(open(collected(at), { delivery: 'body' })).toMatchObject({ kind: 'usage-error' });
      expect(open({ ...collected(at), state: 'failed' }, {})).toEqual(resume);
    }
    expect(open(collected(last + 1), {})).toEqual(done);
    const inAzores = createBusinessDay(day.iso, 'Atlantic/Azores');
    expect(open(collected(last + 1), { day: inAzores })).toMatchObject({ topsUp: true });
  });

  it.each(unfinished)('whose run is %s is resumed, and abandoned only for a reason', (state) => {
    const latest = { state, delivery: 'body' } as const;
    for (const delivery of [undefined, 'body'] as const)
      expect(open(latest, { delivery, reason })).toEqual(resume);
    expect(open(latest, { delivery: 'file' })).toEqual(
      refused('delivers by body, not by file: omit --delivery'),
    );
    expect(open(latest, { mode: 'replay', delivery: 'file', reason })).toEqual({ ...anew, replaces: id });
    const late = { mode: 'late', reason } as const;
    expect(open(latest, late)).toEqual(topUp({ replaces: id, delivery: 'body' }));
    expect(open(latest, { ...late, delivery: 'file' })).toEqual(refused('delivered by body'));
    const advice = `is unfinished (${state}): \`run 2026-11-20\` resumes it; to abandon it and`;
    expect(open(latest, { mode: 'replay' })).toEqual(refused(`${advice} start over, give the reason`));
    expect(open(latest, { mode: 'late' })).toEqual(
      refused(`${advice} send what it has not delivered, give the reason`),
    );
  });
});

describe('a run of today', () => {
  const openToday = (latest: Latest, request: Partial<DayToOpen> = {}) =>
    open(latest, { mode: 'today', ...request } as Partial<DayToOpen>);

  it('goes by body, and sends what is new since the last one', () => {
    expect(openToday(undefined)).toEqual({ ...anew, delivery: 'body' });
    expect(openToday(ofToday)).toEqual(topUp({ delivery: 'body' }));
    const byFile = { delivery: 'file', collectStartedAt: noon } as const;
    expect(openToday(byFile)).toEqual(topUp({ delivery: 'body' }));
  });

  it('has nothing to do in a cron time that is already done', () => {
    expect(openToday(ofToday, { cronTimeAt: noon })).toEqual(done);
    expect(openToday(ofToday, { cronTimeAt: noon + 1 })).toMatchObject(anew);
  });

  it.each(unfinished)('resumes one that is %s, and `run` takes over what that has not sent', (state) => {
    expect(openToday({ ...ofToday, state }, { cronTimeAt: noon })).toEqual(resume);
    expect(open({ ...ofToday, state }, {})).toEqual(topUp({ replaces: id }));
    expect(open({ ...ofToday, state }, { mode: 'replay' })).toEqual({ ...anew, replaces: id });
  });

  it('leaves alone another active run, and a day that a person cancelled, but not one that failed', () => {
    for (const state of activeRunStates) expect(openToday({ state })).toMatchObject(done);
    const cancelled = { ...ofToday, state: 'cancelled', cancelReason: 'test data' } as const;
    expect(openToday(cancelled)).toMatchObject(done);
    expect(openToday({ state: 'failed', delivery: 'file' })).toMatchObject(topUp());
  });

  it('keeps the number that the hook expected until a run has found it', () => {
    expect(openToday({ state: 'failed', expected: 12 })).toMatchObject({ expected: 12 });
    expect(openToday({ expected: 1_000 })).not.toHaveProperty('expected');
    expect(openToday({ ...ofToday, expected: 12 })).toMatchObject({ expected: 12 });
    expect(open({ ...ofToday, expected: 12 }, {})).toMatchObject({ expected: 12 });
  });

  it.each<[NonNullable<Run['failure']>['class'], string, string]>([
    ['fatal', 'http-401', 'already-done'],
    ['refused', 'too-many-refused', 'already-done'],
    ['retryable', 'http-401', 'resume'],
    ['data', 'truncated', 'resume'],
  ])('that failed as %s (%s) needs a person, or is tried again: %s', (failureClass, code, kind) => {
    const failed = { state: 'failed', failure: { class: failureClass, code, message: '' } } as const;
    const request = { by: 'schedule', cronTimeAt: Number.POSITIVE_INFINITY } as const;
    expect(openToday({ ...ofToday, ...failed }, request)).toEqual({ kind });
  });

  it('is topped up by `run`, by the delivery that is configured or requested', () => {
    expect(open(ofToday, {})).toEqual(topUp());
    expect(open(ofToday, { delivery: 'file' })).toEqual(topUp());
  });
});

it('a day can be topped up unless a run that delivered something lost its names', () => {
  const blanked = someRun({ id: 'old', linesBlanked: true });
  const nothing = someRun({ linesBlanked: true, counts: { delivered: 0 } });
  expect(describeIncomparable([someRun(), someRun({ state: 'failed' }), nothing])).toBeUndefined();
  expect(describeIncomparable([someRun(), blanked])).toContain('those that run old delivered');
});

it("a run's name is its day and eight unambiguous characters, whatever the chance", () => {
  expect(createRunId(day, () => 0)).toBe('20261120-22222222');
  expect(createRunId(day, () => 1 - 2 ** -47)).toBe('20261120-zzzzzzzz');
  const random = seededRandom();
  const ids = Array.from({ length: 1_000 }, () => createRunId(day, random));
  for (const one of ids) expect(one).toMatch(/^20261120-[2-9bcdfghjkmnpqrstvwxz]{8}$/);
  expect(new Set(ids).size).toBe(1_000);
});

import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { describeIncomparable } from '../../../src/review/collect/delivered-lines.js';
import { createRunId, type DayToOpen, decideOpening } from '../../../src/review/day/open-run.js';
import { activeRunStates, type DeliveryKind, type RunState } from '../../../src/rules/run.js';
import { seededRandom } from '../../support/seed.js';
import { someRun } from '../some-run.js';

const unfinished: readonly RunState[] = [...activeRunStates, 'failed'];
const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const reason = 'a new export came';
const [id] = [someRun().id];

/** What a request to a day decides, its latest run being as given. */
function open(latest: Parameters<typeof someRun>[0] | undefined, request: Partial<DayToOpen>) {
  const opening = decideOpening(latest && someRun(latest), { mode: 'run', day, ...request } as DayToOpen);
  const { run: _, ...others } = opening as { run?: unknown };
  return others;
}

const refused = (words: string) => ({ kind: 'usage-error', message: expect.stringContaining(words) });

it('a request to resume a run that it names resumes it while it is active, and does nothing once it is over or replaced', () => {
  const request = { mode: 'resume', runId: id } as const;
  for (const state of activeRunStates) expect(open({ state }, request)).toEqual({ kind: 'resume' });
  for (const latest of [
    {},
    { state: 'failed' },
    { state: 'cancelled', cancelReason: 'a mistake' },
    { id: 'another', state: 'delivering' },
  ] as const)
    expect(open(latest, request)).toEqual({ kind: 'already-done' });
});

describe('a day', () => {
  it('without a run, or with a cancelled one, gets a new one, which for late bookings leaves out what that had delivered', () => {
    for (const mode of ['run', 'replay', 'late'] as const) {
      expect(open(undefined, { mode })).toEqual({ kind: 'new' });
      expect(open({ state: 'cancelled' }, { mode })).toEqual(
        mode === 'late' ? { kind: 'new', topsUp: true, delivery: 'body' } : { kind: 'new' },
      );
    }
  });

  it('whose run was cancelled while a call waited for it is left alone by that call, but not by a replay', () => {
    const cancelled = someRun({ state: 'cancelled' });
    for (const runBefore of [
      null,
      someRun({ state: 'delivering' }),
      { ...cancelled, id: 'an-earlier-run' },
    ]) {
      expect(open(cancelled, { runBefore })).toEqual({ kind: 'already-done' });
      expect(open(cancelled, { runBefore, mode: 'replay' })).toEqual({ kind: 'new' });
    }
    expect(open(cancelled, { runBefore: cancelled })).toEqual({ kind: 'new' });
  });

  it('that is done is left alone, sent again by a replay, and topped up by late bookings, the way it went', () => {
    for (const delivery of ['body', 'file'] as const) {
      const other: DeliveryKind = delivery === 'body' ? 'file' : 'body';
      expect(open({ delivery }, { delivery: other })).toEqual({ kind: 'already-done' });
      expect(open({ delivery }, { mode: 'replay', delivery: other })).toEqual({ kind: 'new' });
      for (const asked of [undefined, delivery])
        expect(open({ delivery }, { mode: 'late', delivery: asked })).toEqual({
          ...{ kind: 'new', topsUp: true, delivery },
        });
      expect(open({ delivery }, { mode: 'late', delivery: other, reason })).toEqual(
        refused(`delivered by ${delivery}, and late bookings must too, not by ${other}: omit --delivery`),
      );
    }
  });

  it('that was collected before it ended, in its own zone, is topped up', () => {
    const collected = (collectStartedAt: number) => ({ collectStartedAt, delivery: 'file' as const });
    const last = day.lastInstant.getTime();
    for (const at of [day.firstInstant.getTime(), last]) {
      expect(open(collected(at), {})).toEqual({ kind: 'new', topsUp: true, delivery: 'file' });
      expect(open(collected(at), { delivery: 'body' })).toMatchObject({ kind: 'usage-error' });
      expect(open({ ...collected(at), state: 'failed' }, {})).toEqual({ kind: 'resume' });
    }
    expect(open(collected(last + 1), {})).toEqual({ kind: 'already-done' });
    const inAzores = createBusinessDay(day.iso, 'Atlantic/Azores');
    expect(open(collected(last + 1), { day: inAzores })).toMatchObject({ topsUp: true });
  });

  it.each(unfinished)('whose run is %s is resumed, and abandoned only for a reason', (state) => {
    const latest = { state, delivery: 'body' } as const;
    for (const delivery of [undefined, 'body'] as const)
      expect(open(latest, { delivery, reason })).toEqual({ kind: 'resume' });
    expect(open(latest, { delivery: 'file' })).toEqual(
      refused('delivers by body, not by file: omit --delivery'),
    );
    expect(open(latest, { mode: 'replay', delivery: 'file', reason })).toEqual({ kind: 'new', replaces: id });
    const late = { mode: 'late', reason } as const;
    expect(open(latest, late)).toEqual({ kind: 'new', replaces: id, topsUp: true, delivery: 'body' });
    expect(open(latest, { ...late, delivery: 'file' })).toEqual(refused('delivered by body'));
    for (const [mode, purpose] of [
      ['replay', 'start over'],
      ['late', 'send what it has not delivered'],
    ] as const)
      expect(open(latest, { mode })).toEqual(
        refused(
          `is unfinished (${state}): \`run --day 2026-11-20\` resumes it; to abandon it and ${purpose}, give the reason`,
        ),
      );
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

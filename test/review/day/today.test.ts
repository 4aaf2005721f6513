import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guestNameChoices } from '../../../src/booking/guest-names.js';
import { batchStreams } from '../../../src/booking/sending.js';
import { decideOpening } from '../../../src/review/day/open-run.js';
import { planDay, rangeModes } from '../../../src/review/day/range-plan.js';
import { hasNews } from '../../../src/rules/good-day.js';
import {
  activeRunStates,
  type DeliveryKind,
  type Run,
  type RunFailure,
  type RunState,
} from '../../../src/rules/run.js';
import { newRun } from '../../contracts/ledger/days.js';
import { record } from '../array-source.js';
import { collectAgain, day, deliverRun, type LateDay, storedReferences, whole } from '../late-days.js';
import { outcomeOf } from '../outcome/some-outcome.js';
import { someRun } from '../some-run.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

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

  it('their bookings have verdicts by e-mail only', () => {
    const verdicts = { affected: 2, unanswered: 0, unclear: 0, malformed: 0 };
    const night = someRun({
      topsUp: true,
      delivery: 'file',
      file: { rows: 5, verdicts },
      counts: { affected: 2 },
    });
    const runs = [
      night,
      ofToday({ id: 'b', topsUp: true, counts: { accepted: 3, affected: null } } as Partial<Run>),
      ofToday({ id: 'a', counts: { accepted: 4, affected: null } } as Partial<Run>),
    ];
    expect(outcomeOf(runs)).toMatchObject({ knowledge: 'judged', affected: 2, posted: 7 });
    expect(outcomeOf(runs.slice(1))).toMatchObject({
      knowledge: 'by-email',
      affected: null,
    });
  });
});

describe('a list of runs', () => {
  it('leaves out a run of today that had nothing to send', () => {
    expect(hasNews(ofToday())).toBe(true);
    expect(hasNews(someRun({ counts: { accepted: 0 } } as Partial<Run>))).toBe(true);
    expect(hasNews(ofToday({ counts: { accepted: 0 } } as Partial<Run>))).toBe(false);
    expect(hasNews(ofToday({ state: 'failed', counts: { accepted: 0 } } as Partial<Run>))).toBe(true);
  });
});

/** What happens on a day before its night: a booking arrives, or a run sends what is there. */
type Happening =
  | { readonly kind: 'booked'; readonly isWhole: boolean }
  | { readonly kind: 'today'; readonly fails: boolean }
  | { readonly kind: 'by hand'; readonly delivery: DeliveryKind };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('booked' as const), isWhole: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('today' as const), fails: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('by hand' as const),
      delivery: fc.constantFrom('body' as const, 'file' as const),
    }),
  },
);

describe('whatever happened during the day', () => {
  it('each booking is delivered by its night, none that runs of today sent is sent again, and only then is the day good', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(happening, { minLength: 4, maxLength: 12 }),
        fc.constantFrom('body' as const, 'file' as const),
        fc.constantFrom(...guestNameChoices),
        async (happenings, nightly, names) => {
          const world = await createWorld(names);
          for (const one of happenings) {
            if (one.kind === 'booked') world.book(one.isWhole);
            else if (one.kind === 'today') await world.reviewToday(one.fails);
            else await world.run('manual', one.delivery, noon);
            expect((await world.summarise()).lastGoodDay).toBeUndefined();
          }
          const before = [...world.byToday].map((reference) => [reference, world.delivered.get(reference)]);
          const night = await world.run('schedule', nightly, day.next().firstInstant.getTime() + 1);
          expect((await world.summarise()).lastGoodDay).toBe(day.iso);
          expect([...world.delivered.keys()].sort()).toEqual(world.references.toSorted());
          // Only a file that replaces an earlier one of the day repeats what was delivered.
          for (const [reference, times] of before)
            expect([reference, world.delivered.get(`${reference}`)]).toEqual([reference, times]);
          expect(night.counts.pending).toBe(0);
        },
      ),
      { numRuns: 40 },
    ));
});

async function createWorld(guestNames: NonNullable<LateDay['names']>) {
  const ledger = await openTemporaryLedger();
  const records: ReturnType<typeof record>[] = [];
  const delivered = new Map<string, number>();
  const byToday = new Set<string>();
  let runs = 0;

  async function perform(run: Run, startedAt: number, fails: boolean): Promise<Run> {
    const late: LateDay = { ledger, kind: run.delivery, batchSize: 2, names: guestNames };
    const collected =
      run.collectedAt === undefined
        ? await collectAgain(late, run, records, { clock: () => startedAt })
        : run;
    const isSent = async (stream: 'posted' | 'file') => {
      const references = await storedReferences(ledger, run.id, stream);
      return fails && stream === 'posted' ? references.slice(2) : references;
    };
    const before = new Set(
      run.collectedAt === undefined ? [] : (await storedReferences(ledger, run.id, 'posted')).slice(2),
    );
    await deliverRun(ledger, collected, fails ? ['batch 0'] : []);
    for (const stream of batchStreams)
      for (const reference of await isSent(stream)) {
        if (before.has(reference)) continue;
        delivered.set(reference, (delivered.get(reference) ?? 0) + 1);
        if (run.trigger === 'today') byToday.add(reference);
        else byToday.delete(reference);
      }
    return ledger.runs.get(run.id);
  }

  async function open(
    mode: 'run' | 'today',
    trigger: Run['trigger'],
    configured: DeliveryKind,
    startedAt: number,
  ) {
    const opening = decideOpening(await ledger.runs.latest(day.iso), { mode, day });
    if (opening.kind === 'resume') return ledger.runs.takeOver(opening.run.id);
    if (opening.kind !== 'new') throw new Error(`unexpected: ${opening.kind}`);
    runs += 1;
    const { replaces, topsUp, delivery = configured } = opening;
    return ledger.runs.create(
      newRun(`r${runs}`, {
        trigger,
        delivery,
        startedAt,
        ...(replaces && { replaces }),
        ...(topsUp && { topsUp }),
      }),
    );
  }

  return {
    delivered,
    byToday,
    get references() {
      return records.map((_, index) => `BR-${index}`);
    },
    summarise: () => ledger.runs.summarise(day.next()),
    book(isWhole: boolean): void {
      records.push(isWhole ? whole(records.length) : record(records.length));
    },
    reviewToday: async (fails: boolean) => perform(await open('today', 'today', 'body', noon), noon, fails),
    run: async (trigger: Run['trigger'], delivery: DeliveryKind, startedAt: number) =>
      perform(await open('run', trigger, delivery, startedAt), startedAt, false),
  };
}

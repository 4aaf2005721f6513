import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CaseStay, type HeldCase, isActiveCase, mappingStates } from '../../src/rules/case.js';
import {
  addStays,
  applyCommand,
  applyEvidence,
  applyMoves,
  applyVersions,
  type Evidence,
  escalateIfDue,
  type NewerVersion,
  noteCorrect,
  resolveBookings,
  toDecision,
} from '../../src/rules/case-transitions.js';

const day = '2026-11-20';
const key = { id: 1, providerName: 'hotelbeds', providerHotelId: '007', serviceId: 7 };

const stayOf = (reference: string | undefined, changes: Partial<CaseStay> = {}): CaseStay => ({
  ...(reference !== undefined && { reference }),
  checkIn: '2026-12-01',
  checkOut: '2026-12-05',
  day,
  ...changes,
});

function evidenceOf(references: readonly string[], changes: Partial<Evidence> = {}): Evidence {
  return {
    origin: 'affected',
    at: 100,
    references: new Set(references),
    isBookedInCopy: true,
    stays: references.map((reference) => stayOf(reference)),
    ...changes,
  };
}

function apply(held: HeldCase | undefined, evidence: Evidence, now = evidence.at): HeldCase {
  const next = applyEvidence(held, evidence, now);
  if (!next) throw new Error('expected a case, got: none');
  return next === held ? held : { ...key, ...next };
}

const opened = (changes: Partial<Evidence> = {}) => apply(undefined, evidenceOf(['BR-1'], changes));
const closedBy = (command: 'dismiss', held: HeldCase, now = 200) => {
  const next = applyCommand(held, command, now);
  if (!next) throw new Error(`expected ${command} to be allowed, got: refused`);
  return next;
};

describe('evidence', () => {
  it('opens a case with every upcoming stay, and none without an upcoming stay', () => {
    const held = opened({ stays: [stayOf('BR-1'), stayOf('BR-2'), stayOf(undefined)] });
    expect(held).toMatchObject({ state: 'open', origins: ['affected'], evidenceAt: 100 });
    expect(held.bookings).toMatchObject([
      { place: 1, reference: 'BR-1', isNamed: true },
      { place: 2, reference: 'BR-2', isNamed: false },
      { place: 3, isNamed: false },
    ]);
    expect(applyEvidence(undefined, evidenceOf([]), 100)).toBeUndefined();
  });

  it.each([
    ['affected', true],
    ['email', true],
    ['suspect', false],
    ['watch', false],
  ] as const)(
    'of %s names its bookings: %s, also one that is on the mapping no longer',
    (origin, isNamed) => {
      expect(opened({ origin }).bookings).toMatchObject([{ isNamed }]);
      const held = opened({ origin: 'suspect', stays: [stayOf('BR-1'), stayOf('BR-2'), stayOf(undefined)] });
      const named = apply(held, evidenceOf(['BR-1'], { origin, stays: [] }));
      expect(named.bookings).toMatchObject([{ isNamed }, { isNamed: false }, { isNamed: false }]);
      expect(apply(named, evidenceOf(['BR-1'], { origin, stays: [] }))).toBe(named);
    },
  );

  it.each(['affected', 'email'] as const)(
    'reopens a closed case by %s only if it names a booking that was not in it when it was closed',
    (origin) => {
      const dismissed = closedBy('dismiss', opened());
      const repeated = apply(dismissed, evidenceOf(['BR-1'], { origin, at: 300 }));
      expect(repeated.state).toBe('dismissed');
      const unnamed = { origin, at: 300, stays: [stayOf('BR-1'), stayOf('BR-2')] };
      expect(apply(dismissed, evidenceOf(['BR-1'], unnamed)).state).toBe('dismissed');
      const renewed = apply(dismissed, evidenceOf(['BR-1', 'BR-2'], { origin, at: 300 }));
      expect(renewed).toMatchObject({ state: 'open', stateSince: 300, evidenceAt: 300 });
      expect(renewed.bookings).toHaveLength(2);
    },
  );

  it('that names a booking of a corrected case for the first time reopens it if the copy is as booked again', () => {
    const corrected = applyMoves(opened(), [{ to: 8, seenAt: 150 }], 200);
    const joined = apply(corrected, evidenceOf(['BR-2'], { origin: 'suspect', at: 300 }));
    const booked = apply(joined, evidenceOf(['BR-2'], { at: 400, isBookedInCopy: false }));
    expect(booked).toMatchObject({ state: 'corrected', bookings: [{}, { isNamed: true }] });
    const named = apply(joined, evidenceOf(['BR-2'], { at: 400 }));
    expect(named.state).toBe('open');
    expect(named.correctedBy).toBeUndefined();
  });

  it('of the watch reopens a case only for a move after the one that closed it', () => {
    const watch = { origin: 'watch', move: 're-pointed' } as const;
    const corrected = applyMoves(opened(), [{ to: 8, seenAt: 150 }], 200);
    expect(apply(corrected, evidenceOf([], { ...watch, at: 150, stays: [stayOf('BR-1')] })).state).toBe(
      'corrected',
    );
    expect(
      apply(corrected, evidenceOf([], { ...watch, at: 180, stays: [stayOf('BR-1')] }), 210),
    ).toMatchObject({ state: 'open', evidenceAt: 180, move: 're-pointed' });
  });
});

describe('the origin of a case', () => {
  const watch = { origin: 'watch', move: 'unmapped' } as const;

  it('is added once, and the watch brings its move and its moment', () => {
    const joined = apply(opened(), evidenceOf(['BR-1'], { ...watch, at: 150 }));
    expect(joined).toMatchObject({ origins: ['affected', 'watch'], move: 'unmapped', watchedSince: 150 });
    expect(apply(opened(), evidenceOf(['BR-1'], { origin: 'suspect' })).watchedSince).toBeUndefined();
  });

  it('stays as it is when the same is found again, and takes on another move since the first', () => {
    const held = opened(watch);
    expect(apply(held, evidenceOf(['BR-1'], { ...watch, at: 150 }))).toBe(held);
    expect(apply(held, evidenceOf(['BR-1'], { origin: 'watch', at: 150 }))).toBe(held);
    const merged = apply(held, evidenceOf(['BR-1'], { ...watch, move: 'merged', at: 150 }));
    expect(merged).toMatchObject({ origins: ['watch'], move: 'merged', watchedSince: 100 });
  });
});

describe('a closed case', () => {
  const corrected = () => applyMoves(opened(), [{ to: 8, seenAt: 150 }], 200);

  it('that was dismissed is reopened by a new booking, whatever the copy has', () => {
    const verdict = evidenceOf(['BR-2'], { at: 300, isBookedInCopy: false });
    expect(apply(closedBy('dismiss', opened()), verdict).state).toBe('open');
  });

  it('is not reopened by a booking that came in the moment it was closed', () => {
    const joined = apply(opened(), evidenceOf(['BR-2'], { at: 200 }));
    const dismissed = closedBy('dismiss', joined, 200);
    expect(apply(dismissed, evidenceOf(['BR-2'], { at: 300 })).state).toBe('dismissed');
  });

  it('that the watch reopens is known to it since then, and since before if something else reopens it', () => {
    const watch = { origin: 'watch', move: 'unmapped' } as const;
    const dismissed = closedBy('dismiss', opened(watch));
    expect(apply(dismissed, evidenceOf(['BR-1'], { ...watch, at: 300 }))).toMatchObject({
      ...{ state: 'open', watchedSince: 300 },
    });
    expect(apply(dismissed, evidenceOf(['BR-2'], { at: 300 }))).toMatchObject({
      ...{ state: 'open', watchedSince: 100 },
    });
  });

  it('is not reopened by the watch if nobody has a stay there', () => {
    const watched = evidenceOf([], { origin: 'watch', move: 'unmapped', at: 180 });
    expect(apply(corrected(), watched, 210).state).toBe('corrected');
  });

  it('that was corrected takes in the bookings that a verdict names, and no others', () => {
    const stays = [stayOf('BR-2'), stayOf('BR-3'), stayOf(undefined)];
    const joined = apply(corrected(), evidenceOf(['BR-2'], { at: 300, isBookedInCopy: false, stays }));
    expect(joined.bookings.map(({ reference }) => reference)).toEqual(['BR-1', 'BR-2']);
  });
});

describe('a move of the mapping', () => {
  it('corrects a case if it happened after the evidence, whatever was done before', () => {
    const held = opened();
    expect(applyMoves(held, [{ to: 8, seenAt: 100 }], 200)).toBe(held);
    for (const state of ['open', 'reported', 'escalated'] as const)
      expect(applyMoves({ ...held, state }, [{ to: 8, seenAt: 101 }], 200)).toMatchObject({
        state: 'corrected',
        correctedBy: 101,
        stateSince: 200,
      });
    const dismissed = closedBy('dismiss', held);
    expect(applyMoves(dismissed, [{ to: 8, seenAt: 300 }], 400)).toBe(dismissed);
  });

  it('is the last of several that corrects a case, so that an earlier one does not reopen it', () => {
    const moves = [150, 170, 160].map((seenAt) => ({ to: 8, seenAt }));
    expect(applyMoves(opened(), moves, 200).correctedBy).toBe(170);
  });

  it('that deletes it corrects a case, unless the watch had opened it before, whatever else it was meanwhile', () => {
    const deletion = [{ seenAt: 150 }];
    expect(applyMoves(opened(), deletion, 200).state).toBe('corrected');
    const watched = opened({ origin: 'watch', move: 'unmapped' });
    expect(applyMoves(watched, deletion, 200)).toBe(watched);
    expect(applyMoves(watched, [...deletion, { to: 7, seenAt: 160 }], 200).state).toBe('corrected');
    const toAnother = applyMoves(watched, [{ to: 7, seenAt: 150 }, ...deletion], 200);
    expect(toAnother).toBe(watched);
    const both = apply(opened(), evidenceOf(['BR-1'], { origin: 'watch', move: 'unmapped', at: 150 }));
    expect(applyMoves(both, deletion, 200).state).toBe('corrected');
    const again = apply(watched, evidenceOf(['BR-1'], { origin: 'watch', move: 'unmapped', at: 150 }));
    expect(applyMoves(again, deletion, 200).state).toBe('open');
  });
});

describe('a newer version of a booking', () => {
  const newer = (changes: Partial<NewerVersion>): NewerVersion => ({
    isHere: true,
    ...stayOf('BR-1', { day: '2026-11-21' }),
    reference: 'BR-1',
    ...changes,
  });

  it('with another hotel resolves the booking as rebooked, names the day, and is undone when it comes back', () => {
    const left = applyVersions(opened(), [newer({ isHere: false })], 300);
    expect(left.bookings[0]?.resolved).toEqual({
      as: 'rebooked',
      at: 300,
      note: 'another hotel in the bookings of 2026-11-21',
      isAutomatic: true,
    });
    expect(left.state).toBe('open');
    const back = applyVersions(left, [newer({ day: '2026-11-22', isHere: true })], 400);
    expect(back.bookings[0]?.resolved).toBeUndefined();
  });

  it('changes nothing that a person resolved, and nothing if it is older', () => {
    const resolved = resolveBookings(
      opened(),
      { places: new Set([1]), as: 'confirmed', note: 'called' },
      200,
    );
    expect(applyVersions(resolved, [newer({ isHere: false })], 300)).toBe(resolved);
    const held = opened();
    expect(applyVersions(held, [newer({ day: '2026-11-19', isHere: false })], 300)).toBe(held);
  });
});

describe('a result that calls bookings correct', () => {
  const references = new Set(['BR-1', 'BR-2', 'BR-9']);

  it('is noted at those that were named, once for each run, and resolves none', () => {
    const held = apply(opened(), evidenceOf([], { origin: 'suspect', stays: [stayOf('BR-2')] }));
    const noted = noteCorrect(held, { references, runId: 'r2' });
    expect(noted).toEqual({
      ...held,
      bookings: [{ ...held.bookings[0], calledCorrectBy: 'r2' }, held.bookings[1]],
    });
    expect(noteCorrect(noted, { references, runId: 'r2' })).toBe(noted);
    expect(noteCorrect(noted, { references, runId: 'r3' }).bookings[0]?.calledCorrectBy).toBe('r3');
  });
});

it('what was reported and not corrected in time is escalated', () => {
  const reported: HeldCase = { ...opened(), state: 'reported', stateSince: 200 };
  expect(escalateIfDue(reported, 50, 249)).toBe(reported);
  expect(escalateIfDue(reported, 50, 250)).toMatchObject({ state: 'escalated', stateSince: 250 });
  const held = opened();
  expect(escalateIfDue(held, 50, 999)).toBe(held);
});

describe('a command', () => {
  it('reports what is active, dismisses anything, and reopens anything, so that only later moves correct it', () => {
    for (const state of mappingStates) {
      const held = { ...opened(), state };
      expect(applyCommand(held, 'report', 300)?.state).toBe(isActiveCase(held) ? 'reported' : undefined);
      expect(applyCommand(held, 'dismiss', 300)?.state).toBe('dismissed');
      expect(applyCommand(held, 'reopen', 300)?.state).toBe('open');
    }
    const reopened = applyCommand(closedBy('dismiss', opened()), 'reopen', 300);
    expect(reopened && applyMoves(reopened, [{ to: 8, seenAt: 250 }], 400)).toBe(reopened);
  });

  it.each([
    ['report', 'reported'],
    ['dismiss', 'dismissed'],
    ['reopen', 'open'],
  ] as const)('%s changes nothing the second time, not even the moment', (command, state) => {
    const held: HeldCase = { ...opened(), state };
    expect(applyCommand(held, command, 300)).toBe(held);
  });
});

it('what a person says of bookings is kept with its moment, and needs no note', () => {
  const { bookings } = resolveBookings(opened(), { places: new Set([1]), as: 'confirmed' }, 200);
  expect(bookings[0]?.resolved).toEqual({ as: 'confirmed', at: 200, isAutomatic: false });
});

describe('what a store writes', () => {
  const actions = [{ who: 'ana', at: 300, action: 'case-dismissed' as const }];

  it('is nothing if nothing changes', () => {
    const held = opened();
    expect(toDecision(held, held, actions)).toBeUndefined();
  });

  it('is the whole of a new case', () => {
    const { id: _, providerName: __, providerHotelId: ___, serviceId: ____, ...content } = opened();
    const { bookings, ...row } = content;
    expect(toDecision(undefined, content, actions)).toEqual({ case: row, bookings, actions });
  });

  it('is, of a known case, its row and the bookings that are new or changed', () => {
    const held = opened({ stays: [stayOf('BR-1'), stayOf('BR-2')] });
    const next = addStays(
      resolveBookings(held, { places: new Set([2]), as: 'confirmed' }, 300),
      { stays: [stayOf('BR-3')], references: new Set() },
      300,
    );
    const decision = toDecision(held, next, actions);
    expect(decision?.case).toMatchObject({ state: 'open', stateSince: 100 });
    expect(decision?.case).not.toHaveProperty('bookings');
    expect(decision?.bookings.map(({ place }) => place)).toEqual([2, 3]);
    expect(decision?.actions).toBe(actions);
  });
});

describe('any history', () => {
  const references = fc.uniqueArray(fc.constantFrom('BR-1', 'BR-2', 'BR-3', 'BR-4'), { minLength: 1 });
  const steps = fc.oneof(
    fc
      .record({
        origin: fc.constantFrom('affected', 'email', 'suspect', 'watch'),
        references,
        extra: fc.nat({ max: 2 }),
      })
      .map((step) => ({ kind: 'evidence' as const, ...step })),
    fc.constantFrom('report', 'dismiss', 'reopen').map((command) => ({ kind: 'command' as const, command })),
    fc.option(fc.nat({ max: 9 }), { nil: undefined }).map((to) => ({ kind: 'move' as const, to })),
    fc.record({ references, isHere: fc.boolean() }).map((step) => ({ kind: 'version' as const, ...step })),
    fc
      .record({ place: fc.nat({ max: 4 }), as: fc.constantFrom('rebooked', 'confirmed', 'cancelled') })
      .map((step) => ({ kind: 'resolve' as const, ...step })),
    fc.constant({ kind: 'escalate' as const }),
  );

  function play(
    held: HeldCase,
    step: typeof steps extends fc.Arbitrary<infer Step> ? Step : never,
    now: number,
  ) {
    switch (step.kind) {
      case 'evidence': {
        const without = Array.from({ length: step.extra }, () => stayOf(undefined));
        const evidence = evidenceOf(step.references, { origin: step.origin as never, at: now });
        return apply(held, { ...evidence, stays: [...evidence.stays, ...without] });
      }
      case 'command':
        return applyCommand(held, step.command as never, now) ?? held;
      case 'move':
        return applyMoves(held, [{ seenAt: now, ...(step.to !== undefined && { to: step.to }) }], now);
      case 'version': {
        const versions = step.references.map((reference) => ({
          ...stayOf(reference, { day: `2026-12-${String(now % 20).padStart(2, '0')}` }),
          reference,
          isHere: step.isHere,
        }));
        return applyVersions(held, versions, now);
      }
      case 'resolve':
        return resolveBookings(held, { places: new Set([step.place]), as: step.as as never }, now);
      case 'escalate':
        return escalateIfDue(held, 3, now);
    }
  }

  it('keeps the mapping and the bookings apart, each booking once, and repeats nothing', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 30 }), (history) => {
        let held = opened();
        for (const [index, step] of history.entries()) {
          const now = 101 + index;
          const next = play(held, step, now);
          const places = next.bookings.map(({ place }) => place);
          expect(new Set(places).size).toBe(places.length);
          const known = next.bookings.flatMap(({ reference }) => reference ?? []);
          expect(new Set(known).size).toBe(known.length);
          expect(next.bookings.length).toBeGreaterThanOrEqual(held.bookings.length);
          if (['command', 'move', 'escalate'].includes(step.kind)) expect(next.bookings).toBe(held.bookings);
          if (['version', 'resolve'].includes(step.kind)) expect(next.state).toBe(held.state);
          if (next.state === 'corrected') expect(next.correctedBy).toBeGreaterThan(next.evidenceAt);
          else expect(next.correctedBy).toBeUndefined();
          if (step.kind === 'evidence') expect(play(next, step, now)).toBe(next);
          held = next;
        }
      }),
    );
  });
});

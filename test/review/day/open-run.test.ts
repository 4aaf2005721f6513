import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { describeIncomparable } from '../../../src/review/collect/delivered-lines.js';
import { type DayToOpen, decideOpening } from '../../../src/review/day/open-run.js';
import type { RunState } from '../../../src/rules/run.js';
import { someRun } from '../some-run.js';

const unfinished: readonly RunState[] = ['collecting', 'delivering', 'awaiting-result', 'failed'];
const deliveries = [undefined, 'body', 'file'] as const;
const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const reasons = [undefined, 'a new export came'] as const;

describe('a request to resume a run that it names', () => {
  const request = { mode: 'resume', runId: 'run-1', day } as const;

  it.each(unfinished.filter((state) => state !== 'failed'))('resumes it while it is %s', (state) => {
    const latest = someRun({ id: 'run-1', state });
    expect(decideOpening(latest, request)).toEqual({ kind: 'resume', run: latest });
  });

  it.each([
    ['it has succeeded', someRun({ id: 'run-1' })],
    ['it has failed', someRun({ id: 'run-1', state: 'failed' })],
    ['it was cancelled', someRun({ id: 'run-1', state: 'cancelled', cancelReason: 'a mistake' })],
    ['another run has replaced it', someRun({ id: 'run-2', state: 'delivering' })],
  ])('does nothing once %s', (_, latest) => {
    expect(decideOpening(latest, request)).toEqual({ kind: 'already-done', run: latest });
  });
});

describe('of a day', () => {
  it.each(allRequests())('that has no run yet, %s creates one', (_, request) => {
    expect(decideOpening(undefined, request)).toEqual({ kind: 'new' });
  });

  it.each(allRequests().filter(([, { mode, delivery }]) => mode !== 'late' || delivery !== 'file'))(
    'whose latest run was cancelled, %s creates a new one',
    (_, request) => {
      expect(decideOpening(someRun({ state: 'cancelled' }), request)).toMatchObject({ kind: 'new' });
    },
  );

  it.each([
    ['had no run when the call began to wait', null],
    ['had that run at work', someRun({ state: 'delivering' })],
    ['had another cancelled run', someRun({ id: 'an-earlier-run', state: 'cancelled' })],
  ])('that %s, and was cancelled meanwhile, is left alone by run', (_, runBefore) => {
    const latest = someRun({ state: 'cancelled' });
    const request = { mode: 'run', day, runBefore } as const;
    expect(decideOpening(latest, request)).toEqual({ kind: 'already-done', run: latest });
    expect(decideOpening(latest, { ...request, mode: 'replay' })).toEqual({ kind: 'new' });
    expect(decideOpening(latest, { ...request, runBefore: latest })).toEqual({ kind: 'new' });
  });

  it.each(allRequests('late').filter(([, { delivery }]) => delivery !== 'file'))(
    'whose latest run was cancelled, %s excludes what it had delivered',
    (_, request) => {
      expect(decideOpening(someRun({ state: 'cancelled' }), request)).toEqual({
        kind: 'new',
        topsUp: true,
        delivery: 'body',
      });
    },
  );

  it.each(allRequests('run'))('that is done, %s does nothing', (_, request) => {
    const latest = someRun({ state: 'succeeded' });
    expect(decideOpening(latest, request)).toEqual({ kind: 'already-done', run: latest });
  });

  it.each(allRequests('replay'))(
    'that is done, %s creates a new run and leaves the old one',
    (_, request) => {
      expect(decideOpening(someRun({ state: 'succeeded' }), request)).toEqual({ kind: 'new' });
    },
  );

  describe.each(['body', 'file'] as const)('that was delivered by %s, once', (before) => {
    const other = before === 'body' ? 'file' : 'body';
    const ofSame = allRequests('late').filter(([, { delivery }]) => delivery !== other);
    const ofOther = allRequests('late').filter(([, { delivery }]) => delivery === other);
    const latest = someRun({ state: 'succeeded', delivery: before });

    it.each(ofSame)('%s tops it up by the same delivery', (_, request) => {
      expect(decideOpening(latest, request)).toEqual({ kind: 'new', topsUp: true, delivery: before });
    });

    it.each(ofOther)('%s is refused: a booking has a different line in it', (_, request) => {
      expect(decideOpening(latest, request)).toEqual({
        kind: 'usage-error',
        message:
          `run 20261120-k3f9xq7d of 2026-11-20 delivered by ${before}, and late bookings must too, not by ${other}: ` +
          `omit --delivery, or send the whole day again with \`replay 2026-11-20 --delivery ${other}\``,
      });
    });
  });

  describe('that was collected before it ended', () => {
    const runs = [day.firstInstant.getTime(), day.lastInstant.getTime()].map((collectStartedAt) =>
      someRun({ state: 'succeeded', collectStartedAt, delivery: 'file' }),
    );

    it.each(runs)('and is otherwise done, `run` tops it up', (latest) => {
      const request = { mode: 'run', day } as const;
      expect(decideOpening(latest, request)).toEqual({ kind: 'new', topsUp: true, delivery: 'file' });
      expect(decideOpening(latest, { ...request, delivery: 'body' }).kind).toBe('usage-error');
    });

    it('and after it ended, is done', () => {
      const latest = someRun({ state: 'succeeded', collectStartedAt: day.lastInstant.getTime() + 1 });
      expect(decideOpening(latest, { mode: 'run', day }).kind).toBe('already-done');
    });

    it('in one time zone and after it ended in another, is done only in the latter', () => {
      const latest = someRun({ state: 'succeeded', collectStartedAt: day.lastInstant.getTime() + 1 });
      const inAzores = createBusinessDay(day.iso, 'Atlantic/Azores');
      expect(decideOpening(latest, { mode: 'run', day: inAzores })).toMatchObject({ topsUp: true });
    });

    it('and is unfinished, `run` resumes it', () => {
      const latest = someRun({ state: 'failed', collectStartedAt: day.firstInstant.getTime() });
      expect(decideOpening(latest, { mode: 'run', day }).kind).toBe('resume');
    });
  });

  describe.each(unfinished)('whose latest run is %s', (state) => {
    const latest = someRun({ state, delivery: 'body' });

    it.each(allRequests('run').filter(([, { delivery }]) => delivery !== 'file'))(
      '%s resumes it',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({ kind: 'resume', run: latest });
      },
    );

    it.each(allRequests('run').filter(([, { delivery }]) => delivery === 'file'))(
      '%s is refused, and says how to continue',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({
          kind: 'usage-error',
          message:
            'run 20261120-k3f9xq7d of 2026-11-20 is unfinished and delivers by body, not by file: omit --delivery ' +
            'to resume it, or `replay 2026-11-20 --delivery file --reason TEXT` to start over',
        });
      },
    );

    it.each(allRequests('replay').filter(([, { reason }]) => reason !== undefined))(
      '%s abandons it for a new run',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({ kind: 'new', replaces: latest.id });
      },
    );

    const late = allRequests('late').filter(([, { delivery }]) => delivery !== 'file');

    it.each(late.filter(([, { reason }]) => reason !== undefined))(
      '%s abandons it and excludes what it has delivered',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({
          kind: 'new',
          replaces: latest.id,
          topsUp: true,
          delivery: 'body',
        });
      },
    );

    it.each(late.filter(([, { reason }]) => reason === undefined))(
      '%s is refused, with the advice to run it first',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({
          kind: 'usage-error',
          message:
            `run 20261120-k3f9xq7d of 2026-11-20 is unfinished (${state}): \`run --day 2026-11-20\` resumes it; ` +
            'to abandon it and send what it has not delivered, give the reason with --reason TEXT',
        });
      },
    );

    it.each(allRequests('late').filter(([, { delivery }]) => delivery === 'file'))(
      '%s is refused for the delivery, whatever the reason',
      (_, request) => {
        expect(decideOpening(latest, request)).toMatchObject({
          kind: 'usage-error',
          message: expect.stringContaining('delivered by body'),
        });
      },
    );

    it.each(allRequests('replay').filter(([, { reason }]) => reason === undefined))(
      '%s is refused without a reason',
      (_, request) => {
        expect(decideOpening(latest, request)).toEqual({
          kind: 'usage-error',
          message:
            `run 20261120-k3f9xq7d of 2026-11-20 is unfinished (${state}): \`run --day 2026-11-20\` resumes it; ` +
            'to abandon it and start over, give the reason with --reason TEXT',
        });
      },
    );
  });
});

describe('a day whose runs', () => {
  it('still have their names can be compared', () => {
    expect(describeIncomparable([someRun(), someRun({ state: 'failed' })])).toBeUndefined();
  });

  it('lost their names, but had delivered nothing, can be compared', () => {
    const runs = [someRun(), someRun({ linesBlanked: true, counts: { delivered: 0 } })];
    expect(describeIncomparable(runs)).toBeUndefined();
  });

  it("lost their names, all or one of them, can't be topped up", () => {
    expect(describeIncomparable([someRun({ id: 'new' }), someRun({ id: 'old', linesBlanked: true })])).toBe(
      "late bookings of 2026-11-20 can't be told apart from those that run old delivered, because its guest names were " +
        'blanked after guestNameDays; to send the whole day again: `replay 2026-11-20 --reason TEXT`',
    );
  });
});

function allRequests(only?: DayToOpen['mode']): [string, DayToOpen][] {
  return (['run', 'replay', 'late'] as const)
    .filter((mode) => only === undefined || mode === only)
    .flatMap((mode) =>
      deliveries.flatMap((delivery) =>
        reasons.map((reason): [string, DayToOpen] => [
          `${mode}${delivery ? ` --delivery ${delivery}` : ''}${reason ? ' --reason TEXT' : ''}`,
          { mode, delivery, reason, day },
        ]),
      ),
    );
}

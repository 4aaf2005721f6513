import { describe, expect, it, vi } from 'vitest';
import { day, prepareDay, type Settings } from '../support/day-folder.js';
import { engine, runsEveryCase } from '../support/engine.js';
import { countBodies, expectEachOnce, expectReport } from '../support/expectations.js';
import { refusal, type StandInAnswer, type StandInHandler, success } from '../support/http-stand-in.js';
import { type MadeBooking, makeBookings, toCsv } from '../support/made-bookings.js';
import { isNightly } from '../support/nightly.js';
import { patienceMs } from '../support/patience.js';
import { seededRandom } from '../support/seed.js';

const bookings = makeBookings(300);
const batchSize = 50;

async function review(
  handler: StandInHandler,
  settings: Settings = {},
  made: readonly MadeBooking[] = bookings,
) {
  const { standIn, folder } = await prepareDay({ bookings: toCsv(made), settings }, handler);
  const result = await folder.runDay();
  await folder.watchLedger().atRest();
  return { standIn, folder, result };
}

const httpError = (status: number, headers = {}): StandInAnswer => ({
  kind: 'text',
  status,
  body: '<html><h1>Oops</h1></html>',
  headers,
});

type NamedAnswer = readonly [string, StandInAnswer];
const clearAnswers: readonly NamedAnswer[] = [
  ['503', httpError(503)],
  ['200 with Status false and 2001', refusal(2001)],
  ['500', httpError(500)],
  ['408', httpError(408)],
  ['429 without Retry-After', httpError(429)],
  ['200 with Status false and 2030', refusal(2030)],
];
const unclearAnswers: readonly NamedAnswer[] = [
  ['a connection that drops after the request was read', { kind: 'drop', when: 'after-reading' }],
  ['an HTML page with 200', httpError(200)],
  ['a connection that drops before the request is read', { kind: 'drop', when: 'before-reading' }],
  ['a connection that drops in mid-answer', { kind: 'drop', when: 'mid-answer' }],
  ['an answer that is not an envelope', { kind: 'json', body: ['Status', true] }],
  ["202, which the contract doesn't mention", { kind: 'json', status: 202, body: {} }],
];
/** Outside the nightly suite, the first two, of different origin: the tests of the service's client cover them all. */
const ofThisTime = (answers: readonly NamedAnswer[]) => (isNightly ? answers : answers.slice(0, 2));

describe('a service with temporary trouble', () => {
  if (runsEveryCase) {
    it('a hang: the call is abandoned after timeoutSeconds, sent again, and counts as repeated', async () => {
      const { standIn, result } = await review((_, number) => (number === 1 ? { kind: 'hang' } : success), {
        body: { timeoutSeconds: 1 },
      });
      expectReport(result, {
        exitCode: 0,
        state: 'succeeded',
        counts: { delivered: 300, repeated: batchSize },
      });
      expectEachOnce(standIn, bookings);
      const [hung] = standIn.requests;
      expect(countBodies(standIn).get(hung?.body.toString() ?? '')).toBe(2);
    });
  }

  it('429 with Retry-After: the batch is retried no earlier than requested, and no try is spent', async () => {
    const { standIn, folder } = await prepareDay(
      { bookings: toCsv(bookings), settings: { retry: { tries: 1 }, body: { concurrency: 1 } } },
      async (_, number) => {
        if (number === 1) return httpError(429, { 'retry-after': '1' });
        // Even on a busy machine, no other process finishes a batch before it can know that it has to wait.
        await vi.waitUntil(async () => (await ledger.attempts()).some(({ code }) => code === 'http-429'), {
          timeout: patienceMs,
        });
        return success;
      },
    );
    const ledger = folder.watchLedger();
    const result = await folder.runDay();
    await ledger.atRest();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 300, repeated: 0 } });
    expectEachOnce(standIn, bookings);
    const [asked, ...later] = standIn.requests;
    expect(later).toHaveLength(6);
    const early = later.filter(({ at }) => at - (asked?.at ?? 0) < 1_000);
    // Batches that other processes have in flight at that moment continue.
    expect(early.length).toBeLessThan(engine.performers);
    expect(early.map(({ body }) => body)).not.toContainEqual(asked?.body);
  });

  it('any mix of these over 40 batches: exactly once where every answer was clear, otherwise at least once', async () => {
    const made = makeBookings(400);
    const random = seededRandom();
    const faults: readonly StandInAnswer[] = [
      httpError(503),
      httpError(500),
      httpError(429, { 'retry-after': '0' }),
      refusal(2001),
      refusal(2030),
      httpError(200),
      { kind: 'drop', when: 'before-reading' },
      { kind: 'drop', when: 'after-reading' },
      { kind: 'drop', when: 'mid-answer' },
      { kind: 'hang' },
    ];
    // Each fault once for certain, the rest at random.
    const sure = faults.toSorted(() => random() - 0.5);
    const { standIn, result } = await review(
      () =>
        sure.pop() ??
        (random() < 0.4 ? faults[Math.floor(random() * (faults.length - 1))] : undefined) ??
        success,
      { body: { batchSize: 10, timeoutSeconds: 2 }, retry: { tries: 100 } },
      made,
    );
    expectReport(result, {
      exitCode: 0,
      state: 'succeeded',
      counts: { delivered: 400, refused: 0, pending: 0 },
    });
    expect(sure).toEqual([]);
    expect(result.report.counts.repeated).toBeGreaterThanOrEqual(50);
    // The stand-in counts what it answered with success; a fault is no success, so exactly one is left.
    expectEachOnce(standIn, made);
  });
});

describe('a service that refuses a booking', () => {
  const poison = ['BR-17', 'BR-233'];
  const refusePoison =
    (statusCode: number): StandInHandler =>
    async (request) => {
      const hotels = await request.readHotels();
      const bad = hotels.some(({ BookingReferenceId }) => poison.includes(String(BookingReferenceId)));
      return bad ? refusal(statusCode, 'this one is no hotel of ours') : success;
    };

  it.each(isNightly ? [2009, 2002, 2011] : [2009])(
    'with %i: exactly the poison bookings are refused, with the service’s words; the others arrive once',
    async (statusCode) => {
      const { standIn, folder, result } = await review(refusePoison(statusCode));
      const counts = { delivered: 298, refused: 2, pending: 0, repeated: 0 };
      expectReport(result, { exitCode: 0, state: 'succeeded', counts });
      expectEachOnce(
        standIn,
        bookings.filter(({ BookingReferenceId }) => !poison.includes(BookingReferenceId)),
      );
      expect(result.stderr).toContain(`list them with: hotel-review refused ${day}`);
      const { json } = await folder.run(['refused', day, '--json']);
      expect(json).toMatchObject({ refused: poison.map((BookingReferenceId) => ({ BookingReferenceId })) });
      const shown = await folder.run(['show', 'BR-17', '--answers']);
      expect(shown.stdout).toContain('BR-17: refused in run');
      expect(shown.stdout).toContain('this one is no hotel of ours');
      expect((await folder.run(['show', 'BR-18'])).stdout).toContain('BR-18: delivered in run');
    },
  );

  if (runsEveryCase) {
    it('with 400, 413 or 422: the same', async () => {
      const statuses = [400, 413, 422];
      const { standIn, result } = await review(async (request, number) => {
        const verdict = await refusePoison(2009)(request, number);
        return verdict === success ? success : httpError(statuses[number % 3] ?? 400);
      });
      expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 298, refused: 2 } });
      expect(standIn.accepted()).toHaveLength(298);
    });

    it('with an unknown code: all tries are used, then it is refused', async () => {
      const { standIn, result } = await review(refusePoison(2999), {
        retry: { tries: 2 },
        body: { batchSize: 4 },
      });
      expectReport(result, {
        exitCode: 0,
        state: 'succeeded',
        counts: { delivered: 298, refused: 2, repeated: 0 },
      });
      expect(standIn.accepted()).toHaveLength(298);
      // Each refused body came twice: two tries each for a batch of four, its half, and the single booking.
      const refusedBodies = [...countBodies(standIn)].filter(([, times]) => times === 2);
      expect(refusedBodies).toHaveLength(2 * 3);
    });

    it('stops the run when it refuses nearly everything; once it accepts again, the run delivers everything', async () => {
      let refusesAll = true;
      const { standIn, folder, result } = await review(() => (refusesAll ? refusal(2009) : success));
      expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0 } });
      expect(result.report.error?.class).toBe('refused');
      expect(result.report.error?.message).toContain('maxRefusedShare');
      expect(result.report.counts.pending).toBeGreaterThan(200);
      refusesAll = false;
      const again = await folder.runDay();
      expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 300, refused: 0 } });
      expect(again.report.runId).toBe(result.report.runId);
      expectEachOnce(standIn, bookings);
    });
  }
});

describe('a step that has used all its tries', () => {
  it('and is followed by four others in a row stops the run, and the next one delivers the rest', async () => {
    let isDown = true;
    const made = makeBookings(450);
    const { standIn, folder, result } = await review(
      (_, number) => (isDown && number > 2 ? httpError(503) : success),
      { retry: { tries: 2 }, body: { concurrency: 1 } },
      made,
    );
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 100, pending: 350 } });
    expect(result.report.error?.class).toBe('retryable');
    // Other processes may end a step of their own meanwhile.
    expect(result.report.error?.message).toMatch(/^[567] steps in a row/);
    const before = standIn.requests.length;
    isDown = false;
    const again = await folder.runDay();
    expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 450, repeated: 0 } });
    expect(again.report.runId).toBe(result.report.runId);
    expect(standIn.requests.length - before).toBe(7);
    expectEachOnce(standIn, made);
  });

  it('in a service that is down for all 200 batches: a few calls suffice, and not every batch is tried', async () => {
    const { standIn, result } = await review(
      () => httpError(503),
      { retry: { tries: 3 } },
      makeBookings(10_000),
    );
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 10_000 } });
    expect(standIn.requests.length).toBeLessThanOrEqual(60);
  });

  it('fails alone: the other batches continue, and the next run sends only the rest', async () => {
    let isFailing = true;
    const { standIn, folder, result } = await review(
      async (request) => {
        const hotels = await request.readHotels();
        const isBad = hotels.some(({ BookingReferenceId }) => BookingReferenceId === 'BR-120');
        return isFailing && isBad ? httpError(500) : success;
      },
      { retry: { tries: 3 } },
    );
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 250, pending: 50 } });
    expect(result.report.error?.class).toBe('retryable');
    expect(result.stderr).toContain('hotel-review run --day 2026-11-20');
    expect(standIn.requests).toHaveLength(5 + 3);
    isFailing = false;
    const again = await folder.runDay();
    expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 300, repeated: 0 } });
    expect(again.report.runId).toBe(result.report.runId);
    expect(standIn.requests).toHaveLength(5 + 3 + 1);
    expectEachOnce(standIn, bookings);
  });
});

if (runsEveryCase) {
  describe('a service with one kind of temporary trouble', () => {
    it.each(ofThisTime(clearAnswers))(
      '%s: every booking arrives exactly once, and none counts as repeated',
      async (_, answer) => {
        const { standIn, result } = await review((_, number) => (number <= 3 ? answer : success));
        expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 300, repeated: 0 } });
        expectEachOnce(standIn, bookings);
        expect(standIn.requests).toHaveLength(9);
        expect(countBodies(standIn).size).toBe(6);
      },
    );

    it.each(ofThisTime(unclearAnswers))(
      '%s: the batch is sent again and counts as repeated',
      async (_, answer) => {
        const { standIn, result } = await review((_, number) => (number === 2 ? answer : success));
        const counts = { delivered: 300, repeated: batchSize };
        expectReport(result, { exitCode: 0, state: 'succeeded', counts });
        expectEachOnce(standIn, bookings);
        expect(standIn.requests).toHaveLength(7);
      },
    );
  });

  describe('another step that has used all its tries', () => {
    it('and whose last call had no clear answer counts as repeated when the next run sends it again', async () => {
      let isFailing = true;
      const { standIn, folder, result } = await review(
        (_, number) => (isFailing && number === 1 ? { kind: 'drop', when: 'mid-answer' } : success),
        { retry: { tries: 1 } },
      );
      expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 250, repeated: 0 } });
      isFailing = false;
      const again = await folder.runDay();
      const counts = { delivered: 300, repeated: batchSize };
      expectReport(again, { exitCode: 0, state: 'succeeded', counts });
      expectEachOnce(standIn, bookings);
    });

    it('in a service that is down for all 7 batches: the first five failures stop the run', async () => {
      let isDown = true;
      const made = makeBookings(350);
      const { standIn, folder, result } = await review(
        () => (isDown ? httpError(503) : success),
        { retry: { tries: 2 } },
        made,
      );
      expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 350 } });
      expect(standIn.requests.length).toBeLessThanOrEqual(14);
      isDown = false;
      expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 350 } });
      expectEachOnce(standIn, made);
    });
  });
}

import { expect, it } from 'vitest';
import { type ReviewParts, type RunRequest, reviewDay } from '../../../src/review/review-day.js';
import { createArraySource, records } from '../array-source.js';
import { ok, unavailable } from '../scripted-service.js';
import { prepareWork, requestOf, unstopped } from '../working-day.js';

const canary = { serviceId: 1, providerName: 'X', providerHotelId: '1', withinMs: 3_600_000 };

async function prepare() {
  const work = await prepareWork();
  let isAway = false;
  const review = (bookings: number, changes: Partial<RunRequest> = {}, parts: Partial<ReviewParts> = {}) => {
    const source = createArraySource([records(0, bookings)]);
    const answer = () => (isAway ? unavailable : ok);
    return reviewDay(
      requestOf(changes),
      { ...work.startAlone({ source, answer }).parts, canary, ...parts },
      unstopped,
    );
  };
  return {
    review,
    leave: (away: boolean) => {
      isAway = away;
    },
    /** The references of the canaries that the service took. */
    sent: () => work.accepted.filter((reference) => reference.startsWith('CANARY-')),
  };
}

const late = { mode: 'late', reason: 'late bookings' } as const;

it('A canary goes with the bookings of a day, once, and again with a replay, but not with late bookings', async () => {
  const { review, sent } = await prepare();
  const { run } = await review(12);
  expect(run.counts).toMatchObject({ accepted: 12, delivered: 12 });
  expect(sent()).toEqual([`CANARY-${run.id}`]);
  await review(12);
  expect((await review(14, late)).run.counts).toMatchObject({ delivered: 2 });
  expect(sent()).toHaveLength(1);
  const again = await review(14, { mode: 'replay', reason: 'again' });
  expect(sent()).toEqual([`CANARY-${run.id}`, `CANARY-${again.run.id}`]);
});

it('Late bookings of a day that was good without a canary take none along', async () => {
  const { review, sent } = await prepare();
  await review(12, {}, { canary: undefined });
  await review(14, late);
  expect(sent()).toEqual([]);
});

it('What an abandoned run has left takes the canary along that was never sent', async () => {
  const { review, sent, leave } = await prepare();
  leave(true);
  await review(12);
  leave(false);
  const { run } = await review(12, late);
  expect(run).toMatchObject({ topsUp: true, counts: { delivered: 12 } });
  expect(sent()).toEqual([`CANARY-${run.id}`]);
});

it('A day without bookings has no canary', async () => {
  const { review, sent } = await prepare();
  expect((await review(0)).run).toMatchObject({ state: 'succeeded' });
  expect(sent()).toEqual([]);
});

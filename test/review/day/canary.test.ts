import { expect, it } from 'vitest';
import { type RunRequest, reviewDay } from '../../../src/review/review-day.js';
import type { CallResult } from '../../../src/service/call-result.js';
import { createArraySource, records } from '../array-source.js';
import { ok, unavailable } from '../scripted-service.js';
import { prepareWork, requestOf, unstopped } from '../working-day.js';

const canary = { serviceId: 1, providerName: 'X', providerHotelId: '1', withinMs: 3_600_000 };

const late = { mode: 'late', reason: 'late bookings' } as const;

async function prepare() {
  const work = await prepareWork();
  const review = (
    bookings: number,
    changes: Partial<RunRequest> = {},
    own: object = { canary },
    answer = ok as CallResult,
  ) => {
    const { parts } = work.startAlone({
      source: createArraySource([records(0, bookings)]),
      answer: () => answer,
    });
    return reviewDay(requestOf(changes), { ...parts, ...own }, unstopped);
  };
  /** The references of the canaries that the service took. */
  const sent = () => work.accepted.filter((reference) => reference.startsWith('CANARY-'));
  return { review, sent };
}

it('A canary goes with the bookings of a day, once, and again with a replay, but not with late bookings', async () => {
  const { review, sent } = await prepare();
  const { run } = await review(12);
  expect(run.counts).toMatchObject({ accepted: 12, delivered: 12 });
  await review(12);
  expect((await review(14, late)).run.counts).toMatchObject({ delivered: 2 });
  expect(sent()).toEqual([`CANARY-${run.id}`]);
  const again = await review(14, { mode: 'replay', reason: 'again' });
  expect(sent()).toEqual([`CANARY-${run.id}`, `CANARY-${again.run.id}`]);
});

it('No canary goes with late bookings of a day that was good without one, nor with a day without bookings', async () => {
  const { review, sent } = await prepare();
  await review(12, {}, {});
  await review(14, late);
  const other = await prepare();
  expect((await other.review(0)).run).toMatchObject({ state: 'succeeded' });
  expect([...sent(), ...other.sent()]).toEqual([]);
});

it('What an abandoned run has left takes the canary along that was never sent', async () => {
  const { review, sent } = await prepare();
  await review(12, {}, { canary }, unavailable);
  const { run } = await review(12, late);
  expect(run).toMatchObject({ topsUp: true, counts: { delivered: 12 } });
  expect(sent()).toEqual([`CANARY-${run.id}`]);
});

import { beforeEach, expect, it } from 'vitest';
import { createScoreMemory } from '../../../src/cases/scores/scorecard.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { at, day, done, newRun, perform, rightOf } from '../../contracts/ledger/days.js';
import { collectBookings, deliverBookings, someBooking } from '../../desk/some-bookings.js';
import { openTemporaryLedger } from '../../review/temporary-ledger.js';
import { withReplaced } from '../../support/fake-ledger.js';

const days = ['2026-11-19', day];
const { signal } = new AbortController();

let ledger: Ledger;
let asked: string[];
beforeEach(async () => {
  ledger = await openTemporaryLedger(() => at);
  asked = [];
});

/** The memory, over a ledger that records the days whose bookings are read. */
function remember() {
  const watched = withReplaced(ledger, {
    runs: {
      list(options) {
        if (options.day !== undefined) asked.push(options.day);
        return ledger.runs.list(options);
      },
    },
  });
  return createScoreMemory(watched);
}

const readAnew = () => createScoreMemory(ledger)(days, signal);

it('A day is read once, as long as nothing about it changes', async () => {
  await deliverBookings(ledger, 'r1', [someBooking(), someBooking({ providerName: 'expedia' })]);
  const memory = remember();
  const scores = await memory(days, signal);
  expect(scores).toEqual(await readAnew());
  expect(scores[1]?.providers.get('expedia')).toMatchObject({ sent: 1, known: 0, byEmail: 1 });
  expect(await memory(days, signal)).toEqual(scores);
  expect(asked).toEqual([day]);
});

it('It is read again after each change of what is known about it', async () => {
  const memory = remember();
  const expectReadAgain = async () => {
    asked = [];
    const scores = await memory(days, signal);
    expect(scores).toEqual(await readAnew());
    expect(asked).toEqual([day]);
    return scores[1]?.providers.get('hotelbeds');
  };
  const run = await collectBookings(ledger, 'r1', [
    someBooking(),
    someBooking({ bookingReferenceId: 'BR-2' }),
  ]);
  expect(await expectReadAgain()).toBeUndefined();
  await perform(ledger, run, 'batch 0', done);
  await expectReadAgain();
  await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
  expect(await expectReadAgain()).toMatchObject({ sent: 2, namedByEmail: 0 });
  const row = { runId: 'r1', stream: 'posted', batch: 0, row: 0 } as const;
  const mail = { receivedAt: at + 1_000, readAt: at, from: 'a file', outcome: 'named' as const };
  await ledger.mails.record({ ...mail, sha256: 'aa', bookings: [row], pairs: [] });
  expect(await expectReadAgain()).toMatchObject({ namedByEmail: 1 });
  // It stays named when another run sends it, too.
  const sentAgain = [someBooking(), someBooking({ providerName: 'expedia' })];
  await deliverBookings(ledger, 'r2', sentAgain, { startedAt: at + 5_000 });
  expect(await expectReadAgain()).toMatchObject({ sent: 2, namedByEmail: 1 });
  const pair = { providerName: 'hotelbeds', providerHotelId: '007', serviceId: 7 };
  await ledger.mails.record({ ...mail, sha256: 'bb', bookings: [], pairs: [pair] });
  expect(await expectReadAgain()).toMatchObject({ namedByEmail: 2 });
});

it('It is read again when its bookings are removed', async () => {
  await deliverBookings(ledger, 'r1', [someBooking()]);
  const memory = remember();
  await memory(days, signal);
  await ledger.guests.prune('2026-12-01');
  const [, score] = await memory(days, signal);
  expect(score?.providers.size).toBe(0);
});

it('Nothing is read of a day without runs, and nothing more once nobody waits', async () => {
  await ledger.runs.create(newRun('r1'));
  const memory = remember();
  await expect(memory(days, AbortSignal.abort())).rejects.toThrow();
  expect(asked).toEqual([]);
  expect((await memory(['2026-11-19'], signal))[0]?.providers.size).toBe(0);
  expect(asked).toEqual([]);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { GuestNames } from '../../../src/booking/sending.js';
import { blankNames } from '../../../src/booking/stored-line.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { createBodyDelivery } from '../../../src/review/body/body-delivery.js';
import type { LineBlock } from '../../../src/review/collect/line-index.js';
import { findRepetition, planSample } from '../../../src/review/collect/repeated-day.js';
import type { Run, Trigger } from '../../../src/rules/run.js';
import { KeyError } from '../../../src/storage/day-keys.js';
import { newRun } from '../../contracts/ledger/days.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { records } from '../array-source.js';
import { collectAgain, collectRun, deliverRun } from '../late-days.js';
import { someRun } from '../some-run.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const perBatch = 500;
const lineOf = (number: number) => `${number},,,,,,\n`;

interface Past {
  readonly run?: Partial<Omit<Run, 'counts'>>;
  readonly fails?: boolean;
  readonly allRefused?: boolean;
}

/** Earlier days by body, each with the bookings of these numbers. */
function ledgerOf(days: Readonly<Record<string, readonly number[]>>, past: Past = {}) {
  const { run = {}, fails = false, allRefused = false } = past;
  const numbersOf = (id: string) => days[id] ?? [];
  let read = 0;
  return {
    readSoFar: () => read,
    ledger: fakeLedger({
      runs: {
        async list({ day: iso = '' }) {
          const accepted = numbersOf(iso).length;
          const counts = { delivered: allRefused ? 0 : accepted };
          // Each was reviewed twice.
          return accepted === 0 ? [] : Array(2).fill(someRun({ ...run, id: iso, day: iso, counts }));
        },
      },
      bookings: {
        async measureBatches(id, stream) {
          const bookings = stream === 'posted' ? numbersOf(id).length : 0;
          return { bookings, batches: Math.ceil(bookings / perBatch) };
        },
        async readBatches(id, _, { from, to }) {
          if (fails) throw new KeyError('destroyed', 'the key was destroyed');
          return Array.from({ length: to - from }, (_, at) => {
            const lines = numbersOf(id).slice((from + at) * perBatch, (from + at + 1) * perBatch);
            read += lines.length;
            return Buffer.from(lines.map(lineOf).join(''));
          });
        },
      },
    }),
  };
}

/** What the ledger's days have sent of these bookings. */
function compare(today: readonly number[], ledger: Ledger, names?: GuestNames) {
  const numbers = new Map(today.map((number, index) => [lineOf(number).trimEnd(), index]));
  const find = ({ bytes }: LineBlock, index: number) =>
    numbers.get(bytes.toString().split('\n')[index] ?? '');
  const delivery = createBodyDelivery({
    service: { reviewBookedHotels: () => Promise.reject(new Error('nothing is sent')) },
    masterIdName: 'ServiceId',
    batchSize: perBatch,
    ...(names && { names }),
  });
  return findRepetition(day, { find, delivery, ledger });
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

describe('what earlier days sent of a day', () => {
  it('is counted once over several small days', async () => {
    const { ledger } = ledgerOf({
      '2026-11-19': numbers(1, 40),
      '2026-11-12': numbers(31, 40),
      '2026-11-11': numbers(1, 100),
    });
    expect(await compare(numbers(1, 100), ledger)).toEqual({
      bookings: 70,
      isEstimate: false,
      days: ['2026-11-19', '2026-11-12'],
      sent: 2,
      incomparable: 0,
    });
  });

  it('is estimated for large days from about a thousand of their bookings', async () => {
    const { ledger, readSoFar } = ledgerOf({
      '2026-11-19': numbers(1, 100_000),
      '2026-11-18': numbers(200_000, 100_000),
    });
    const { bookings, isEstimate } = await compare(numbers(40_001, 100_000), ledger);
    expect(isEstimate).toBe(true);
    expect(bookings).toBeGreaterThan(50_000);
    expect(bookings).toBeLessThan(70_000);
    expect(readSoFar()).toBeLessThan(12_000);
  });

  it('is nothing for a day whose bookings the service took none of', async () => {
    const { ledger } = ledgerOf({ '2026-11-19': numbers(1, 40) }, { allRefused: true });
    expect(await compare(numbers(1, 40), ledger)).toMatchObject({ bookings: 0, sent: 0, incomparable: 0 });
  });

  it.each([
    ['names were blanked', ledgerOf({ '2026-11-19': numbers(1, 40) }, { run: { linesBlanked: true } })],
    ['names were left out', ledgerOf({ '2026-11-19': numbers(1, 40) }, { run: { guestNames: 'omit' } })],
    ['key was destroyed', ledgerOf({ '2026-11-19': numbers(1, 40) }, { fails: true })],
  ])('is unknown for a day whose %s', async (_, { ledger }) => {
    expect(await compare(numbers(1, 40), ledger)).toMatchObject({ bookings: 0, sent: 1, incomparable: 1 });
  });

  it('is found without names where none are sent now either', async () => {
    const { ledger } = ledgerOf({ '2026-11-19': numbers(1, 40) }, { run: { linesBlanked: true } });
    expect(await compare(numbers(1, 40), ledger, 'omit')).toMatchObject({ bookings: 40, incomparable: 0 });
  });
});

describe('a day whose bookings an earlier day sent', () => {
  async function collectAgainLater(trigger: Trigger, topsUp: boolean, areBlanked = false) {
    const ledger = await openTemporaryLedger();
    const late = { ledger, kind: 'body', trigger, batchSize: 4 } as const;
    const earlier = await ledger.runs.create(newRun('r0', { day: '2026-11-19' }));
    await deliverRun(ledger, await collectAgain(late, earlier, records(0, 20)));
    if (areBlanked) await ledger.guests.blankNames('2027-01-01', blankNames);
    const limits = { maxRejectedShare: 1, emptyDay: 'succeed', batchSize: 4, maxRepeatedShare: 0.5 } as const;
    await collectRun(late, 'r1', records(0, 20), { topsUp, limits, past: ledger });
    return ledger.rejects.countWarnings('r1');
  }

  it('fails, also if it is a replay', async () => {
    await expect(collectAgainLater('replay', false)).rejects.toMatchObject({ code: 'source-repeated' });
  });

  it('does not if a person says that they are late bookings, or if nobody can know it, which is a warning', async () => {
    expect(await collectAgainLater('replay', true)).toEqual([]);
    expect(await collectAgainLater('schedule', false, true)).toEqual([
      { reason: 'earlier-days-not-compared', count: 1 },
    ]);
  });
});

describe('a sample', () => {
  it('lies within the batches, and holds about a thousand bookings, or ten batches', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000_000 }),
        fc.integer({ min: 1, max: 5_000 }),
        (bookings, size) => {
          const batches = Math.ceil(bookings / size);
          let taken = 0;
          let before = 0;
          for (const { from, to } of planSample({ batches, bookings })) {
            expect(from).toBeGreaterThanOrEqual(before);
            expect(to).toBeLessThanOrEqual(batches);
            before = from;
            taken += (to - from) * (bookings / batches);
          }
          expect(taken).toBeGreaterThan(Math.min(bookings, 500) - 1);
          expect(taken).toBeLessThan(Math.max(2_500, 10 * size + 1));
        },
      ),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { hashReference } from '../../../src/booking/booking.js';
import { type BatchStream, batchStreams } from '../../../src/booking/sending.js';
import { isOver, stayOf } from '../../../src/booking/stay.js';
import { FencedError } from '../../../src/ledger/errors.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { StayAhead } from '../../../src/ledger/stays.js';
import type { SupersededRows } from '../../../src/ledger/stored-outcomes.js';
import { createSourceKeys, findSuperseded } from '../../../src/review/collect/superseded.js';
import { createLineBlanker } from '../../../src/review/guests/erase-guest.js';
import { readStaysAhead } from '../../../src/review/stays/stays-ahead.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import type { NewRun } from '../../../src/rules/changes.js';
import { lineOfBooking } from '../../support/made-bookings.js';
import type { OpenedLedger } from '../ledger.js';
import { at, batchSize, chunkOf, newRun, references, rightOf, startCollect, toLines } from './days.js';
import { findStayKeys } from './stay-keys.js';

const dayOf = (number: number) => new Date(Date.UTC(2026, 10, 20 + number)).toISOString().slice(0, 10);

export interface MadeStay {
  readonly stream: BatchStream;
  readonly booking: Booking;
}

interface MadeRun extends Pick<NewRun, 'id' | 'day' | 'delivery' | 'trigger'> {
  readonly topsUp: boolean;
  readonly isCollected: boolean;
  readonly stays: readonly MadeStay[];
}

export function describeStays(opened: () => OpenedLedger): void {
  describe('current and upcoming stays', () => {
    it('are those that a search through all bookings finds', async () => {
      const { ledger } = opened();
      let world = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyRun, { minLength: 2, maxLength: 6 }),
          anyQuestion,
          async (runs, question) => {
            world += 1;
            const made = runs.map((run, index) => nameRun(run, index, world));
            for (const run of made) await storeRun(ledger, run);
            const hotels = question.hotels.map((hotel) => hotelOf(hotel, world));
            const asked = {
              today: dayOf(question.today),
              ...(question.day !== undefined && { day: dayOf(question.day) }),
              ...(question.serviceId !== undefined && {
                isWanted: (stay: StayAhead) => stay.serviceId === question.serviceId,
              }),
            };
            const found = await readAll(ledger, hotels, asked);
            expect(found).toEqual(searchNaively(made, hotels, asked));
          },
        ),
        { numRuns: 30 },
      );
    });

    it('count again once a later collect finds them again, in lists and for their reference', async () => {
      const { ledger } = opened();
      for (const [index, hotel] of [0, 1, 0].entries()) {
        const booking = stayAt(hotelOf(hotel, 0), { bookingReferenceId: 'E-1' });
        const run = { day: '2026-11-20', delivery: 'body', trigger: 'manual', topsUp: false } as const;
        await storeRun(ledger, {
          ...{ ...run, id: `r${index}`, isCollected: true },
          stays: [{ stream: 'posted', booking }],
        });
      }
      expect(await ledger.days.listSuperseded('r0')).toEqual([]);
      const traces = await ledger.bookings.trace('E-1');
      expect(traces.map((trace) => trace.kind === 'booking' && [trace.run.id, trace.isSuperseded])).toEqual([
        ['r2', undefined],
        ['r1', true],
        ['r0', undefined],
      ]);
    });

    it('are gone when their run is collected again, when their guest is erased, and when their day is removed', async () => {
      const { ledger } = opened();
      const hotel = hotelOf(1, 0);
      const inFile = references(5, 'F');
      const stays = [...references(5, 'E'), ...inFile].map((bookingReferenceId, index) => ({
        stream: index < 5 ? ('posted' as const) : ('file' as const),
        booking: stayAt(hotel, { bookingReferenceId, bookingClientName: 'Ana Gil' }),
      }));
      const run = await ledger.runs.create(newRun('r1', { delivery: 'file' }));
      const first = await startCollect(ledger, run);
      await storeStays(first, [{ stream: 'posted', booking: stayAt(hotel, { bookingReferenceId: 'E-9' }) }]);
      const again = await startCollect(ledger, run);
      await expect(storeStays(first, stays)).rejects.toThrow(FencedError);
      await storeStays(again, stays);
      await again.finish({ steps: planBatches(5, batchSize), at });
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      const ahead = async () =>
        (await readAll(ledger, [hotel], { today: '2026-11-20' })).map(({ reference }) => reference);
      expect(await ahead()).toEqual([...references(5, 'E'), ...inFile]);
      const guest = { reference: 'E-4', names: new Set<string>(), traces: [] };
      const erase = createLineBlanker({ guest, all: true });
      await ledger.guests.eraseBookings('r1', erase);
      expect(await ahead()).toEqual([...references(4, 'E'), ...inFile]);
      await ledger.guests.prune('2027-01-01');
      expect(await ahead()).toEqual([]);
    });
  });
}

const anyHotel = fc.integer({ min: 0, max: 3 });
const anyStay = fc.record({
  stream: fc.constantFrom(...batchStreams),
  reference: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined, freq: 2 }),
  hotel: fc.option(anyHotel, { nil: undefined, freq: 8 }),
  serviceId: fc.integer({ min: 1, max: 3 }),
  checkIn: fc.option(fc.oneof(fc.integer({ min: -3, max: 9 }), fc.constantFrom(-40_000, 1_500, 6_000)), {
    nil: undefined,
  }),
  nights: fc.integer({ min: 1, max: 2 }),
});
const anyRun = fc.record({
  day: fc.constantFrom(0, 0, 0, 1, 2),
  delivery: fc.constantFrom('body', 'file'),
  trigger: fc.constantFrom('schedule', 'today'),
  topsUp: fc.boolean(),
  isCollected: fc.oneof(
    { weight: 5, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  stays: fc.array(anyStay, { maxLength: 9 }),
});
const anyQuestion = fc.record({
  hotels: fc.uniqueArray(anyHotel, { minLength: 2, maxLength: 4 }),
  today: fc.integer({ min: -1, max: 5 }),
  day: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  serviceId: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
});

type AnyRun = typeof anyRun extends fc.Arbitrary<infer Run> ? Run : never;

function hotelOf(hotel: number, world: number) {
  return { providerName: `provider ${hotel % 2}`, providerHotelId: `${world}/0${hotel}é` };
}

function stayAt(hotel: ReturnType<typeof hotelOf>, rest: Partial<Booking>): Booking {
  return { serviceId: 7, checkInDate: '2026-12-01', checkOutDate: '2026-12-03', ...hotel, ...rest };
}

function nameRun({ day, stays, ...run }: AnyRun, index: number, world: number): MadeRun {
  return {
    ...run,
    id: `w${world}-${index}`,
    day: dayOf(day),
    stays: stays
      .filter(({ stream }) => stream === 'posted' || run.delivery === 'file')
      .map(({ stream, reference, hotel, serviceId, checkIn, nights }) => ({
        stream,
        booking: {
          serviceId,
          ...(reference !== undefined && { bookingReferenceId: `W${world}-${reference}` }),
          ...(hotel === undefined ? { providerName: 'provider 0' } : hotelOf(hotel, world)),
          ...(checkIn !== undefined && {
            checkInDate: dayOf(checkIn),
            checkOutDate: dayOf(checkIn + nights),
          }),
        },
      })),
  };
}

/** A run that has ended. */
export async function storeRun(ledger: Ledger, { stays, isCollected, ...run }: MadeRun): Promise<void> {
  const created = await ledger.runs.create(newRun(run.id, run));
  const collect = await startCollect(ledger, created);
  await storeStays(collect, stays, run.day);
  if (isCollected) {
    const superseded = await findReplaced(ledger, run, stays);
    await collect.finish({ steps: planBatches(stays.length, batchSize), superseded, at });
  }
  await ledger.runs.settle(rightOf(created), { state: isCollected ? 'succeeded' : 'failed', at });
}

/** What its source, which has its bookings alone, replaces of those of the day's other runs. */
async function findReplaced(
  ledger: Ledger,
  { id, day }: Pick<MadeRun, 'id' | 'day'>,
  stays: readonly MadeStay[],
): Promise<readonly SupersededRows[]> {
  const source = createSourceKeys();
  for (const { booking } of stays) source.add(lineOfBooking(booking));
  const others = (await ledger.runs.list({ day, limit: 100 })).filter(
    (run) => run.id !== id && run.collectedAt !== undefined,
  );
  return (await findSuperseded(ledger, others, source)).rows;
}

async function storeStays(
  collect: Awaited<ReturnType<Ledger['bookings']['beginCollect']>>,
  stays: readonly MadeStay[],
  day = '2026-11-20',
): Promise<void> {
  const batches = batchStreams.flatMap((stream) => {
    const own = stays.filter((stay) => stay.stream === stream).map(({ booking }) => booking);
    return Array.from({ length: Math.ceil(own.length / batchSize) }, (_, number) => {
      const bookings = own.slice(number * batchSize, (number + 1) * batchSize);
      const lines = toLines(bookings.map(lineOfBooking));
      const referenceHashes = bookings.map(({ bookingReferenceId }) => hashReference(bookingReferenceId));
      return { stream, number, lines, referenceHashes, stays: findStayKeys(lines, day) };
    });
  });
  await collect.store(chunkOf({ batches }));
}

type Asked = Parameters<typeof readStaysAhead>[2];
type Hotels = Parameters<typeof readStaysAhead>[1];

async function readAll(ledger: Ledger, hotels: Hotels, asked: Asked): Promise<StayAhead[]> {
  const found: StayAhead[] = [];
  for await (const { stays } of readStaysAhead(ledger, hotels, asked)) found.push(...stays);
  return found.toSorted(compareStays);
}

/** What `readStaysAhead` promises, in one pass over all bookings. */
function searchNaively(
  made: readonly MadeRun[],
  hotels: Hotels,
  { today, day, isWanted = () => true }: Asked,
): StayAhead[] {
  const runs = made.filter((run) => run.isCollected);
  const isLater = (one: MadeRun, other: MadeRun) =>
    one.day > other.day || (one.day === other.day && made.indexOf(one) > made.indexOf(other));
  const found = new Map<string, StayAhead>();
  for (const run of runs)
    for (const [row, { stream, booking }] of run.stays.entries()) {
      const { bookingReferenceId: reference } = booking;
      const dates = stayOf(booking, run.day);
      const { serviceId, providerName = '', providerHotelId = '' } = booking;
      const isAtHotel = hotels.some(
        (hotel) => hotel.providerName === providerName && hotel.providerHotelId === providerHotelId,
      );
      if (!isAtHotel || isOver(dates, today)) continue;
      const later = runs.filter((other) => isLater(other, run));
      const isOutdated =
        reference === undefined
          ? later.some(
              (other) =>
                other.day === run.day && (!other.topsUp || (other.delivery === 'file' && stream === 'file')),
            )
          : later.some((other) => other.day > run.day && holdsReference(other, reference)) ||
            isReplaced(
              booking,
              later.filter((other) => other.day === run.day),
            );
      if (isOutdated || (day !== undefined && day !== run.day)) continue;
      const stay: StayAhead = {
        ...{ providerName, providerHotelId, serviceId, day: run.day, runId: run.id },
        ...(reference !== undefined && { reference }),
        ...dates,
      };
      if (!isWanted(stay)) continue;
      const isOne = reference === undefined ? [run.id, stream, row] : [];
      const key = JSON.stringify([toKey({ ...stay, runId: '' }), isOne]);
      const known = found.get(key);
      // Of several runs of the day that hold it, the newest.
      if (!known || runs.findIndex(({ id }) => id === known.runId) < runs.indexOf(run)) found.set(key, stay);
    }
  return [...found.values()].toSorted(compareStays);
}

function holdsReference({ stays }: MadeRun, reference: string): boolean {
  return stays.some(({ booking }) => booking.bookingReferenceId === reference);
}

/** Whether the last of the day's later runs that hold its reference lacks the booking itself. */
function isReplaced(booking: Booking, later: readonly MadeRun[]): boolean {
  const { bookingReferenceId: reference = '' } = booking;
  const last = later.findLast((run) => holdsReference(run, reference));
  const key = (one: Booking) => JSON.stringify(Object.entries(one).toSorted());
  return last !== undefined && !last.stays.some((stay) => key(stay.booking) === key(booking));
}

function compareStays(one: StayAhead, other: StayAhead): number {
  const [first, second] = [toKey(one), toKey(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function toKey(stay: StayAhead): string {
  return JSON.stringify(Object.entries(stay).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

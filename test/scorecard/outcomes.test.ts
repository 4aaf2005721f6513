import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Booking } from '../../src/booking/booking.js';
import { type BatchStream, batchStreams } from '../../src/booking/sending.js';
import { stayOf } from '../../src/booking/stay.js';
import { type Outcome, readNamedPairs, readOutcomes } from '../../src/cases/scores/scorecard.js';
import { isNamedByMapping, type ReceivedPair } from '../../src/ledger/mails.js';
import { unansweredReasons } from '../../src/rules/review-file.js';
import { judgeBooking } from '../../src/rules/verdict.js';
import { anyFileBooking } from '../review/file/file-bookings.js';
import { someRun } from '../review/some-run.js';
import { lineOfBooking } from '../support/made-bookings.js';
import { ledgerOf } from './stored-days.js';

const batchSize = 3;
const dayMs = 86_400_000;
const startedAt = Date.parse('2026-11-20T12:00:00Z');
const finishedAt = startedAt + 1_000;
const run = someRun({
  ...{ delivery: 'file', day: '2026-11-20', collectedAt: startedAt, startedAt, finishedAt },
  file: {
    ...{ rows: 5, triggeredAt: startedAt },
    verdicts: { affected: 0, unanswered: 0, unclear: 0, malformed: 0, listsUnanswered: true },
  },
});

/** A booking, what is known about it, and perhaps a pair that an e-mail names. */
const anyKnown = fc.record({
  booking: anyFileBooking,
  stream: fc.constantFrom(...batchStreams),
  lacks: fc.subarray(['providerName', 'providerHotelId', 'checkInDate'] as const),
  judged: fc.option(fc.constantFrom('incorrect', ...unansweredReasons), { nil: undefined }),
  isNamed: fc.boolean(),
  isSuspect: fc.boolean(),
  isUndelivered: fc.boolean(),
  pair: fc.option(
    fc.record({
      isOfAnother: fc.boolean(),
      receivedAt: fc.integer({ min: startedAt - dayMs, max: 2 ** 45 }),
    }),
    { nil: undefined },
  ),
});
type Known = ReturnType<typeof toStored>;

/** Only a posted booking may lack fields or be undelivered, and only one of the file is in a result. */
function toStored(known: typeof anyKnown extends fc.Arbitrary<infer T> ? T : never) {
  const { booking, stream, lacks, isUndelivered } = known;
  if (stream === 'file') return { ...known, isUndelivered: false, line: lineOfBooking(booking) };
  const left: Partial<Booking> = { ...booking };
  for (const field of lacks) delete left[field];
  const kept = { ...left, serviceId: booking.serviceId };
  return { ...known, booking: kept, judged: undefined, isUndelivered, line: lineOfBooking(kept) };
}

function listPairs(all: readonly Known[]): ReceivedPair[] {
  return all.flatMap(({ pair, booking: { serviceId, providerName, providerHotelId } }) =>
    pair && providerName !== undefined && providerHotelId !== undefined
      ? {
          ...{ providerName, providerHotelId, receivedAt: pair.receivedAt },
          serviceId: serviceId + Number(pair.isOfAnother),
        }
      : [],
  );
}

/** What parsing and judging each booking on its own says. */
function judgeOneByOne(all: readonly Known[]): Outcome[] {
  const pairs = listPairs(all);
  return all
    .filter(({ isUndelivered }) => !isUndelivered)
    .map(({ booking, stream, judged, isNamed, isSuspect }) => {
      const { providerName, providerHotelId, serviceId } = booking;
      const { checkIn } = stayOf(booking, run.day);
      const found = judgeBooking({ run, stream, step: { state: 'done' }, judged });
      const verdict = found.verdict === 'unknown' ? found.reason : found.verdict;
      const isNamedByEmail =
        isNamed ||
        pairs.some(
          (pair) =>
            pair.providerName === providerName &&
            pair.providerHotelId === providerHotelId &&
            pair.serviceId === serviceId &&
            isNamedByMapping(pair.receivedAt, { sentAfter: startedAt, checkIn }),
        );
      const isIncorrect = isNamedByEmail || verdict === 'incorrect';
      return {
        ...{ providerName, verdict, isNamedByEmail, isSuspect },
        providerHotelId: isIncorrect ? providerHotelId : undefined,
      };
    });
}

function toDay(all: readonly Known[]) {
  const rows = batchStreams.flatMap((stream) =>
    all
      .filter((known) => known.stream === stream)
      .map((known, at) => ({ ...known, batch: Math.floor(at / batchSize), row: at % batchSize })),
  );
  const linesOf = (stream: BatchStream) => {
    const batches: string[][] = [];
    for (const { line, batch } of rows.filter((known) => known.stream === stream))
      batches[batch] = [...(batches[batch] ?? []), line];
    return batches;
  };
  const group = (chosen: typeof rows) => {
    const batches: Record<number, number[]> = {};
    for (const { batch, row } of chosen) batches[batch] = [...(batches[batch] ?? []), row];
    return batches;
  };
  const judgedAs = (judged: string) => group(rows.filter((known) => known.judged === judged));
  return {
    run,
    posted: linesOf('posted'),
    file: linesOf('file'),
    judged: {
      incorrect: judgedAs('incorrect'),
      'not-in-result': judgedAs('not-in-result'),
      unclear: judgedAs('unclear'),
    },
    undelivered: rows
      .filter(({ isUndelivered }) => isUndelivered)
      .map(({ batch, row }) => ({ batch, first: row, bookings: 1, state: 'ready' as const })),
    named: rows.filter(({ isNamed }) => isNamed).map(({ stream, batch, row }) => ({ stream, batch, row })),
    suspects: batchStreams.flatMap((stream) =>
      Object.entries(group(rows.filter((known) => known.stream === stream && known.isSuspect))).map(
        ([batch, of]) => ({ stream, batch: Number(batch), rows: of }),
      ),
    ),
  };
}

it('the outcomes of the bookings of a day are those of parsing and judging each on its own', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyKnown.map(toStored), { maxLength: 12 }), async (known) => {
      // In the order in which they are stored.
      const all = batchStreams.flatMap((stream) => known.filter((one) => one.stream === stream));
      const ledger = ledgerOf([toDay(all)], [], listPairs(all));
      const read: Outcome[] = [];
      for await (const outcomes of readOutcomes(ledger, run.day, await readNamedPairs(ledger)))
        read.push(...outcomes);
      expect(read).toEqual(judgeOneByOne(all));
    }),
  );
});

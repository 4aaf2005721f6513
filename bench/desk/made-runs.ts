import { createBusinessDay } from '../../src/booking/business-day.js';
import { createNormaliser } from '../../src/booking/normalise.js';
import type { CaseLedger } from '../../src/cases/case-store.js';
import { planBatches } from '../../src/review/body/body-delivery.js';
import { createBodyForms } from '../../src/review/body/booking-item.js';
import { collectDay } from '../../src/review/collect/collect.js';
import { createDayReader } from '../../src/review/collect/day-reader.js';
import type { Delivery } from '../../src/review/delivery.js';
import { createFileForms } from '../../src/review/file/review-line.js';
import type { Ledger } from '../../src/review/ledger.js';
import { isActive } from '../../src/review/run.js';
import type { BookingSource, SourceRecord } from '../../src/review/source.js';
import type { PlannedStep } from '../../src/review/step.js';
import { bookedServiceId, hotelOf } from '../many-days.js';
import { endingOf } from './made-endings.js';
import type { PlannedRun } from './planned-runs.js';

/** Of the provider hotels in the ledger's copy of the mappings. */
export const hotels = 50_000;
const recordsAtOnce = 1_000;
const stepsAtOnce = 50;
const suspectDays = 7;

/** The reference of the record at that place of a run. */
export function referenceOf({ id }: Pick<PlannedRun, 'id'>, place: number): string {
  return `BR-${id}-${place}`;
}

/** Makes a run through the ledger's port: collected by the real code, its steps claimed and recorded. */
export async function makeRun(ledger: CaseLedger, planned: PlannedRun): Promise<void> {
  const { id, day, trigger, delivery, shape, startedAt } = planned;
  const { token } = await ledger.createRun({
    ...{ id, day, delivery, trigger, startedAt },
    ...(trigger === 'replay' && { reason: 'the agency corrected the day' }),
  });
  const right = { runId: id, token };
  await collectDay(
    createBusinessDay(day, 'Europe/Madrid'),
    right,
    partsOf(ledger, planned),
    new AbortController().signal,
  );
  await performSteps(ledger, planned, right);
  // Its cases were opened long ago.
  await ledger.cases.markFollowed([{ runId: id, hasBookings: true, isComplete: true }]);
  const run = await ledger.getRun(id);
  if (!isActive(run)) return;
  const at = startedAt + 120_000;
  const failure = {
    class: 'retryable',
    code: 'steps-failed',
    message: `a step failed; run ${day} again`,
  } as const;
  await ledger.settle(
    right,
    shape === 'failing' ? { state: 'failed', failure, at } : { state: 'succeeded', at },
  );
}

function partsOf(ledger: Ledger, planned: PlannedRun) {
  const { batchSize, startedAt, shape } = planned;
  return {
    reader: createDayReader({ source: sourceOf(planned), normalise: createNormaliser() }),
    delivery: deliveryOf(planned),
    ledger,
    limits: { batchSize, maxRejectedShare: 1, emptyDay: 'fail' as const },
    clock: () => startedAt,
    notify: () => {},
    // Looking up each booking of five million would take longer than all else.
    ...(shape === 'long-lists' && { comparison: { copy: ledger.mappings, suspectDays } }),
  };
}

function deliveryOf({ delivery, batchSize }: PlannedRun): Delivery {
  const body = createBodyForms('ServiceId');
  const forms = delivery === 'file' ? createFileForms({ body, incomplete: 'post' }) : body;
  return {
    ...forms,
    plan: (bookings) => [
      ...(delivery === 'file' ? planFile(bookings.file) : []),
      ...planBatches(bookings.body, batchSize),
    ],
    perform: () => Promise.reject(new TypeError('nothing is sent here')),
  };
}

function planFile(bookings: number): readonly PlannedStep[] {
  return [
    { name: 'write', kind: 'write', bookings: 0 },
    { name: 'upload', kind: 'upload', after: 'write', bookings: 0 },
    { name: 'trigger', kind: 'trigger', after: 'upload', bookings },
    { name: 'await-result', kind: 'await-result', after: 'trigger', bookings: 0 },
    { name: 'archive', kind: 'archive', after: 'await-result', bookings: 0 },
  ];
}

function sourceOf(planned: PlannedRun): BookingSource {
  return {
    placeUnit: 'line',
    locate: ({ iso }) => `/exports/bookings-${iso}.csv`,
    measure: async () => undefined,
    async *read() {
      for (let first = 0; first < planned.records; first += recordsAtOnce) {
        const length = Math.min(recordsAtOnce, planned.records - first);
        yield { records: Array.from({ length }, (_, index) => recordAt(planned, first + index)) };
      }
    },
  };
}

/** Of long lists, two records in five cannot be sent, and one in ten lacks a guest's name. */
function recordAt(planned: PlannedRun, place: number): SourceRecord {
  const hasLongLists = planned.shape === 'long-lists';
  const hotel = ((place * 7 + planned.startedAt / 3_600_000) % hotels) | 0;
  return {
    place: place + 2,
    fields: {
      ...(!(hasLongLists && place % 5 < 2) && { ServiceId: bookedServiceId(hotel) }),
      BookingReferenceId: referenceOf(planned, place),
      ...(!(hasLongLists && place % 10 === 9) && { BookingClientName: 'Maria Garcia Lopez' }),
      ProviderName: hotelOf(hotel).providerName,
      ProviderHotelId: hotelOf(hotel).providerHotelId,
      CheckInDate: '2199-03-15',
      CheckOutDate: '2199-03-18',
    },
  };
}

async function performSteps(
  ledger: Ledger,
  planned: PlannedRun,
  right: { readonly runId: string; readonly token: number },
): Promise<void> {
  let at = planned.startedAt + 5_000;
  for (;;) {
    const open = await ledger.listOpenSteps(right.runId, { limit: stepsAtOnce });
    if (open.length === 0) return;
    at += 1_000;
    await Promise.all(
      open.map(async ({ name, attempt }) => {
        const claimed = await ledger.claim(right, name, attempt, at);
        if (!claimed) throw new Error(`expected that ${name} of ${right.runId} is free, got: taken`);
        const measured = await ledger.measureBatches(right.runId, 'file');
        await ledger.record(claimed, endingOf(planned, claimed, measured, at + 400), at + 400);
      }),
    );
  }
}

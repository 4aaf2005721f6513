import { createBusinessDay } from '../../src/booking/business-day.js';
import type { BatchStream, GuestNames } from '../../src/booking/sending.js';
import type { SourceRecord } from '../../src/booking/source.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createBodyDelivery } from '../../src/review/body/body-delivery.js';
import { type CollectParts, collectDay } from '../../src/review/collect/collect.js';
import type { Delivery } from '../../src/review/delivery.js';
import { readReference } from '../../src/review/stored/stored-line.js';
import type { DeliveryKind, Run, Trigger } from '../../src/rules/run.js';
import { at, done, newRun, perform, rightOf } from '../contracts/ledger/days.js';
import { planFileRun } from '../contracts/ledger/file-days.js';
import { createArraySource, readerOf, record } from './array-source.js';

export const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const service = { reviewBookedHotels: () => Promise.reject(new Error('nothing is sent while collecting')) };

export interface LateDay {
  readonly ledger: Ledger;
  readonly kind: DeliveryKind;
  readonly trigger?: Trigger;
  readonly batchSize: number;
  readonly masterIdName?: string;
  readonly names?: GuestNames;
}

/** The delivery of such a day: by file for bookings that can be in it, unless it is a day by body. */
export function deliveryOf({ kind, batchSize, masterIdName = 'ServiceId', names }: LateDay): Delivery {
  const body = createBodyDelivery({ service, masterIdName, batchSize, ...(names && { names }) });
  if (kind === 'body') return body;
  return {
    ...body,
    kind: 'file',
    plan: ({ file, posted }) => [
      ...(file === 0 ? [] : planFileRun({ file })),
      ...body.plan({ file: 0, posted }),
    ],
  };
}

/** A new run of the day that collects these records; a top-up if `topsUp` is true. */
export async function collectRun(
  late: LateDay,
  id: string,
  records: readonly SourceRecord[],
  { topsUp = false, ...parts }: { readonly topsUp?: boolean } & Partial<CollectParts> = {},
): Promise<Run> {
  const { ledger, kind, trigger = 'manual' } = late;
  const run = await ledger.runs.create(newRun(id, { delivery: kind, topsUp, trigger }));
  return collectAgain(late, run, records, parts);
}

export function collectAgain(
  late: LateDay,
  run: Run,
  records: readonly SourceRecord[],
  parts: Partial<CollectParts> = {},
  signal = new AbortController().signal,
): Promise<Run> {
  const collecting: CollectParts = {
    reader: readerOf(createArraySource([records])),
    delivery: deliveryOf(late),
    ledger: late.ledger,
    limits: { maxRejectedShare: 1, emptyDay: 'succeed', batchSize: late.batchSize },
    clock: () => at,
    notify: () => {},
    ...parts,
  };
  return collectDay(day, run, collecting, signal);
}

/** Performs every step of a run except those named, and ends it. */
export async function deliverRun(ledger: Ledger, run: Run, except: readonly string[] = []): Promise<void> {
  for (;;) {
    const open = await ledger.steps.listOpen(run.id, { limit: 100 });
    const step = open.find(({ name }) => !except.includes(name));
    if (!step) break;
    await perform(ledger, run, step.name, done, step.attempt);
  }
  const state = except.length === 0 ? 'succeeded' : 'failed';
  await ledger.runs.settle(rightOf(run), { state, at });
}

/** The references that a run has stored in that stream, in order. */
export async function storedReferences(
  ledger: Ledger,
  runId: string,
  stream: BatchStream,
): Promise<string[]> {
  const { batches } = await ledger.bookings.measureBatches(runId, stream);
  const references: string[] = [];
  for (let batch = 0; batch < batches; batch += 1) {
    const lines = (await ledger.bookings.readBatch(runId, stream, batch)).toString();
    for (const line of lines.trimEnd().split('\n')) references.push(`${readReference(line)}`);
  }
  return references;
}

/** A booking that can be in the file. */
export function whole(number: number, changes: Parameters<typeof record>[1] = {}): SourceRecord {
  return record(number, {
    ProviderName: 'Hotelbeds',
    ProviderHotelId: `00${number}`,
    CheckInDate: '2026-12-01',
    CheckOutDate: '2026-12-08',
    ...changes,
  });
}

export function wholes(from: number, count: number): SourceRecord[] {
  return Array.from({ length: count }, (_, index) => whole(from + index));
}

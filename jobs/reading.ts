import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { BusinessDay } from '../src/booking/business-day.js';
import type { Config } from '../src/config/load.js';
import { createThreadedReader } from '../src/reading-thread/threaded-reader.js';
import { createBodyForms } from '../src/review/body/booking-item.js';
import { createDayReader, type DayReader } from '../src/review/collect/day-reader.js';
import type { BookingForms } from '../src/review/delivery.js';
import type { ErasedGuests } from '../src/review/erasures.js';
import { createFileForms } from '../src/review/file/review-line.js';
import type { GuestNames } from '../src/review/guest-names.js';
import type { DeliveryKind } from '../src/review/run.js';
import { composeSource, type SourceMessages, type SourceSettings } from './sources.js';

/** The part of the configuration that reading a day needs; plain data that can be sent to another thread. */
export interface ReadingSettings {
  readonly source: Config['source'];
  readonly s3: Config['s3'];
  readonly retry: Config['retry'];
  readonly proxy: Config['proxy'];
  readonly masterIdName: string;
  readonly incomplete: Config['file']['incomplete'];
  readonly names: GuestNames;
}

/** What a thread receives at its start. */
export interface ReadingOrder {
  readonly settings: ReadingSettings;
  readonly day: Pick<BusinessDay, 'iso' | 'zone'>;
  readonly kind: DeliveryKind;
  readonly erased?: ErasedGuests | undefined;
}

/**
 * Half of Node 20's default. The objects of a chunk are short-lived, so the thread is no slower, and it takes 10 MB less. A
 * `--max-semi-space-size` for the process overrides it.
 */
const maxYoungGenerationSizeMb = 24;

export async function openReader(
  { source, s3, retry, proxy, service, file, guestNames: names }: Config,
  sourceMessages: SourceMessages,
): Promise<DayReader> {
  const { masterIdName } = service;
  const settings = { source, s3, retry, proxy, masterIdName, incomplete: file.incomplete, names };
  const parts = await composeSource(settings, sourceMessages);
  const reader = createDayReader(parts);
  if (availableParallelism() === 1) return reader;
  return createThreadedReader({
    reader,
    measure: (day) => parts.source.measure(day),
    startThread: (day, kind, erased) =>
      new Worker(new URL('./reading-thread.js', import.meta.url), {
        workerData: { ...createReadingOrder(settings, day, kind), erased },
        resourceLimits: { maxYoungGenerationSizeMb },
      }),
  });
}

export function createReadingOrder(
  settings: ReadingSettings,
  { iso, zone }: BusinessDay,
  kind: DeliveryKind,
): ReadingOrder {
  return { settings, day: { iso, zone }, kind };
}

export function createForms(
  kind: DeliveryKind,
  { masterIdName, incomplete, names }: Omit<ReadingSettings, keyof SourceSettings>,
): BookingForms {
  const body = createBodyForms(masterIdName, names);
  switch (kind) {
    case 'body':
      return body;
    case 'file':
      return createFileForms({ body, incomplete });
  }
}

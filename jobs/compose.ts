import type { Config } from '../src/config/load.js';
import type { CanarySettings } from '../src/review/canary.js';
import { createRunId } from '../src/review/day/open-run.js';
import type { RunDayParts } from '../src/review/day/run-day.js';
import type { Delivery } from '../src/review/delivery.js';
import { readErasedGuests } from '../src/review/erasures.js';
import type { DeliveryKind } from '../src/review/run.js';
import type { App } from './app.js';
import { clock, random } from './clock.js';
import { createDelivery } from './deliveries.js';
import { startNotifications } from './notifications.js';
import { openReader } from './reading.js';
import type { SourceMessages } from './sources.js';
import { openWorkforce, refuseUnfitQueue } from './workforces.js';

export interface ReviewOptions {
  /** False for a process that leaves the steps to workers. */
  readonly performs?: boolean;
}

const hourMs = 3_600_000;

export type Review = Awaited<ReturnType<typeof openReview>>;

/** Opens what reviews a day, as configured: its deliveries, what performs its steps, and what tells people. */
export async function openReview(app: App, { performs = true }: ReviewOptions) {
  const { config, notify, signal, sourceMessages } = app;
  const ledger = await app.ledger();
  const readErased = () => readErasedGuests(ledger, config.hashKey);
  // Fails before anything else is opened if the key is missing, or Redis will never take a step.
  await readErased();
  await refuseUnfitQueue(config, signal);
  const deliveries = new Map<DeliveryKind, Delivery>();
  const deliveryFor = (kind: DeliveryKind): Delivery => {
    const known = deliveries.get(kind);
    if (known) return known;
    const parts = { ledger, service: app.reviewService(), findSftp: app.sftp, notify, clock };
    const delivery = createDelivery(kind, config, parts);
    deliveries.set(kind, delivery);
    return delivery;
  };
  const workforce = await openWorkforce(config, { ledger, deliveryFor, notify, performs });
  const notifications = await startNotifications(config, { ...app, ledger });
  const parts: RunDayParts = {
    ...(await composeCollect(config, sourceMessages)),
    comparison: ledger.mappings,
    readErased,
    canary: readCanarySettings(config),
    ledger,
    deliveryFor,
    workforce,
    createRunId: (day) => createRunId(day, random),
    notify,
  };
  return {
    parts,
    async close(): Promise<void> {
      await workforce.close();
      // They tell what the steps led to.
      await notifications.close();
    },
  };
}

function readCanarySettings({ canary }: Config): CanarySettings | undefined {
  if (!canary) return undefined;
  const { withinHours, ...pair } = canary;
  return { ...pair, withinMs: Math.ceil(withinHours * hourMs) };
}

/** The parts for collecting a day, the same for a run and a dry run. */
export async function composeCollect(config: Config, sourceMessages: SourceMessages) {
  const { batchSize } = config.body;
  return {
    reader: await openReader(config, sourceMessages),
    limits: {
      maxRejectedShare: config.maxRejectedShare,
      emptyDay: config.emptyDay,
      maxPostedShare: config.file.maxPostedShare,
      incomplete: {
        maxShare: config.maxIncompleteShare,
        provider: config.source.columns.ProviderName !== false,
        hotelId: config.source.columns.ProviderHotelId !== false,
      },
      maxRepeatedShare: config.source.maxRepeatedShare,
      batchSize,
      volume: config.volume,
    },
    clock,
  };
}

import type { Config } from '../src/config/load.js';
import type { NotifyAll } from '../src/events/events.js';
import type { NoticeLedger } from '../src/notifications/notice-store.js';
import type { CanarySettings } from '../src/review/canary.js';
import { createRunId } from '../src/review/day/open-run.js';
import type { RunDayParts } from '../src/review/day/run-day.js';
import type { Delivery } from '../src/review/delivery.js';
import { readErasedGuests } from '../src/review/erasures.js';
import type { DeliveryKind } from '../src/review/run.js';
import type { ClosableSftpServer } from '../src/sftp/server.js';
import type { WriteCommand } from '../src/text/shell.js';
import { clock, random } from './clock.js';
import { createDelivery, openSftp } from './deliveries.js';
import { openLedger } from './ledgers.js';
import { openReviewService } from './mapping-services.js';
import { startNotifications } from './notifications.js';
import { openReader } from './reading.js';
import type { SourceMessages } from './sources.js';
import { openWorkforce, refuseUnfitQueue } from './workforces.js';

export interface ComposeOptions {
  readonly notify: NotifyAll;
  readonly warn: (message: string) => void;
  readonly command: WriteCommand;
  readonly signal: AbortSignal;
  readonly sourceMessages: SourceMessages;
  /** False for a process that leaves the steps to workers. */
  readonly performs?: boolean;
}

/** Long enough for the next step, short enough for servers that limit their connections. */
const sftpIdleMs = 5_000;
const hourMs = 3_600_000;

/** The parts of a review as configured: the one place that chooses adapters. */
export async function composeReview(
  config: Config,
  { notify, sourceMessages, performs = true, ...telling }: ComposeOptions,
) {
  const ledger = await openLedger(config);
  const readErased = () => readErasedGuests(ledger, config.hashKey);
  try {
    // Fails before anything else is opened if the key is missing, or Redis will never take a step.
    await readErased();
    await refuseUnfitQueue(config, telling.signal);
  } catch (error) {
    await ledger.close();
    throw error;
  }
  const service = openReviewService(config);
  let sftp: ClosableSftpServer | undefined;
  const findSftp = () => {
    sftp ??= openSftp(config, { keep: { idleMs: sftpIdleMs, clock } });
    return sftp;
  };
  const deliveries = new Map<DeliveryKind, Delivery>();
  const deliveryFor = (kind: DeliveryKind): Delivery => {
    const known = deliveries.get(kind);
    if (known) return known;
    const parts = { ledger, service, findSftp, notify, clock };
    const delivery = createDelivery(kind, config, parts);
    deliveries.set(kind, delivery);
    return delivery;
  };
  const workforce = await openWorkforce(config, { ledger, deliveryFor, notify, performs });
  const notifications = await startNotifications(config, { ...telling, ledger, notify });
  const parts: RunDayParts & { readonly ledger: NoticeLedger } = {
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
    ledger,
    async close(): Promise<void> {
      await workforce.close();
      await notifications.close();
      await Promise.all([sftp?.close(), service.close(), ledger.close()]);
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

import { randomInt } from 'node:crypto';
import { createNormaliser } from '../src/booking/normalise.js';
import type { Config } from '../src/config/load.js';
import type { Ledger } from '../src/ledger/ledger.js';
import { isFileThere } from '../src/ledger/sqlite/ledger-place.js';
import { createSqliteLedger } from '../src/ledger/sqlite/sqlite-ledger.js';
import { createMappingServiceClient } from '../src/mapping-service/client.js';
import type { ReviewService } from '../src/mapping-service/mapping-service.js';
import { createInProcessQueue } from '../src/queue/in-process.js';
import type { Delivery } from '../src/review/delivery.js';
import type { Notify } from '../src/review/events.js';
import type { DeliveryKind } from '../src/review/run.js';
import { type RunDayParts, UsageError } from '../src/review/run-day.js';
import { createRunId } from '../src/review/run-id.js';
import { readReference } from '../src/review/stored-line.js';
import { createCsvSource } from '../src/sources/csv.js';
import { createNdjsonSource } from '../src/sources/ndjson.js';
import type { BookingSource } from '../src/sources/source.js';
import { createDelivery } from './deliveries.js';

/** After a stop was asked for; with what a process needs to end it stays under five seconds. */
const graceMs = 3_000;

export const clock = (): number => Date.now();
const random = (): number => randomInt(2 ** 47) / 2 ** 47;

/** The parts of a review as the configuration chooses them: the one place where adapters are picked. */
export function composeReview(config: Config, notify: Notify) {
  const ledger = openLedger(config);
  const service = openService(config);
  const { limits, ...collecting } = composeCollect(config);
  const deliveries = new Map<DeliveryKind, Delivery>();
  const parts: RunDayParts = {
    ...collecting,
    ledger,
    deliveryFor(kind) {
      const delivery =
        deliveries.get(kind) ?? createDelivery(kind, config, { ledger, service, notify, clock });
      deliveries.set(kind, delivery);
      return delivery;
    },
    createQueue: () =>
      createInProcessQueue({
        concurrency: config.body.concurrency,
        perSecond: config.body.requestsPerSecond,
        clock,
      }),
    retry: {
      tries: config.retry.tries,
      baseMs: config.retry.baseSeconds * 1000,
      capMs: config.retry.capSeconds * 1000,
      retryAfterCapMs: config.retry.retryAfterCapSeconds * 1000,
      waits: config.retry.waits,
    },
    limits: { ...limits, maxRefusedShare: config.maxRefusedShare },
    graceMs,
    createRunId: (day) => createRunId(day, random),
    random,
    notify,
  };
  return {
    parts,
    async close(): Promise<void> {
      await service.close();
      await ledger.close();
    },
  };
}

/** What it takes to collect a day: the same for a run and for a dry run. */
export function composeCollect(config: Config) {
  const { batchSize } = config.body;
  return {
    source: openSource(config),
    normalise: createNormaliser({ dateFormat: config.source.dateFormat }),
    limits: { maxRejectedShare: config.maxRejectedShare, emptyDay: config.emptyDay, batchSize },
    clock,
  };
}

function openLedger({ ledger }: Config, { isOnlooker = false } = {}): Ledger {
  switch (ledger.kind) {
    case 'sqlite':
      return openSqlite(ledger.path, isOnlooker);
    case 'postgres':
      throw new UsageError('ledger: postgres:// is not available in this version');
  }
}

/** Opens the ledger to look on; undefined where there is none yet, and none is made. */
export function findLedger(config: Config): Ledger | undefined {
  const { ledger } = config;
  return ledger.kind === 'sqlite' && !isFileThere(ledger.path)
    ? undefined
    : openLedger(config, { isOnlooker: true });
}

/**
 * Opens the ledger, to look on, for as long as `look` takes.
 *
 * @param whenNone is told, in words for a person, where a ledger was looked for
 */
export async function lookIntoLedger<Answer>(
  config: Config,
  whenNone: (notice: string) => Answer,
  look: (ledger: Ledger) => Promise<Answer>,
): Promise<Answer> {
  const ledger = findLedger(config);
  if (!ledger)
    return whenNone(`There is no ledger${'path' in config.ledger ? ` at ${config.ledger.path}` : ''} yet.`);
  try {
    return await look(ledger);
  } finally {
    await ledger.close();
  }
}

export function openSqlite(path: string, isOnlooker = false): Ledger {
  return createSqliteLedger({
    path,
    carriesReference: (line, form, reference) => readReference(line, form) === reference,
    clock,
    isOnlooker,
  });
}

export function openSource({ source }: Config): BookingSource {
  switch (source.kind) {
    case 'csv':
      return createCsvSource(source);
    case 'ndjson':
      return createNdjsonSource(source);
  }
}

function openService({ service, body }: Config): ReviewService {
  return createMappingServiceClient({
    baseUrl: service.baseUrl,
    apiKey: service.apiKey,
    accountId: service.accountId,
    connections: body.concurrency,
    timeoutMs: (body.timeoutSeconds ?? service.timeoutSeconds) * 1000,
    connectTimeoutMs: service.connectTimeoutSeconds * 1000,
    statusCodes: service.statusCodes,
    clock: () => new Date(),
  });
}

import { needsPerson } from '../src/base/peer-patience.js';
import { UsageError } from '../src/base/safe-error.js';
import { QueueAwayError } from '../src/booking/step-queue.js';
import { lookOnce } from '../src/checks/check.js';
import type { Config } from '../src/config/load.js';
import { readErasedGuests } from '../src/ledger/guests.js';
import type { Ledger } from '../src/ledger/ledger.js';
import type { FailedStep } from '../src/ledger/steps.js';
import type { Log } from '../src/notify/events.js';
import { createInProcessQueues } from '../src/queue/in-process.js';
import { ArchiveAwayError } from '../src/review/archive-fit.js';
import { createBodyDelivery } from '../src/review/body/body-delivery.js';
import { createRunId } from '../src/review/day/open-run.js';
import type { Delivery } from '../src/review/delivery.js';
import type { Notify } from '../src/review/events.js';
import { explainFailure } from '../src/review/file/explain-failure.js';
import { createFileDelivery } from '../src/review/file/file-delivery.js';
import {
  createOwnWorkforce,
  createSharedWorkforce,
  startHeartbeat,
  type Workforce,
} from '../src/review/perform/workforce.js';
import type { ReviewParts } from '../src/review/review-day.js';
import type { CanarySettings } from '../src/rules/canary.js';
import type { DeliveryKind, Run } from '../src/rules/run.js';
import type { ReviewService } from '../src/service/client.js';
import type { SourceMessages } from '../src/sources/common/kind.js';
import type { Archive } from '../src/storage/archive.js';
import type { PeerClock } from '../src/transports/http/peer-clocks.js';
import { describeHost } from '../src/transports/http/transport.js';
import { defaultLimits, type SftpServer } from '../src/transports/sftp/sftp.js';
import type { App } from './app.js';
import { clock, random } from './clock.js';
import { createLedgerGate, keepArchiveTold, type LedgerGate } from './ledger-gate.js';
import { startNotifications } from './notifications.js';
import { openSpool, refuseArchive } from './parts.js';
import { version } from './process.js';
import { openReader, openRetryPolicy } from './sources.js';

const hourMs = 3_600_000;

/** What reviews a day, and what guards its ledger. */
export interface OpenedReview extends ReviewParts {
  readonly gate: LedgerGate;
}

/**
 * Opens what reviews a day, as configured: its deliveries, what performs its steps, and what tells people.
 *
 * @param performs false for a process that leaves the steps to workers
 */
export async function openReview(app: App, performs: boolean): Promise<OpenedReview> {
  const { config, notify, peerClocks, sourceMessages } = app;
  const ledger = await app.ledger();
  const readErased = () => readErasedGuests(ledger, config.hashKey);
  const gate = createLedgerGate(app, ledger);
  await refuseMisfit(gate, config);
  // Fails before anything else is opened if the key is missing, or Redis will never take a step.
  await readErased();
  await refuseUnfitQueue(config);
  const deliveries = new Map<DeliveryKind, Delivery>();
  const deliveryFor = (kind: DeliveryKind): Delivery => {
    const known = deliveries.get(kind);
    if (known) return known;
    const archive = app.archive();
    const parts = { ledger, service: app.reviewService(), findSftp: app.sftp, archive, notify, clock };
    const delivery = createDelivery(kind, config, parts);
    deliveries.set(kind, delivery);
    return delivery;
  };
  const leaseMs = config.workers.leaseSeconds * 1000;
  const heartbeat = startHeartbeat(ledger, leaseMs, {
    ...{ id: app.io.worker, host: app.io.host, version },
    startedAt: clock(),
  });
  app.beforeClose(() => heartbeat.close());
  const notifications = await startNotifications(app, ledger);
  // They tell what the last steps led to.
  app.beforeClose(() => notifications.close());
  const told = keepArchiveTold(app, ledger);
  app.beforeClose(() => told.close());
  const workforce = await openWorkforce(app, ledger, deliveryFor, performs);
  app.beforeClose(() => workforce.close());
  return {
    ...(await composeCollect(config, sourceMessages, peerClocks.of('source'))),
    readErased,
    canary: readCanarySettings(config),
    ledger,
    deliveryFor,
    workforce,
    peerClocks,
    createRunId: (day) => createRunId(day, random),
    gate,
    mayReview: gate.mayReview,
    beforeSending: told.tell,
    notify,
  };
}

/** Before messages of the ledger are sent, which may be another one's. An archive that is away is met by the run. */
async function refuseMisfit(gate: LedgerGate, config: Config): Promise<void> {
  try {
    await gate.mayReview('file');
  } catch (error) {
    if (!(error instanceof ArchiveAwayError)) throw error;
    refuseArchive(error, config);
  }
}

function readCanarySettings({ canary }: Config): CanarySettings | undefined {
  if (!canary) return undefined;
  const { withinHours, ...pair } = canary;
  return { ...pair, withinMs: Math.ceil(withinHours * hourMs) };
}

/** The parts for collecting a day, the same for a run and a dry run. */
export async function composeCollect(config: Config, sourceMessages: SourceMessages, peerClock?: PeerClock) {
  const { batchSize } = config.body;
  return {
    reader: await openReader(config, sourceMessages, peerClock),
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

interface DeliveryParts {
  readonly ledger: Ledger;
  readonly service: ReviewService;
  /** Called by a delivery that needs the server. */
  readonly findSftp: () => SftpServer;
  readonly archive: Archive;
  readonly notify: Notify;
  readonly clock: () => number;
}

/** The delivery of that kind, as configured. A resumed run keeps the kind it was started with. */
export function createDelivery(
  kind: DeliveryKind,
  config: Config,
  { findSftp, ...parts }: DeliveryParts,
): Delivery {
  const { file, service } = config;
  const body = createBodyDelivery({
    service: parts.service,
    masterIdName: service.masterIdName,
    batchSize: config.body.batchSize,
    names: config.guestNames,
    findCanary: parts.ledger.canaries.find,
  });
  if (kind === 'body') return body;
  const { incomplete, resultPattern, resultNames, resultColumn, resultValues } = file;
  return createFileDelivery({
    ...parts,
    ...{ body, incomplete, resultPattern, resultNames, resultColumn, resultValues, stepMs },
    timezone: config.timezone,
    masterIdColumn: service.masterIdColumn,
    pathPrefix: file.ftpFilePathPrefix,
    maxUnansweredShare: config.maxUnansweredShare,
    resultPollMs: file.resultPollSeconds * 1000,
    resultQuietMs: file.resultQuietSeconds * 1000,
    resultTimeoutMs: file.resultTimeoutMinutes * 60_000,
    sftp: findSftp(),
    spool: openSpool(config),
    tool: `booked-hotel-review ${version}`,
  });
}

/** A step may download an earlier run's file and its result, and upload a file. */
const stepMs = 3 * defaultLimits.transferMs;

/** Opens what performs the steps: this process alone, or all that share the queue. */
async function openWorkforce(
  { config, notify, peerClocks, signal, io }: App,
  ledger: Ledger,
  deliveryFor: ReviewParts['deliveryFor'],
  performs: boolean,
): Promise<Workforce> {
  const { body, workers, queue, file } = config;
  const { sftp } = file;
  const paths = sftp && { root: sftp.root, pathPrefix: file.ftpFilePathPrefix };
  const common = {
    ...{ ledger, notify, peerClocks },
    deliveryOf: ({ delivery }: { readonly delivery: DeliveryKind }) => deliveryFor(delivery),
    retry: openRetryPolicy(config),
    limits: { maxRefusedShare: config.maxRefusedShare, maxAffectedShare: config.maxAffectedShare },
    endpoints: { service: describeHost(config.service.baseUrl), sftp: sftp && `${sftp.host}:${sftp.port}` },
    explainFailure: (run: Run, failed: FailedStep) => explainFailure(run, failed, paths),
    leaseMs: workers.leaseSeconds * 1000,
    longestWaitMs: findLongestWaitMs(config),
    graceMs: workers.stopSeconds * 1000,
    clock,
    random,
  };
  const pace = { concurrency: body.concurrency, perSecond: body.requestsPerSecond, clock };
  switch (queue.kind) {
    case 'in-process':
      return createOwnWorkforce(common, createInProcessQueues(pace));
    case 'redis': {
      const { createBullmqQueue } = await import('../src/queue/bullmq.js');
      return createSharedWorkforce({
        ...common,
        queue: createBullmqQueue({
          url: queue.url,
          ca: queue.ca,
          name: `hotel-review:${io.worker}`,
          lockMs: common.leaseMs,
          ...pace,
          onNotice: notify,
        }),
        // Steps that the queue has lost must not wait for long, nor longer than those of a dead process.
        reconcileMs: Math.min(15, workers.leaseSeconds / 2) * 1000,
        performs,
        stop: signal,
      });
    }
  }
}

/** The longest that any step may have to wait: between two tries, as the service asked, or for the next check for a result. */
function findLongestWaitMs(config: Config): number {
  const { baseMs, capMs, retryAfterCapMs } = openRetryPolicy(config);
  const askedMs = retryAfterCapMs + Math.min(baseMs, capMs);
  return Math.max(capMs, askedMs, 1000 * config.file.resultPollSeconds);
}

/** How long a starting process waits for Redis to describe itself. */
const answerMs = 3_000;

/**
 * A wrong password, a cluster, a replica or missing rights never heal by themselves: without this, a process would wait for ever. A
 * server that only does not answer is waited for.
 *
 * @throws UsageError with what doctor says
 */
async function refuseUnfitQueue({ queue }: Config): Promise<void> {
  if (queue.kind !== 'redis') return;
  const { checkQueue } = await import('../src/checks/doctor/queue.js');
  try {
    await checkQueue({ ...queue, answerMs });
  } catch (error) {
    if (!(error instanceof QueueAwayError)) throw error;
    if (needsPerson(error.fault)) throw new UsageError(error.message);
  }
}

/** Logs what should be fixed about Redis when a long-running process starts. The process continues, or waits for Redis. */
export async function logQueueProblems({ queue }: Config, log: Log, signal: AbortSignal): Promise<void> {
  if (queue.kind !== 'redis') return;
  const { checkQueue } = await import('../src/checks/doctor/queue.js');
  const look = () => checkQueue({ ...queue, answerMs });
  const findings = await lookOnce('queue', 10, look, signal);
  for (const { verdict, message, advice } of findings) {
    if (verdict !== 'ok') log[verdict === 'wrong' ? 'error' : 'warn']({ advice }, `redis: ${message}`);
  }
}

import type { Config } from '../src/config/load.js';
import type { Log } from '../src/events/log.js';
import { describeHost } from '../src/http/url.js';
import { createInProcessQueues } from '../src/queue/in-process.js';
import type { Delivery } from '../src/review/delivery.js';
import type { Notify } from '../src/review/events.js';
import type { Ledger } from '../src/review/ledger.js';
import type { Endpoints } from '../src/review/perform/endpoints.js';
import { createSharedWorkforce } from '../src/review/perform/shared-workforce.js';
import { createOwnWorkforce, type Workforce } from '../src/review/perform/workforce.js';
import type { DeliveryKind } from '../src/review/run.js';
import { UsageError } from '../src/text/usage-error.js';
import { clock, random } from './clock.js';
import { openRetryPolicy } from './retry-policy.js';

export interface WorkforceParts {
  readonly ledger: Ledger;
  readonly deliveryFor: (kind: DeliveryKind) => Delivery;
  readonly notify: Notify;
  /** False for a process that leaves the steps to others, where there can be others. */
  readonly performs: boolean;
}

/** Opens what performs the steps: this process alone, or all that share the queue. */
export async function openWorkforce(config: Config, parts: WorkforceParts): Promise<Workforce> {
  const { body, workers, queue } = config;
  const { ledger, deliveryFor, notify, performs } = parts;
  const common = {
    ledger,
    deliveryOf: ({ delivery }: { readonly delivery: DeliveryKind }) => deliveryFor(delivery),
    retry: openRetryPolicy(config),
    limits: { maxRefusedShare: config.maxRefusedShare },
    endpoints: findEndpoints(config),
    leaseMs: workers.leaseSeconds * 1000,
    longestWaitMs: findLongestWaitMs(config),
    graceMs: workers.stopSeconds * 1000,
    clock,
    random,
    notify,
  };
  const pace = { concurrency: body.concurrency, perSecond: body.requestsPerSecond, clock };
  switch (queue.kind) {
    case 'in-process':
      return createOwnWorkforce({ ...common, createQueue: createInProcessQueues(pace) });
    case 'redis': {
      const { createBullmqQueue } = await import('../src/queue/bullmq.js');
      return createSharedWorkforce({
        ...common,
        queue: createBullmqQueue({
          url: queue.url,
          ca: queue.ca,
          lockMs: common.leaseMs,
          ...pace,
          onNotice: notify,
        }),
        // Steps that the queue has lost must not wait for long, nor longer than those of a dead process.
        reconcileMs: Math.min(15, workers.leaseSeconds / 2) * 1000,
        performs,
      });
    }
  }
}

function findEndpoints({ service, file: { sftp, ftpFilePathPrefix: pathPrefix } }: Config): Endpoints {
  return {
    service: describeHost(service.baseUrl),
    sftp: sftp && `${sftp.host}:${sftp.port}`,
    paths: sftp && { root: sftp.root, pathPrefix },
  };
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
export async function refuseUnfitQueue({ queue }: Config, signal: AbortSignal): Promise<void> {
  if (queue.kind !== 'redis') return;
  const { examineQueue } = await import('../src/doctor/queue.js');
  const { refusal } = await examineQueue({ ...queue, answerMs }, signal);
  // Redis's own words may end with a full stop.
  if (refusal)
    throw new UsageError(`queue: ${refusal.message.replace(/\.$/, '')}. ${refusal.advice ?? ''}`.trim());
}

/** Logs what should be fixed about Redis when a long-running process starts. The process continues, or waits for Redis. */
export async function logQueueProblems({ queue }: Config, log: Log, signal: AbortSignal): Promise<void> {
  if (queue.kind !== 'redis') return;
  const { checkQueue } = await import('../src/doctor/queue.js');
  for (const { verdict, message, advice } of await checkQueue({ ...queue, answerMs }, signal)) {
    if (verdict !== 'ok') log[verdict === 'wrong' ? 'error' : 'warn']({ advice }, `redis: ${message}`);
  }
}

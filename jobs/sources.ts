import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { defaultRetryPolicy, type RetryPolicy } from '../src/base/retry.js';
import type { BusinessDay } from '../src/booking/business-day.js';
import { openNormaliser } from '../src/booking/normalise.js';
import type { Sending } from '../src/booking/sending.js';
import type { Config } from '../src/config/load.js';
import type { ErasedGuests } from '../src/ledger/guests.js';
import { createDayReader, type DayReader } from '../src/review/collect/day-reader.js';
import { createThreadedReader } from '../src/review/reading-thread/threaded-reader.js';
import type { SourceMessages, SourceParts } from '../src/sources/common/kind.js';
import { openSource } from '../src/sources/registry.js';
import type { PeerClock } from '../src/transports/http/peer-clocks.js';
import type { S3Bucket } from '../src/transports/s3/bucket.js';
import { now, random } from './clock.js';

/** What a thread receives at its start. */
export interface ReadingOrder {
  readonly settings: SourceSettings;
  readonly day: { readonly iso: string; readonly zone: string };
  readonly sending: Sending;
  readonly erased?: ErasedGuests | undefined;
}

/**
 * Half of Node 20's default. The objects of a chunk are short-lived, so the thread is no slower, and it takes 10 MB less. A
 * `--max-semi-space-size` for the process overrides it.
 */
const maxYoungGenerationSizeMb = 24;

export async function openReader(
  config: Config,
  sourceMessages: SourceMessages,
  peerClock?: PeerClock,
): Promise<DayReader> {
  const parts = await composeSource(config, sourceMessages, peerClock);
  const reader = createDayReader(parts);
  if (availableParallelism() === 1) return reader;
  return createThreadedReader(
    reader,
    parts.source,
    (day, sending, erased) =>
      new Worker(new URL('./processes/reading-thread.js', import.meta.url), {
        workerData: { ...createReadingOrder(config, day, sending), erased },
        resourceLimits: { maxYoungGenerationSizeMb },
      }),
    peerClock,
  );
}

export function createReadingOrder(
  { source, s3, retry, proxy }: SourceSettings,
  { iso, zone }: BusinessDay,
  { kind, names, incomplete = 'post' }: Sending,
): ReadingOrder {
  return { settings: { source, s3, retry, proxy }, day: { iso, zone }, sending: { kind, names, incomplete } };
}

/** The part of the configuration that describes a source; plain data that can be sent to another thread. */
export type SourceSettings = Pick<Config, 'source' | 's3' | 'retry' | 'proxy'>;

/** The source, and how to normalise its records. */
export async function composeSource(
  settings: SourceSettings,
  sourceMessages: SourceMessages,
  peerClock?: PeerClock,
) {
  return {
    source: await openSource(settings.source, openSourceParts(settings, sourceMessages, peerClock)),
    normaliserFor: openNormaliser(settings.source),
    extraLabels: Object.keys(settings.source.keep),
  };
}

export function openSourceParts(
  settings: Omit<SourceSettings, 'source'>,
  sourceMessages: SourceMessages,
  peerClock?: PeerClock,
): SourceParts {
  return {
    openBucket: (bucket) => findBucket(settings, bucket, peerClock)(),
    peerClock,
    retry: openRetryPolicy(settings),
    clock: now,
    random,
    proxy: settings.proxy,
    sourceMessages,
  };
}

/** Opens a bucket on demand, and loads the S3 client only then. */
export function findBucket(
  { s3, proxy }: Omit<SourceSettings, 'source'>,
  bucket: string,
  peerClock?: PeerClock,
): () => Promise<S3Bucket> {
  let found: Promise<S3Bucket> | undefined;
  return () => {
    found ??= import('../src/transports/s3/aws-bucket.js').then(({ createAwsBucket }) =>
      createAwsBucket(bucket, { ...s3, proxy, peerClock }),
    );
    return found;
  };
}

/**
 * The configured retries: of steps, of calls of the service, of an export on its SFTP server and of HTTP sources. Adapters
 * reread the files of a source by rules of their own.
 */
export function openRetryPolicy({ retry }: Pick<Config, 'retry'>): RetryPolicy {
  return {
    ...defaultRetryPolicy,
    tries: retry.tries,
    baseMs: retry.baseSeconds * 1000,
    capMs: retry.capSeconds * 1000,
  };
}

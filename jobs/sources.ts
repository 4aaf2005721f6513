import { openNormaliser } from '../src/booking/normalise.js';
import type { Config } from '../src/config/load.js';
import type { BookingSource } from '../src/review/source.js';
import type { SourceMessages, SourceParts } from '../src/sources/common/kind.js';
import { openSource as openConfiguredSource } from '../src/sources/registry.js';
import { findBucket } from './buckets.js';
import { random } from './clock.js';
import { openRetryPolicy } from './retry-policy.js';

export type { SourceMessages } from '../src/sources/common/kind.js';

/** The part of the configuration that describes a source. */
export type SourceSettings = Pick<Config, 'source' | 's3' | 'retry' | 'proxy'>;

/** The source, and how to normalise its records. */
export async function composeSource(settings: SourceSettings, sourceMessages: SourceMessages) {
  return {
    source: await openSource(settings, sourceMessages),
    normaliserFor: openNormaliser(settings.source),
    keptLabels: Object.keys(settings.source.keep),
  };
}

export function openSource(settings: SourceSettings, sourceMessages: SourceMessages): Promise<BookingSource> {
  return openConfiguredSource(settings.source, openSourceParts(settings, sourceMessages));
}

export function openSourceParts(
  { s3, retry, proxy }: Omit<SourceSettings, 'source'>,
  sourceMessages: SourceMessages,
): SourceParts {
  return {
    openBucket: (bucket) => findBucket({ s3, proxy }, bucket)(),
    retry: openRetryPolicy({ retry }),
    clock: () => new Date(),
    random,
    proxy,
    sourceMessages,
  };
}

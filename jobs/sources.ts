import { createNormaliser } from '../src/booking/normalise.js';
import { describePageWait } from '../src/cli/source-messages.js';
import type { Config } from '../src/config/load.js';
import type { BookingSource } from '../src/review/source.js';
import { createCsvSource } from '../src/sources/csv/csv-source.js';
import { createHttpSource, type HttpSourceOptions } from '../src/sources/http/http-source.js';
import { createModuleSource } from '../src/sources/module/module-source.js';
import { createNdjsonSource } from '../src/sources/ndjson/ndjson-source.js';
import { createSqlSource } from '../src/sources/sql/sql-source.js';
import { random } from './clock.js';
import { openDayFile } from './day-files.js';
import { openModuleVoice } from './module-voice.js';
import { openRetryPolicy } from './retry-policy.js';

/** What of the configuration a source is made of. */
export type SourceSettings = Pick<Config, 'source' | 's3' | 'retry'>;

/** How a source speaks to a person while it is read: on standard error. */
export interface SourceVoice {
  /** Writes one line at once. */
  say(text: string): void;
  /** Whether messages of a bookings module's errors are shown; they may quote a booking. */
  readonly showsModuleErrors: boolean;
}

/** The source, and how its records are to be understood. */
export function composeSource(settings: SourceSettings, voice: SourceVoice) {
  return {
    source: openSource(settings, voice),
    normalise: createNormaliser({ dateFormat: settings.source.dateFormat }),
  };
}

export function openSource({ source, s3, retry }: SourceSettings, voice: SourceVoice): BookingSource {
  const { columns } = source;
  switch (source.kind) {
    case 'csv':
      return createCsvSource({ file: openDayFile(source, { s3 }), columns, delimiter: source.delimiter });
    case 'ndjson':
      return createNdjsonSource({ file: openDayFile(source, { s3 }), columns });
    case 'http':
      return createHttpSource(toHttpOptions(source, { retry }, voice));
    case 'module':
      return createModuleSource({ ...source, ...openModuleVoice(source.path, voice) });
    case 'sql':
      return createSqlSource(source);
  }
}

export function toHttpOptions(
  source: Extract<SourceSettings['source'], { kind: 'http' }>,
  config: Pick<SourceSettings, 'retry'>,
  { say }: SourceVoice,
): HttpSourceOptions {
  return {
    ...source,
    timeoutMs: source.timeoutSeconds * 1000,
    connectTimeoutMs: source.connectTimeoutSeconds * 1000,
    retry: openRetryPolicy(config),
    clock: () => new Date(),
    random,
    onWait(wait) {
      const told = describePageWait(wait);
      if (told !== undefined) say(told);
    },
  };
}

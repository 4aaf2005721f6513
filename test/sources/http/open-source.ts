import type { BookingSource } from '../../../src/booking/source.js';
import { createHttpSource, type HttpSourceOptions } from '../../../src/sources/http/http-source.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { readToEnd } from '../reading.js';

type Options = Partial<HttpSourceOptions> & Pick<HttpSourceOptions, 'url'>;

/** A source with short waits between tries. Without `columns`, it says that it has the master id only. */
export function openHttpSource(options: Options): BookingSource {
  return createHttpSource({
    timeoutMs: 30_000,
    retry: { tries: 3, waits: 3, baseMs: 1, capMs: 5, retryAfterCapMs: 50 },
    clock: () => new Date(),
    random: () => 0.5,
    columns: masterIdOnly,
    ...options,
  });
}

export async function readHttp(options: Options, signal = new AbortController().signal) {
  const read = await readToEnd(openHttpSource(options), { signal });
  const ids = read.records.map((record) =>
    'fields' in record ? record.fields.ServiceId : record.unreadable,
  );
  return { ...read, ids };
}

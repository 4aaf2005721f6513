import { createNormaliser } from '../src/booking/normalise.js';
import type { Config } from '../src/config/load.js';
import { createCsvSource } from '../src/sources/csv.js';
import { createNdjsonSource } from '../src/sources/ndjson.js';
import type { BookingSource } from '../src/sources/source.js';

/** The source, and how its records are to be understood. */
export function composeSource({ source }: Pick<Config, 'source'>) {
  return {
    source: openSource({ source }),
    normalise: createNormaliser({ dateFormat: source.dateFormat }),
  };
}

export function openSource({ source }: Pick<Config, 'source'>): BookingSource {
  switch (source.kind) {
    case 'csv':
      return createCsvSource(source);
    case 'ndjson':
      return createNdjsonSource(source);
  }
}

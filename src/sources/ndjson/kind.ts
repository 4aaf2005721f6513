import type * as z from 'zod';
import { group } from '../../base/setting-values.js';
import type { SourceKind } from '../common/kind.js';
import { accountMissing, dayFileKind, dayFileSettings, hasAccount } from '../files/settings.js';

/** One file a day, one JSON object per line. */
const settings = group(
  dayFileSettings('ndjson', 'The bookings are in one file a day, a JSON object per line, plain or gzip.'),
).refine(hasAccount, accountMissing);

export type NdjsonSettings = z.output<typeof settings>;

const kind: SourceKind<NdjsonSettings> = {
  name: 'ndjson',
  ...dayFileKind,
  async open(source, parts) {
    const [{ createNdjsonSource }, { openDayFile }] = await Promise.all([
      import('./ndjson-source.js'),
      import('../files/open-day-file.js'),
    ]);
    return createNdjsonSource({
      ...source,
      file: openDayFile(source, parts.openBucket),
    });
  },
  openSample: async (settings, parts) => (await import('./ndjson-source.js')).sampleNdjson(settings, parts),
};

export const ndjson = { ...kind, settings };

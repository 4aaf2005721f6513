import type * as z from 'zod';
import { group, textLike, wholeNumber } from '../../base/setting-values.js';
import type { SourceKind } from '../common/kind.js';
import { accountMissing, dayFileKind, dayFileSettings, hasAccount } from '../files/settings.js';

/** One CSV file a day, with a header. */
const settings = group({
  ...dayFileSettings('csv', 'The bookings are in one CSV file a day, with a header, plain or gzip.'),
  delimiter: textLike(/^[!#-/:-@[-`{-~\t]$/, 'one character such as , or ; or "\\t"')
    .default(',')
    .describe('The character between two cells. A line `sep=` at the top of the file takes precedence.'),
  skipRows: wholeNumber(0, 100)
    .default(0)
    .describe('How many lines stand above the header, such as a title. A line `sep=` is one of them.'),
}).refine(hasAccount, accountMissing);

export type CsvSettings = z.output<typeof settings>;

const kind: SourceKind<CsvSettings> = {
  name: 'csv',
  ...dayFileKind,
  async open(source, parts) {
    const [{ createCsvSource }, { openDayFile }] = await Promise.all([
      import('./csv-source.js'),
      import('../files/open-day-file.js'),
    ]);
    return createCsvSource({
      ...source,
      file: openDayFile(source, parts.openBucket),
    });
  },
  openSample: async (settings, parts) => (await import('./sample.js')).sampleCsv(settings, parts),
};

export const csv = { ...kind, settings };

import { describe, it } from 'vitest';
import { day, drivenChecks } from './source/driven-checks.js';
import { manyRecords } from './source/reading.js';
import { readingChecks } from './source/reading-checks.js';
import type { SourceDriver } from './source/source-driver.js';

export type {
  DayOfRecords,
  IntendedRecord,
  PreparedSource,
  SourceDriver,
} from './source/source-driver.js';

/** The suite that every source must pass. Each check creates a driver of its own and disposes of it. */
export function describeSourceContract(name: string, createDriver: () => SourceDriver): void {
  describe(`the source contract: ${name}`, () => {
    const test = (check: string, run: (driver: SourceDriver) => Promise<void>) => {
      it(check, async () => {
        const driver = createDriver();
        try {
          await run(driver);
        } finally {
          await driver.dispose();
        }
      });
    };
    for (const { name, check } of drivenChecks) test(name, check);
    for (const { name, records, check } of readingChecks)
      test(name, async (driver) =>
        check({ ...(await driver.prepare(manyRecords(records), day)), day, count: records }),
      );
  });
}

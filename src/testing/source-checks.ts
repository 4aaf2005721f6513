import { day, drivenChecks } from './driven-checks.js';
import { manyRecords } from './reading.js';
import { type ReadingSubject, readingChecks } from './reading-checks.js';
import type { SourceCheck, SourceDriver } from './source-driver.js';

/**
 * The suite that every source must pass, for any test framework. Each check creates a driver of its own and disposes of it.
 *
 * ```ts
 * for (const { name, run } of listSourceChecks(createDriver)) test(name, run);
 * ```
 */
export function listSourceChecks(createDriver: () => SourceDriver): readonly SourceCheck[] {
  const driven = async (check: (driver: SourceDriver) => Promise<void>) => {
    const driver = createDriver();
    try {
      await check(driver);
    } finally {
      await driver.dispose();
    }
  };
  return [
    ...drivenChecks.map(({ name, check }) => ({ name, run: () => driven(check) })),
    ...readingChecks.map(({ name, records, check }) => ({
      name,
      run: () =>
        driven(async (driver) =>
          check({ ...(await driver.prepare(manyRecords(records), day)), day, count: records }),
        ),
    })),
  ];
}

/** The part of the suite that works with any source that has at least one booking on that day. */
export function listReadingChecks(subject: ReadingSubject): readonly SourceCheck[] {
  return readingChecks.map(({ name, check }) => ({ name, run: () => check(subject) }));
}

/**
 * Runs `listReadingChecks` one after the other.
 *
 * @throws Error that names the first check that failed, with the failure as its cause
 */
export async function checkBookingSource(subject: ReadingSubject): Promise<void> {
  for (const { name, run } of listReadingChecks(subject)) {
    try {
      await run();
    } catch (cause) {
      throw new Error(`a source ${name}: this one does not`, { cause });
    }
  }
}

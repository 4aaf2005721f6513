import { describe, it } from 'vitest';
import { listSourceChecks } from '../../src/testing/source-checks.js';
import type { SourceDriver } from '../../src/testing/source-driver.js';

export type {
  DayOfRecords,
  IntendedRecord,
  PreparedSource,
  SourceDriver,
} from '../../src/testing/source-driver.js';

/** The suite that every source must pass: the one that the package exports. */
export function describeSourceContract(name: string, createDriver: () => SourceDriver): void {
  describe(`the source contract: ${name}`, () => {
    for (const check of listSourceChecks(createDriver)) it(check.name, check.run);
  });
}

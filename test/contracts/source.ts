import { describe, it } from 'vitest';
import { listSourceChecks } from '../../src/testing/source-checks.js';
import type { SourceDriver } from '../../src/testing/source-driver.js';
import { isNightly } from '../support/nightly.js';

export type {
  DayOfRecords,
  IntendedRecord,
  PreparedSource,
  SourceDriver,
} from '../../src/testing/source-driver.js';

/**
 * The suite that every source must pass: the one that the package exports.
 *
 * @param among outside the nightly suite, runs only these checks: those in which a second driver of a source differs
 */
export function describeSourceContract(
  name: string,
  createDriver: () => SourceDriver,
  { among = /^/ }: { readonly among?: RegExp } = {},
): void {
  describe(`the source contract: ${name}`, () => {
    const checks = listSourceChecks(createDriver);
    for (const check of isNightly ? checks : checks.filter((one) => among.test(one.name)))
      it(check.name, check.run);
  });
}

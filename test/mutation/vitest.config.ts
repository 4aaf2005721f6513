import { env } from 'node:process';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { patienceMs } from '../support/patience.js';

/**
 * What Stryker runs against each mutant: the tests that it is told, none of which starts processes or servers, each file by
 * itself. They wait longer than Stryker does, so that a mutant that hangs is reported as such, and not as found by a test.
 */
const wanted = env.MUTATION_TESTS?.split(',') ?? [];

/** The first failure is enough, so quick tests come first. */
class AsListed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => wanted.findIndex((name) => moduleId.endsWith(name));
    return [...files].sort((one, other) => placeOf(one) - placeOf(other));
  }
}

export default defineConfig({
  test: {
    include: [...wanted],
    reporters: ['./test/mutation/load-failures.ts'],
    sequence: { sequencer: AsListed },
    setupFiles: ['test/mutation/seed.ts'],
    testTimeout: patienceMs,
    hookTimeout: patienceMs,
    expect: { poll: { timeout: patienceMs } },
  },
});

import type { RunnerTestCase } from 'vitest';
import type { Reporter, Vitest } from 'vitest/node';

/**
 * Stryker looks at tests only. A file that could not be loaded has none, and a mutant that breaks a table of values would seem to
 * survive: so such a file gets a test that failed.
 */
export default class LoadFailures implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(): void {
    for (const file of this.#vitest?.state.getFiles() ?? []) {
      const { errors = [] } = file.result ?? {};
      if (errors.length === 0) continue;
      const failed = { type: 'test', name: 'loads', mode: 'run', file, result: { state: 'fail', errors } };
      file.tasks.push(failed as unknown as RunnerTestCase);
    }
  }
}

import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';

const reportEveryShare = 0.1;

/**
 * Shows the suite's progress where no terminal does, says at once why a test failed, lists prominently what was skipped
 * and how to enable it, says how to repeat what failed, and ends with one plain line of counts. With REQUIRE_ALL_TESTS set, a skipped test
 * fails the suite. A run that leaves out the tests with servers says how to run them.
 */
export default class SuiteReporter implements Reporter {
  #files = 0;
  #done = 0;
  #reported = 0;
  #startedAt = 0;
  #leavesOutServers = false;

  onInit({ projects }: Vitest): void {
    this.#leavesOutServers = !projects.some(({ name }) => /^servers|nightly/.test(name));
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length;
    this.#startedAt = Date.now();
  }

  /** Vitest itself says it only at the end. */
  onTestCaseResult(test: TestCase): void {
    for (const { message, stacks: [place] = [] } of test.result().errors ?? []) {
      const at = place ? `\n  at ${relative(process.cwd(), place.file)}:${place.line}` : '';
      console.log(`FAILED: ${test.fullName}: ${message}${at}`);
    }
  }

  onTestModuleEnd(): void {
    this.#done += 1;
    const share = this.#done / this.#files;
    if (process.stdout.isTTY || share < this.#reported + reportEveryShare) return;
    this.#reported = share;
    const minutes = ((Date.now() - this.#startedAt) / 60_000).toFixed(1);
    console.log(`--- ${this.#done} of ${this.#files} files after ${minutes} min`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const skipped = inState('skipped');
    for (const test of skipped) {
      const result = test.result();
      const note = result.state === 'skipped' ? result.note : undefined;
      console.log(`SKIPPED: ${test.fullName}${note === undefined ? '' : `: ${note}`}`);
    }
    if (skipped.length > 0 && process.env.REQUIRE_ALL_TESTS) {
      console.log('REQUIRE_ALL_TESTS is set: a skipped test fails the suite.');
      process.exitCode = 1;
    }
    const failed = modules.filter((module) => !module.ok());
    if (failed.length > 0) {
      const names = new Set(failed.map(({ moduleId }) => relative(process.cwd(), moduleId)));
      const variables = `SEED=${process.env.SEED}`;
      console.log(`The same generated cases once more: ${variables} npx vitest run ${[...names].join(' ')}`);
    }
    console.log(
      `${inState('passed').length} passed, ${inState('failed').length} failed, ${skipped.length} skipped`,
    );
    if (this.#leavesOutServers)
      console.log('Tests that need servers, a browser or other programs: npm run test:servers');
  }
}

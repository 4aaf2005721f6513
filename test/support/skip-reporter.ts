import type { Reporter, TestModule } from 'vitest/node';

/**
 * Says loudly what was skipped and how to get it, and ends with one plain line of counts. With REQUIRE_ALL_TESTS set,
 * a skipped test fails the whole.
 */
export default class SkipReporter implements Reporter {
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
      console.log('REQUIRE_ALL_TESTS is set: a skipped test fails the whole.');
      process.exitCode = 1;
    }
    console.log(
      `${inState('passed').length} passed, ${inState('failed').length} failed, ${skipped.length} skipped`,
    );
  }
}

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cwd, env } from 'node:process';
import {
  chai,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect';
import { rolldown } from 'rolldown';

/**
 * Runs the tests of pure rules in Stryker's own process: a rule and its tests are put into one script once, which is evaluated for each
 * mutant of the rule. That takes milliseconds, and Vitest's start for each mutant a second. It knows what these tests use of Vitest: `it`,
 * `describe`, their `each`, hooks and `expect`; a test that uses more fails, and so does the run.
 */
class InProcessRunner {
  /** The tests of each rule. */
  #rules = Object.entries(JSON.parse(env.MUTATION_TESTS ?? '{}'));
  #scripts = new Map();
  #require = createRequire(join(cwd(), 'package.json'));

  capabilities() {
    return { reloadEnvironment: true };
  }

  async dryRun() {
    const all = [];
    for (const [rule] of this.#rules) {
      const startedAt = performance.now();
      const { ran, failure } = await this.#run(rule, {});
      if (failure !== undefined) return { status: 'error', errorMessage: `${rule}: ${failure}` };
      const timeSpentMs = (performance.now() - startedAt) / ran.length;
      for (const name of ran) all.push({ id: String(all.length), name, timeSpentMs, status: 0 });
    }
    return { status: 'complete', tests: all };
  }

  async mutantRun({ activeMutant: { id, fileName } }) {
    const [rule] = this.#rules.find(([path]) => fileName.endsWith(path)) ?? [];
    const { ran, failure } = await this.#run(rule, { activeMutant: id });
    if (failure === undefined) return { status: 'survived', nrOfTests: ran.length };
    return { status: 'killed', killedBy: ['0'], failureMessage: failure, nrOfTests: ran.length };
  }

  /** The first failure is enough. A file that can't be evaluated fails, too: a mutant may break a table of values. */
  async #run(rule, stryker) {
    const script = this.#scripts.get(rule) ?? (await bundleTests(new Map(this.#rules).get(rule)));
    this.#scripts.set(rule, script);
    globalThis.__stryker__ = stryker;
    const ran = [];
    try {
      for (const { name, run } of this.#collect(script)) {
        ran.push(name);
        await run();
      }
      if (ran.length === 0) throw new Error('There are no tests.');
      return { ran };
    } catch (error) {
      return { ran, failure: `${ran.at(-1)}: ${error?.message}` };
    }
  }

  #collect(script) {
    const tests = [];
    let hooks = { before: [], after: [] };
    const it = withEach((name, test, values) => {
      const { before, after } = hooks;
      const run = async () => {
        for (const hook of before) await hook();
        await test(...values);
        for (const hook of after) await hook();
      };
      tests.push({ name, run });
    });
    const describe = withEach((_, define, values) => {
      const outer = hooks;
      hooks = { before: [...outer.before], after: [...outer.after] };
      define(...values);
      hooks = outer;
    });
    const vitest = {
      ...{ it, test: it, describe, expect },
      beforeEach: (hook) => hooks.before.push(hook),
      afterEach: (hook) => hooks.after.push(hook),
    };
    const load = (name) => (name === 'vitest' ? vitest : this.#require(name));
    // Properties are tried on the same values each time: a score that differs without a change says nothing.
    this.#require('fast-check').configureGlobal({ seed: Number(env.MUTATION_SEED), endOnFailure: true });
    new Function('require', 'module', 'exports', '__filename', script)(load, {}, {}, join(cwd(), 'tests.js'));
    return tests;
  }
}

async function bundleTests(names) {
  const tests = names.map((name) => `import ${JSON.stringify(join(cwd(), name))};`);
  const bundle = await rolldown({
    input: 'tests',
    platform: 'node',
    treeshake: false,
    external: (id) => /^[^./]/.test(id) && id !== 'tests',
    plugins: [
      {
        name: 'tests',
        resolveId: (id) => (id === 'tests' ? '\0tests' : undefined),
        load: (id) => (id === '\0tests' ? tests.join('\n') : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'cjs', exports: 'none', codeSplitting: false });
  return output[0].code;
}

/** Like Vitest's, lists are spread only where each case is one. */
function withEach(add) {
  const define = (name, ...rest) => add(name, findFunction(rest), []);
  const each =
    (cases) =>
    (name, ...rest) => {
      const areLists = cases.every(Array.isArray);
      for (const one of cases) add(name, findFunction(rest), areLists ? one : [one]);
    };
  return Object.assign(define, { each });
}

/** An option may stand before the test, and a time limit after it. */
const findFunction = (rest) => rest.find((one) => typeof one === 'function');

for (const matchers of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(matchers);
const expect = Object.assign((value, message) => chai.expect(value, message), chai.expect);
setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect);
globalThis[GLOBAL_EXPECT] = expect;

export const strykerPlugins = [{ kind: 'TestRunner', name: 'in-process', injectableClass: InProcessRunner }];

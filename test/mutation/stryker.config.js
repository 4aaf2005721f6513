import { join } from 'node:path';
import { env } from 'node:process';

/** For Stryker, which `npm run mutation` starts with the files to mutate. */
export default {
  testRunner: 'in-process',
  plugins: [join(import.meta.dirname, 'runner.js')],
  coverageAnalysis: 'off',
  concurrency: 2,
  // The dry run takes the time of all rules together, a mutant that of one: only timeoutMS counts.
  timeoutFactor: 0,
  timeoutMS: 30_000,
  // Stryker reads it with an interface that TypeScript 7 no longer has, and only to rewrite paths that ours has not.
  tsconfigFile: 'none',
  disableTypeChecks: false,
  ignorePatterns: ['dist', 'bench', 'docs', 'ops', 'examples'],
  tempDirName: join(env.MUTATION_FOLDER ?? 'coverage', 'stryker'),
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: env.MUTATION_REPORT ?? 'coverage/mutation.json' },
};

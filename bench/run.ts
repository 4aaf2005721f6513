import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderTable } from '../src/base/tables.js';
import { comparisons } from './comparisons/index.js';
import { type BenchOptions, help, readCommandLine, UsageError } from './harness/command-line.js';
import { compareAll } from './harness/compare.js';
import { renderFigures } from './harness/document.js';
import { describeMachine, listVersions, nameCommit } from './harness/machine.js';
import { listMovements, type Results, readResults, replaceRows, writeResults } from './harness/results.js';
import { head, listCells, showReach } from './harness/table.js';

/** Measures this product side by side with its alternatives: `npm run bench -- --help`. */
const page = fileURLToPath(new URL('./results/figures.md', import.meta.url));
const latest = fileURLToPath(new URL('./results/latest.json', import.meta.url));
/** The time for all rounds of a quick run, which may take two minutes in total. */
const quickBudgetMs = 75_000;

// Servers and folders are cleaned up on exit, which needs an orderly exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  process.exitCode = await bench(readCommandLine(process.argv.slice(2), comparisons));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

async function bench(options: BenchOptions): Promise<number> {
  if (options.isHelp) {
    console.log(help);
    return 0;
  }
  if (options.isList) {
    console.log(
      renderTable(
        comparisons.map(({ name, work, against, reach }) => [name, work, against, showReach(reach)]),
        ['name', 'work', 'against', 'to reach'],
      ),
    );
    return 0;
  }
  // Before the first round: a wrong path must not cost an hour.
  const before = options.againstPath === undefined ? undefined : await readResults(options.againstPath);

  const { rows, notTried, failures } = await compareAll(options.chosen, {
    scale: options.scale,
    commit: nameCommit(),
    now: () => performance.now(),
    mostRounds: options.mostRounds,
    budgetMs: options.scale === 'quick' ? quickBudgetMs : undefined,
    log: (line) => console.error(line),
  });
  const { scale } = options;
  const results: Results = { scale, machine: describeMachine(), versions: listVersions(), rows, notTried };

  console.log(renderTable(rows.map(listCells), head));
  if (scale === 'quick') console.log('measured with small inputs: an indication, not evidence');
  for (const { name, obstacle } of notTried) console.log(`NOT TRIED: ${name} ${obstacle}`);
  for (const { name, error } of failures) console.log(`FAILED: ${name}:`, error);
  const missed = rows.filter(({ isReached }) => isReached === false);
  if (missed.length > 0) console.log(`not reached: ${missed.map(({ name }) => name).join(', ')}`);
  if (before) for (const line of listMovements(before, results)) console.log(line);

  if (options.jsonPath !== undefined) await writeResults(options.jsonPath, results);
  // An incomplete table would look like a complete one.
  if (options.writes && failures.length === 0) await updateFigures(results, options.isPartial);
  return failures.length > 0 || (options.isStrict && missed.length > 0) ? 1 : 0;
}

async function updateFigures(taken: Results, isPartial: boolean): Promise<void> {
  const results = isPartial ? await mergeIntoLatest(taken) : taken;
  await writeResults(latest, results);
  await writeFile(page, renderFigures(results));
}

/** Quick and full figures must not be mixed. */
async function mergeIntoLatest(taken: Results): Promise<Results> {
  const before = await readResults(latest);
  if (before.scale !== taken.scale)
    throw new UsageError(`${latest} was measured at another scale: write the whole table first`);
  return replaceRows(
    before,
    taken,
    comparisons.map(({ name }) => name),
  );
}

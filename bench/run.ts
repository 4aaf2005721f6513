import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderTable } from '../src/cli/tables.js';
import { comparisons } from './comparisons/index.js';
import { type BenchOptions, help, readCommandLine, UsageError } from './harness/command-line.js';
import { compareAll } from './harness/compare.js';
import { renderFigures, replaceFigures } from './harness/document.js';
import { describeMachine, listVersions, nameCommit } from './harness/machine.js';
import { listMovements } from './harness/movement.js';
import { type Results, readResults, replaceRows, writeResults } from './harness/results.js';
import { head, listCells, showReach } from './harness/table.js';

/** Measures this product side by side with what people would use instead: `npm run bench -- --help`. */
const page = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const latest = fileURLToPath(new URL('./results/latest.json', import.meta.url));
/** Of the two minutes that a quick run may take, what is left for the rounds. */
const quickBudgetMs = 75_000;

// Servers and folders go with the process, but only when it ends by itself.
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
  // Before the first round, for a wrong path shall not cost an hour.
  const before = options.againstPath === undefined ? undefined : await readResults(options.againstPath);

  const { rows, notTried, failures } = await compareAll(options.chosen, {
    scale: options.scale,
    commit: nameCommit(),
    now: () => performance.now(),
    budgetMs: options.scale === 'quick' ? quickBudgetMs : undefined,
    tell: (line) => console.error(line),
  });
  const { scale } = options;
  const results: Results = { scale, machine: describeMachine(), versions: listVersions(), rows, notTried };

  console.log(renderTable(rows.map(listCells), head));
  if (scale === 'quick') console.log('taken in small: good for a look, not for a claim');
  for (const { name, obstacle } of notTried) console.log(`NOT TRIED: ${name} ${obstacle}`);
  for (const { name, error } of failures) console.log(`FAILED: ${name}:`, error);
  const missed = rows.filter(({ isReached }) => isReached === false);
  if (missed.length > 0) console.log(`not reached: ${missed.map(({ name }) => name).join(', ')}`);
  if (before) for (const line of listMovements(before, results)) console.log(line);

  if (options.jsonPath !== undefined) await writeResults(options.jsonPath, results);
  // A table with a hole would look like a whole one.
  if (options.writes && failures.length === 0) await writeDown(results, options.isPartial);
  return failures.length > 0 || (options.isStrict && missed.length > 0) ? 1 : 0;
}

async function writeDown(taken: Results, isPartial: boolean): Promise<void> {
  const results = isPartial ? await amongTheLatest(taken) : taken;
  await writeResults(latest, results);
  await writeFile(page, replaceFigures(await readFile(page, 'utf8'), renderFigures(results)));
}

/** Small figures don't stand among large ones. */
async function amongTheLatest(taken: Results): Promise<Results> {
  const before = await readResults(latest);
  if (before.scale !== taken.scale)
    throw new UsageError(`${latest} was taken with another scale: write the whole table first`);
  return replaceRows(
    before,
    taken,
    comparisons.map(({ name }) => name),
  );
}

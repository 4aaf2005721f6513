import { stat } from 'node:fs/promises';
import { formatCount } from '../../base/format.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { isActive, type Run } from '../../rules/run.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import { findFolder, tryToWrite } from './folders.js';

const { ok, warning } = findingsOf('ledger');

/** How many runs are checked, newest first. */
const runsRead = 1_000;
/** How many unfinished days are named. */
const daysNamed = 5;

interface LedgerCheckParts {
  /** Its path, or its address without a password. */
  readonly location: string;
  readonly isFile: boolean;
  /** Opens the ledger for reading; undefined if there is none yet. */
  readonly open: () => Promise<ReadOnlyLedger | undefined>;
}

export async function checkLedger({ location, isFile, open }: LedgerCheckParts): Promise<readonly Finding[]> {
  // On a file system that hangs, SQLite would block the whole process; this call blocks only the check. Opening reports errors.
  if (isFile) await stat(location).catch(() => {});
  const ledger = await open();
  if (ledger === undefined) {
    if (isFile) await tryToWrite((await findFolder(location)).folder);
    return [ok(`it does not exist yet and will be created at ${location}`)];
  }
  try {
    await ledger.ping();
    const runs = await ledger.runs.list({ limit: runsRead });
    const [last] = runs;
    if (last === undefined) return [ok(`${location} holds no run yet`)];
    const count = runs.length === runsRead ? `${formatCount(runsRead)} runs or more` : countRuns(runs.length);
    const message = `${location} holds ${count}; the last day is ${last.day}: ${last.state}`;
    return [ok(message), ...warnOfUnfinished(runs)];
  } finally {
    await ledger.close();
  }
}

function countRuns(count: number): string {
  return count === 1 ? '1 run' : `${formatCount(count)} runs`;
}

/** @param runs newest day first, and within a day newest run first, which decides */
function warnOfUnfinished(runs: readonly Run[]): Finding[] {
  const unfinished = runs.filter(
    (run, index) => run.day !== runs[index - 1]?.day && (isActive(run) || run.state === 'failed'),
  );
  if (unfinished.length === 0) return [];
  const named = unfinished.slice(0, daysNamed).map(({ day, state }) => `${day} (${state})`);
  const more = unfinished.length > daysNamed ? ` and ${formatCount(unfinished.length - daysNamed)} more` : '';
  return [
    warning(
      `unfinished, or in progress: ${named.join(', ')}${more}`,
      'To resume one: hotel-review run --day YYYY-MM-DD. To see what stopped it: hotel-review status YYYY-MM-DD.',
    ),
  ];
}

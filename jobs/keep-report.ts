import { reportsFolder } from '../src/archive/archive.js';
import { withTightHeap } from '../src/async/tight-heap.js';
import type { ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import type { Config } from '../src/config/load.js';
import { mayCompleteDay } from '../src/review/day-runs.js';
import type { Run } from '../src/review/run.js';
import { answerWithin, TooLateError } from '../src/server/deadline.js';
import { describeError } from '../src/text/safe-error.js';
import type { WriteCommand } from '../src/text/shell.js';
import { clock } from './clock.js';
import { openArchive } from './parts.js';

interface KeepReportParts {
  readonly ledger: ReadOnlyCaseLedger;
  readonly command: WriteCommand;
  /** Called with a message if the page could not be kept; the run's outcome stands. */
  readonly warn: (message: string) => void;
}

/**
 * The run is over, and its process must not wait for an archive that does not answer. A stop does not shorten this: the page
 * would not be kept later.
 */
const keepMs = 10_000;

/**
 * Keeps the page of the day as it was when a run of it succeeded or failed, in the archive as
 * `reports/DAY/RUN-STATE.html`. Each end of a run is kept once, failures by their code.
 */
export async function keepReport(config: Config, run: Run, parts: KeepReportParts): Promise<void> {
  const name = nameOf(run);
  if (name === undefined) return;
  const warn = (why: string) =>
    parts.warn(`the report of ${run.day} could not be kept in the archive: ${why}`);
  try {
    await answerWithin(keepMs, keepPage(config, run.day, name, parts));
  } catch (error) {
    warn(error instanceof TooLateError ? 'it did not answer in time' : describeError(error));
  }
}

/** Undefined for a run that has not ended, and for one that completes no day: there are dozens of those. */
function nameOf(run: Run): string | undefined {
  if (!mayCompleteDay(run)) return undefined;
  switch (run.state) {
    case 'succeeded':
      return `${run.id}-succeeded.html`;
    case 'failed':
      return `${run.id}-failed-${run.failure?.code ?? 'unknown'}.html`;
    case 'collecting':
    case 'delivering':
    case 'awaiting-result':
    case 'cancelled':
      return undefined;
  }
}

async function keepPage(
  config: Config,
  day: string,
  name: string,
  { ledger, command }: KeepReportParts,
): Promise<void> {
  const archive = openArchive(config);
  if ((await archive.list(reportsFolder, day)).includes(name)) return;
  const { renderKeptPage } = await import('../src/desk/report/page.js');
  const { page } = await withTightHeap(() => renderKeptPage(config, ledger, day, { command, now: clock() }));
  async function* content() {
    yield page;
  }
  await archive.keep(reportsFolder, day, name, content());
}

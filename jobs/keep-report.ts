import { reportsFolder } from '../src/archive/archive.js';
import { withTightHeap } from '../src/async/tight-heap.js';
import { mayCompleteDay } from '../src/review/day-runs.js';
import type { Run } from '../src/review/run.js';
import { answerWithin, TooLateError } from '../src/server/deadline.js';
import { describeError } from '../src/text/safe-error.js';
import type { App } from './app.js';
import { clock } from './clock.js';

/**
 * The run is over, and its process must not wait for an archive that does not answer. A stop does not shorten this: the page
 * would not be kept later.
 */
const keepMs = 10_000;

/**
 * Keeps the page of the day as it was when a run of it succeeded or failed, in the archive as
 * `reports/DAY/RUN-STATE.html`. Each end of a run is kept once, failures by their code.
 *
 * @param app `warn` gets a message if the page could not be kept; the run's outcome stands
 */
export async function keepReport(app: App, run: Run): Promise<void> {
  const name = nameOf(run);
  if (name === undefined) return;
  try {
    await answerWithin(keepMs, keepPage(app, run.day, name));
  } catch (error) {
    const why = error instanceof TooLateError ? 'it did not answer in time' : describeError(error);
    app.warn(`the report of ${run.day} could not be kept in the archive: ${why}`);
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

async function keepPage(app: App, day: string, name: string): Promise<void> {
  const archive = app.archive();
  if ((await archive.list(reportsFolder, day)).includes(name)) return;
  const { renderKeptPage } = await import('../src/desk/report/page.js');
  const { page } = await withTightHeap(async () =>
    renderKeptPage(app.config, await app.ledger(), day, { command: app.command, now: clock() }),
  );
  async function* content() {
    yield page;
  }
  await archive.keep(reportsFolder, day, name, content());
}

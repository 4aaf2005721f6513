import { wantedToJson } from '../../src/ledger/wanted-days.js';
import { noteLatestRun } from '../../src/review/archive-fit.js';
import { type Abandoned, abandon } from '../../src/review/day/join-run.js';
import { runToJson } from '../../src/review/day/report.js';
import { removeSpooled } from '../../src/review/file/file-attempt.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { command, option, requiredDay } from '../command.js';
import { exitCode } from '../exit-code.js';
import { readReason } from '../main-job.js';

/** Abandons the unfinished run of a day: it is never resumed, and the schedule leaves its day alone. */
export default command({
  place: ['running', 1],
  summary: "abandon a day's unfinished run; the schedule then leaves that day alone",
  day: requiredDay,
  options: { reason: option('--reason <text>', 'why', { read: readReason, required: true }) },
  examples: `
What was sent stays sent. To start the day again, use \`run\` or the end-of-day
hook; the schedule and its catch-up leave the day alone.

Example:
  hotel-review cancel 2026-11-20 --reason "wrong export"
                                  abandon that day's run
  hotel-review run 2026-11-20     review the day from the start`,

  async run(app, { day, reason }) {
    const answerNone = (message: string) =>
      app.answer(message, { error: { class: 'nothing-to-cancel', message } }, exitCode.failed);
    const none = `There is no run of ${day}: nothing to cancel.`;
    // Where there is no ledger, none is created.
    if (!(await app.findLedger())) return answerNone(none);

    const result = await cancelIn(app, day, reason);
    if (result.kind === 'withdrawn') {
      const { runId } = result.wanted;
      await app.look({ action: 'cancel', subject: day, details: { run: runId, reason } });
      return app.answer(
        `${day}: run ${runId}, which had not started yet, was cancelled: ${reason}`,
        wantedToJson(result.wanted, 'cancelled'),
      );
    }
    const { run } = result;
    if (!run) return answerNone(none);
    if (result.kind === 'nothing')
      return answerNone(`The latest run of ${day}, ${run.id}, is ${run.state}: nothing to cancel.`);
    const { wasBeingWorkedOn } = result;
    await app.look({ action: 'cancel', subject: day, details: { run: run.id, reason } });
    return app.answer(
      [
        `${day}: run ${run.id} was cancelled: ${reason}`,
        wasBeingWorkedOn && 'Another process was working on it. It stops as soon as it writes to the ledger.',
        run.counts.delivered > 0 && 'What was sent stays sent.',
        `To start the day again: ${app.command(`run ${day}`)}`,
      ],
      { ...runToJson(run, { now: clock(), timezone: app.config.timezone }), wasBeingWorkedOn },
    );
  },
});

/** Abandons a day's unfinished run, and removes what it left on this machine. */
export async function cancelIn(app: App, day: string, reason: string): Promise<Abandoned> {
  const ledger = await app.ledger();
  const result = await abandon(day, reason, { ledger, clock });
  if (result.kind !== 'abandoned') return result;
  // A process that is still working on it removes its own files.
  if (!result.wasBeingWorkedOn) await removeSpooled(app.spool(), result.run.id);
  // Where the archive is away, the next run that ends tells it.
  await noteLatestRun(app.archive(), ledger).catch(() => {});
  return result;
}

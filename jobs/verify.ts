import { verifyRun } from '../src/review/file/verify-run.js';
import { formatCount, formatCountOf } from '../src/text/format.js';
import { command, dayOrYesterday } from './command.js';
import { exitCode } from './exit-code.js';

const runsChecked = 1_000;

/** Checks a day's archive against the ledger. Exits with 1 if anything differs or nothing is archived. */
export default command({
  day: dayOrYesterday,
  examples: `
Examples:
  hotel-review verify
  hotel-review verify 2026-11-20`,

  async run(app, { day }) {
    const ledger = await app.findLedger();
    if (!ledger) return app.answerNone({ day, runs: [] });
    const parts = { ledger, archive: app.archive(), masterIdColumn: app.config.service.masterIdColumn };
    const runs = [];
    for (const run of await ledger.runs.list({ day, limit: runsChecked })) {
      if (!run.file?.archivedTo) continue;
      const { unanswered, posted } = run.counts;
      runs.push({ runId: run.id, items: await verifyRun(parts, run), unanswered, posted });
    }
    if (runs.length === 0)
      return app.answerNone(
        { day, runs },
        `No run of ${day} has files in the archive; only runs by file do.`,
      );
    const isSound = runs.every(({ items }) => items.every(({ fault }) => fault === undefined));
    const text = runs.flatMap(({ runId, items, unanswered, posted }) => [
      `run ${runId}:`,
      ...items.map(({ item, fault, note }) =>
        fault === undefined
          ? `  ok      ${item}${note === undefined ? '' : `: ${note}`}`
          : `  DIFFERS ${item}: ${fault}`,
      ),
      ...(unanswered === 0
        ? ['  Every booking of the file has a verdict.']
        : [
            `  ${formatCountOf(unanswered ?? 0, 'booking')} of the file without a verdict; to list them:`,
            `  ${app.command(`affected ${day} --unanswered`)}`,
          ]),
      posted > 0 && `  ${formatCount(posted)} went by body: their verdicts come by e-mail only.`,
    ]);
    return app.answer(text, { day, runs }, isSound ? exitCode.done : exitCode.failed);
  },
});

import { formatCount, formatCountOf } from '../../src/base/format.js';
import { verifyRun } from '../../src/review/file/verify-run.js';
import { describeUnknown, findUnknownFolders, unknownToJson } from '../../src/review/unknown-folders.js';
import { command, dayOrYesterday } from '../command.js';
import { exitCode } from '../exit-code.js';

const runsChecked = 1_000;

/** Checks a day's archive against the ledger. Exits with 1 if anything differs, nothing is archived, or the ledger does not know a run. */
export default command({
  place: ['past', 5],
  summary: "check a day's archive, byte by byte, against the ledger",
  day: dayOrYesterday,
  examples: `
Examples:
  hotel-review verify
  hotel-review verify 2026-11-20`,

  async run(app, { day }) {
    const ledger = await app.findLedger();
    const archive = app.archive();
    const unknown = (await findUnknownFolders(archive, ledger)).ours.filter((folder) => folder.day === day);
    const left = unknownToJson(archive, unknown);
    const words = describeUnknown(archive, unknown);
    if (!ledger) return app.answerNone({ day, runs: [], ...left }, [app.describeNoLedger(), ...words]);
    const parts = { ledger, archive };
    const runs = [];
    for (const run of await ledger.runs.list({ day, limit: runsChecked })) {
      if (!run.file?.archivedTo) continue;
      const { unanswered, posted } = run.counts;
      runs.push({ runId: run.id, items: await verifyRun(parts, run), unanswered, posted });
    }
    if (runs.length === 0)
      return app.answerNone({ day, runs, ...left }, [
        `No run of ${day} has files in the archive; only runs by file do.`,
        ...words,
      ]);
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
    const isWhole = isSound && unknown.length === 0;
    return app.answer([...text, ...words], { day, runs, ...left }, isWhole ? exitCode.done : exitCode.failed);
  },
});

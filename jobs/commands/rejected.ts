import { formatCount, wrapText } from '../../src/base/format.js';
import { renderTable } from '../../src/base/tables.js';
import { rejectColumns, rejectsListed, rejectToJson } from '../../src/ledger/rejects.js';
import { kindOf } from '../../src/sources/registry.js';
import { command, csvOptions, dayOrYesterday } from '../command.js';

/** Rejects listed on a terminal; `--csv` writes more. */
const shown = 50;
/** Characters of a value that a table shows. */
const valueShown = 40;

/**
 * The records of a day that can't be sent, of its latest run only: each run reads the whole source, so an earlier one would
 * repeat them, or list records that were corrected since.
 */
export default command({
  place: ['past', 1],
  summary: "list a day's records that could not be sent: where, why, and the value",
  day: dayOrYesterday,
  options: csvOptions,
  examples: `
Of the latest run of the day.

Examples:
  hotel-review rejected                               yesterday's records
  hotel-review rejected 2026-11-20 --csv records.csv  those of a day, as a file
  hotel-review rejected --csv records.csv --delimiter ";"
                                      for Excel in most of Europe`,

  async run(app, { day, ...file }) {
    const none = { day, runId: null, rejected: [], more: 0 };
    const ledger = await app.findLedger();
    if (!ledger) return app.answerNone(none);
    const run = await ledger.runs.latest(day);
    if (!run) return app.answerNone(none, `There is no run of ${day}.`);

    const rejects = (await ledger.rejects.list(run.id, rejectsListed)).map(rejectToJson);
    const { id: runId, state, counts } = run;
    const more = Math.max(0, counts.rejected - rejects.length);
    const csv = file.csv && app.locate(file.csv);
    // Where cells are shifted, each of them may be a name.
    const showsNames = rejects.some(({ reference, value }) => (reference ?? value) !== null);
    const record = showsNames ? app.record : app.look;
    await record({ action: 'rejected', subject: day, details: { found: rejects.length, csv } });
    await app.writeCsv(file, rejectColumns, (add) => add(rejects));

    const json = { day, runId, rejected: rejects, more };
    const soFar = state === 'collecting' ? ' so far' : '';
    if (counts.rejected === 0) return app.answer(`${day}: run ${runId} rejected no record${soFar}.`, json);
    const total = formatCount(counts.rejected);
    if (rejects.length === 0)
      return app.answer(
        `${day}: rejected records: ${total}, no longer listed in the ledger (run ${runId})`,
        json,
      );
    const rows = rejects
      .slice(0, shown)
      .map(({ place, reason, reference, field, value }) => [
        ...[formatCount(place), reason, reference ?? '', field ?? ''],
        cut(value ?? ''),
      ]);
    return app.answer(
      [
        `${day}: rejected records${soFar}: ${total} (run ${runId})`,
        renderTable(rows, [kindOf(app.config.source).placeUnit, 'reason', 'reference', 'field', 'value']),
        rejects.length > shown &&
          `  … ${formatCount(rejects.length - shown)} more: ${app.command(`rejected ${day} --csv FILE`)}`,
        more > 0 &&
          wrapText(
            `… and ${formatCount(more)} more: the ledger lists the first ${formatCount(rejects.length)} of a run and counts the others.`,
          ),
        file.csv !== undefined && `${more > 0 ? 'The listed ones' : 'All of them'} are in ${file.csv}.`,
      ],
      json,
    );
  },
});

function cut(value: string): string {
  const characters = [...value];
  return characters.length > valueShown ? `${characters.slice(0, valueShown - 1).join('')}…` : value;
}

import { formatCount, wrapText } from '../../src/base/format.js';
import type { WriteCommand } from '../../src/base/shell.js';
import { renderTable } from '../../src/base/tables.js';
import {
  type Cells,
  gatherDayReport,
  listSections,
  renderPage,
  type Section,
} from '../../src/desk/day-report.js';
import { renderNotes } from '../../src/rules/finding.js';
import { clock } from '../clock.js';
import { command, dayOrYesterday, force, option } from '../command.js';
import { exitCode } from '../exit-code.js';
import { writeNamedFile } from '../output-files.js';

/** Rows of a table shown; the page and `--json` have more. */
const rowsShown = 15;
/** Columns for which a terminal has no room. */
const wideColumns = ['by', 'started', 'refused', 'pending', 'booked hotel', 'hotel of the copy'];

/** Reports how a day went: as text for a terminal of 80 columns, as JSON, and as a page in a file. */
export default command({
  place: ['past', 6],
  summary: 'report how a day went: runs, verdicts, open cases, and what is unusual',
  day: dayOrYesterday,
  options: { html: option('--html <file>', 'also write it as a self-contained page to this file'), force },
  examples: `
The report holds references and stays, but no guest names.

Examples:
  hotel-review report
  hotel-review report 2026-11-20 --html 2026-11-20.html`,

  async run(app, { day, html, force: replaces }) {
    const ledger = await app.findLedger();
    if (!ledger) return app.answerNone({ day, runs: [] });
    const { timezone } = app.config;
    const { report, state, findings } = await gatherDayReport(app.config, ledger, day, clock());
    const sections = listSections(report, findings, timezone);
    const details = { found: report.affected.count, html: html && app.locate(html) };
    await app.look({ action: 'report', subject: day, details });
    if (html !== undefined)
      await writeNamedFile({ option: '--html', name: html, force: replaces }, app, (add) =>
        add(renderPage(report, sections, { timezone, command: app.command })),
      );
    return app.answer(
      [
        `${day}: ${report.judgement}`,
        ...(state ? wrapText(state.words) : []),
        ...sections.flatMap((section) => renderSection(section, app.command)),
      ],
      report,
      report.runs.length > 0 ? exitCode.done : exitCode.failed,
    );
  },
});

function renderSection({ title, notes, rows }: Section, command: WriteCommand): string[] {
  const names = Object.keys(rows[0] ?? {}).filter((name) => !wideColumns.includes(name));
  const shown = rows.slice(0, rowsShown).map((cells) => names.map((name) => showCell(cells[name])));
  const left = rows.length - shown.length;
  return [
    `${title.toLowerCase()}:`,
    ...renderNotes(notes, command),
    ...(shown.length > 0 ? [renderTable(shown, names)] : []),
    ...(left > 0 ? [`  … and ${formatCount(left)} more: --html FILE shows more`] : []),
  ];
}

function showCell(cell: Cells[string] | undefined) {
  return typeof cell === 'number' ? formatCount(cell) : cell;
}

import type { ReportOptions } from '../src/cli/commands/history.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderReport } from '../src/cli/report.js';
import type { Config } from '../src/config/load.js';
import { renderHtml } from '../src/report/render-html.js';
import { listSections } from '../src/report/sections.js';
import { writeNamedFile } from '../src/text/output-files.js';
import { recordLook } from './audit.js';
import { gatherDayReport } from './day-report.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/** Reports how a day went: as text or JSON, and as a page in a file. */
export async function reportDay(
  config: Config,
  day: string,
  { html, force }: ReportOptions,
  terminal: Terminal,
): Promise<number> {
  const { timezone } = config;
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { day, runs: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const report = await gatherDayReport(config, ledger, day);
    const sections = listSections(report, { timezone, command: terminal.command });
    const details = { found: report.affected.count, html: html && terminal.locate(html) };
    await recordLook(ledger, { action: 'report', subject: day, details }, terminal);
    if (html !== undefined)
      await writeNamedFile({ option: '--html', name: html, force }, terminal, (add) =>
        add(renderHtml(report, sections, timezone)),
      );
    terminal.answer(renderReport(report, sections), report);
    return report.runs.length > 0 ? exitCode.done : exitCode.failed;
  });
}

import type { DayReport } from '../report/day-report.js';
import type { Section, SectionTable } from '../report/sections.js';
import { formatCount, wrapText } from '../text/format.js';
import { renderTable } from '../text/tables.js';

/** Rows of a table shown; the page and `--json` have more. */
const rowsShown = 15;

/** The report for a terminal of 80 columns. */
export function renderReport({ day, headline, judgement }: DayReport, sections: readonly Section[]): string {
  return `${[`${day}: ${judgement}`, ...wrapText(headline), ...sections.flatMap(renderSection)].join('\n')}\n`;
}

function renderSection({ title, notes, bars = [], table }: Section): string[] {
  const hasUsual = bars.some(({ usual }) => usual !== undefined);
  return [
    `${title.toLowerCase()}:`,
    ...notes.flatMap((note) => wrapText(note)),
    ...(bars.length > 0
      ? [
          renderTable(
            bars.map(({ label, text, usual }) => [label, text, ...(hasUsual ? [`${usual ?? '-'}`] : [])]),
            hasUsual ? ['', 'here', 'usual'] : undefined,
          ),
        ]
      : []),
    ...(table && table.rows.length > 0 ? renderNarrow(table) : []),
  ];
}

function renderNarrow({ head, rows, wide }: SectionTable): string[] {
  const left = rows.length - rowsShown;
  const narrow = (cells: readonly string[]) => cells.filter((_, index) => !wide.includes(head[index] ?? ''));
  return [
    renderTable(rows.slice(0, rowsShown).map(narrow), narrow(head)),
    ...(left > 0
      ? [`  … and ${formatCount(left)} more; --html FILE shows them, with the names of the hotels`]
      : []),
  ];
}

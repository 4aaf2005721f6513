import type { DayReport } from '../report/day-report.js';
import type { Section } from '../report/sections.js';
import { wrapText } from '../text/format.js';
import { renderTable } from './tables.js';

/** The report for a terminal. */
export function renderReport({ day, headline, judgement }: DayReport, sections: readonly Section[]): string {
  return `${[`${day}: ${judgement}`, ...wrapText(headline), ...sections.flatMap(renderSection)].join('\n')}\n`;
}

function renderSection({ title, notes, bars = [], table }: Section): string[] {
  const hasUsual = bars.some(({ usual }) => usual !== undefined);
  const rows = table?.rows ?? [];
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
    ...(rows.length > 0 ? [renderTable(rows, table?.head)] : []),
  ];
}

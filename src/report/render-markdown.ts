import { showInLine } from '../text/visible.js';
import type { DayReport } from './day-report.js';
import type { Section } from './sections.js';

/** The report in Markdown, for tickets and chats. */
export function renderMarkdown(
  { day, headline, judgement }: DayReport,
  sections: readonly Section[],
): string {
  return [
    `# Hotel review of ${day}`,
    '',
    `**${judgement}**: ${escapeText(headline)}`,
    ...sections.flatMap(renderSection),
    '',
  ].join('\n');
}

function renderSection({ title, notes, bars, table }: Section): string[] {
  const hasUsual = bars?.some(({ usual }) => usual !== undefined);
  return [
    '',
    `## ${title}`,
    ...(notes.length > 0 ? ['', ...notes.map((note) => `- ${escapeText(note)}`)] : []),
    ...(bars && bars.length > 0
      ? renderTable(
          ['', 'here', ...(hasUsual ? ['usual'] : [])],
          bars.map(({ label, text, usual }) => [label, text, ...(hasUsual ? [`${usual ?? '-'}`] : [])]),
        )
      : []),
    ...(table && table.rows.length > 0 ? renderTable(table.head, table.rows) : []),
  ];
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const renderRow = (cells: readonly string[]) => `| ${cells.map(escapeText).join(' | ')} |`;
  return ['', renderRow(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(renderRow)];
}

/** Names of hotels and providers come from others: nothing in them is markup. */
function escapeText(text: string): string {
  return showInLine(text).replace(/[\\`*_[\]<>|&#~]/g, '\\$&');
}

import { showInLine } from '../base/foreign-text.js';
import { Html, html } from '../base/html.js';
import type { WriteCommand } from '../base/shell.js';
import type { Config } from '../config/load.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { Judgement } from '../rules/describe-day.js';
import { adviseInLines } from '../rules/finding.js';
import { type Cells, type DayReport, gatherDayReport, listSections, type Section } from './day-report.js';
import { renderTable, showDay, showInstant } from './parts.js';

/**
 * The page of a day for places that erasing a guest does not reach, such as the archive and mailboxes: it names providers and
 * hotels, but no booking, check-in or guest.
 */
export async function renderSavedReport(
  { config, command }: { readonly config: Config; readonly command: WriteCommand },
  ledger: ReadOnlyLedger,
  day: string,
  now: number,
) {
  const { report, findings } = await gatherDayReport(config, ledger, day, now);
  const { timezone } = config;
  const sections = listSections(report, findings, timezone).map(withoutStay);
  return { headline: report.headline, page: renderPage(report, sections, { timezone, command }) };
}

/** What a page that no erasure reaches may show: hotels and numbers, but nobody's stay. */
function withoutStay({ title, notes, rows }: Section): Section {
  if (!rows.some((cells) => 'check-in' in cells)) return { title, notes, rows };
  return {
    title,
    notes: [...notes, { words: 'bookings and their check-ins are left out of this page' }],
    rows: rows.map(({ 'check-in': _, booking: __, ...cells }) => cells),
  };
}

/** The report as one page without a script: nothing in it is loaded from anywhere. */
export function renderPage(
  report: DayReport,
  sections: readonly Section[],
  { timezone, command }: { readonly timezone: string; readonly command: WriteCommand },
): string {
  const { day, headline, judgement, writtenAt } = report;
  const title = `Hotel review of ${showDay(day)}`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style></head>
<body><header class="${judgement}"><h1>${title}</h1>
<p><strong>${words[judgement]}</strong> ${showInLine(headline)}</p></header>
<main>${sections.map((section) => renderSection(section, command))}</main>
<footer>Written ${showInstant(writtenAt, { timezone })}, ${timezone}.</footer></body></html>
`.markup;
}

/** With a sign beside the colour, for those who cannot see it. */
const words: Readonly<Record<Judgement, string>> = {
  good: '✓ Good.',
  sent: '➤ Sent.',
  attention: '! Needs attention.',
  unfinished: '… Not finished.',
};

/** All rows of a table have the same columns, those of the first. */
function renderSection({ title, notes, rows }: Section, command: WriteCommand): Html {
  const columns = Object.keys(rows[0] ?? {}).map((name) => [name, (cells: Cells) => showCell(cells, name)]);
  return html`<section><h2>${title}</h2>
${notes.map(({ words, advice = [] }) => html`<p>${[words, ...adviseInLines(advice, command)].map(showInLine).join('. ')}</p>`)}${rows.length > 0 && renderTable(rows, Object.fromEntries(columns))}</section>
`;
}

const columnsOfDates = ['check-in', 'day', 'started'];

/** Pages write dates for people; a terminal, as its commands take them. */
function showCell(cells: Cells, name: string) {
  const cell = cells[name];
  if (typeof cell !== 'string' || !columnsOfDates.includes(name)) return cell;
  return cell.replace(/\d{4}-\d\d-\d\d/g, (iso) => showDay(iso));
}

const style = `
:root { color-scheme: light dark; --text: #1d2430; --faint: #5c6675; --ground: #fff; --line: #dde1e7;
  --good: #17693a; --bad: #b3261e; --busy: #1d5fa8; --wait: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ee; --faint: #9aa4b2; --ground: #14171c; --line: #333a45;
    --good: #6cc78f; --bad: #ff8a80; --busy: #84b9f5; --wait: #e5b567; }
}
body { margin: 0 auto; padding: 1.25rem; max-width: 72rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
header { --sign: var(--bad); padding: .6rem 1rem; border-left: 6px solid var(--sign); } header strong { color: var(--sign); }
header h1 { margin: 0; font-size: 1.4rem; } header p { margin: .3rem 0 0; }
.good { --sign: var(--good); } .sent { --sign: var(--busy); } .unfinished { --sign: var(--wait); }
h2 { margin: 1.8rem 0 .4rem; font-size: 1.05rem; } p { margin: .2rem 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { margin-top: .5rem; border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem .3rem 0; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--line); }
thead th { color: var(--faint); } .number { text-align: right; } th { font-weight: 600; } th, td:nth-child(-n+5) { white-space: nowrap; }
footer { margin-top: 2rem; color: var(--faint); font-size: .85rem; }
@media print { body { max-width: none; padding: 0; } section { break-inside: avoid-page; } }
`;

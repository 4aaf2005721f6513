import { formatCount, formatLocalInstant } from '../text/format.js';
import { Html, html } from '../text/html.js';
import { showInLine } from '../text/visible.js';
import type { DayReport, Judgement } from './day-report.js';
import type { Bar, Section } from './sections.js';

/** The report as one page without a script: nothing in it is loaded from anywhere. */
export function renderHtml(report: DayReport, sections: readonly Section[], timezone: string): string {
  const { day, headline, judgement, writtenAt } = report;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
<title>Hotel review of ${day}</title>
<style>${new Html(style)}</style></head>
<body><header class="${judgement}"><h1>Hotel review of ${day}</h1>
<p><strong>${marks[judgement]} ${words[judgement]}</strong> ${showInLine(headline)}</p></header>
${sections.map(renderSection)}
<footer>Written ${formatLocalInstant(Date.parse(writtenAt), timezone)}, ${timezone}.</footer></body></html>
`.markup;
}

/** A sign beside the colour, for those who do not see it. */
const marks: Readonly<Record<Judgement, string>> = { good: '✓', sent: '➤', attention: '!', unfinished: '…' };
const words: Readonly<Record<Judgement, string>> = {
  good: 'Good.',
  sent: 'Sent.',
  attention: 'Needs attention.',
  unfinished: 'Not finished.',
};

function renderSection({ title, notes, bars = [], table }: Section): Html {
  const rows = table?.rows ?? [];
  return html`<section><h2>${title}</h2>
${notes.map((note) => html`<p>${showInLine(note)}</p>`)}${bars.length > 0 ? renderBars(title, bars) : undefined}${
  rows.length > 0
    ? html`<div class="wide"><table><thead><tr>${(table?.head ?? []).map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${showInLine(cell)}</td>`)}</tr>`)}</tbody></table></div>`
    : undefined
}</section>
`;
}

const rowHeight = 24;
const [labelWidth, barWidth, textWidth] = [170, 360, 190];

/** Horizontal bars on one scale; a line marks what is usual. */
function renderBars(title: string, bars: readonly Bar[]): Html {
  const largest = Math.max(1, ...bars.map(({ value, usual }) => Math.max(value, usual ?? 0)));
  const widthOf = (value: number) => Math.round((value / largest) * barWidth * 10) / 10;
  const height = bars.length * rowHeight;
  return html`<svg role="img" aria-label="${title}" viewBox="0 0 ${labelWidth + barWidth + textWidth} ${height}">
${bars.map((bar, index) => {
  const top = index * rowHeight;
  const {
    label,
    value,
    text,
    usual,
    isHighlighted = bars.every((one) => one.isHighlighted === undefined),
  } = bar;
  const words =
    usual === undefined ? text : `${text}, usually ${usual === null ? 'unknown' : formatCount(usual)}`;
  return html`<text x="${labelWidth - 8}" y="${top + 16}" class="label">${shorten(showInLine(label))}</text>
<rect x="${labelWidth}" y="${top + 5}" width="${widthOf(value)}" height="14" class="${isHighlighted ? 'bar' : 'bar other'}"><title>${showInLine(label)}: ${words}</title></rect>
${usual ? html`<line x1="${labelWidth + widthOf(usual)}" x2="${labelWidth + widthOf(usual)}" y1="${top + 2}" y2="${top + 22}" class="usual"/>` : undefined}<text x="${labelWidth + widthOf(Math.max(value, usual ?? 0)) + 8}" y="${top + 16}">${words}</text>
`;
})}</svg>
`;
}

function shorten(label: string): string {
  return label.length > 24 ? `${label.slice(0, 23)}…` : label;
}

const style = `
:root { color-scheme: light dark; --text: #1d2430; --faint: #5c6675; --ground: #fff; --line: #dde1e7;
  --good: #17693a; --attention: #b3261e; --sent: #1d5fa8; --unfinished: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ee; --faint: #9aa4b2; --ground: #14171c; --line: #333a45;
    --good: #6cc78f; --attention: #ff8a80; --sent: #84b9f5; --unfinished: #e5b567; }
}
body { margin: 0 auto; padding: 1.25rem; max-width: 72rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
header { padding: .6rem 1rem; border-left: 6px solid var(--line); }
header h1 { margin: 0; font-size: 1.4rem; } header p { margin: .3rem 0 0; }
header.good { border-color: var(--good); } header.good strong { color: var(--good); }
header.attention { border-color: var(--attention); } header.attention strong { color: var(--attention); }
header.sent { border-color: var(--sent); } header.sent strong { color: var(--sent); }
header.unfinished { border-color: var(--unfinished); } header.unfinished strong { color: var(--unfinished); }
h2 { margin: 1.8rem 0 .4rem; font-size: 1.05rem; } p { margin: .2rem 0; overflow-wrap: anywhere; }
svg { display: block; width: 100%; max-width: 45rem; margin-top: .5rem; font-size: 13px; }
svg text { fill: var(--text); } svg .label { text-anchor: end; fill: var(--faint); }
.bar { fill: var(--sent); } .bar.other { fill: var(--line); } .usual { stroke: var(--text); stroke-width: 2; }
.wide { overflow-x: auto; } table { margin-top: .5rem; border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem .3rem 0; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; } th, td:nth-child(-n+5) { white-space: nowrap; }
footer { margin-top: 2rem; color: var(--faint); font-size: .85rem; }
@media print { body { max-width: none; padding: 0; } section { break-inside: avoid-page; } }
`;

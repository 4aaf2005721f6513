import { createHash } from 'node:crypto';
import { Html, html } from '../text/html.js';

const style = `
:root { color-scheme: light dark; --text: #1d2430; --faint: #5c6675; --ground: #f6f7f9; --card: #fff; --line: #dde1e7;
  --good: #17693a; --bad: #b3261e; --busy: #1d5fa8; --wait: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ee; --faint: #9aa4b2; --ground: #14171c; --card: #1d2128; --line: #333a45;
    --good: #6cc78f; --bad: #ff8a80; --busy: #84b9f5; --wait: #e5b567; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.25rem; max-width: 76rem; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { margin: 0 0 1rem; font-size: 1.3rem; }
h2 { margin: 0; font-size: .85rem; font-weight: 600; color: var(--faint); }
.card { margin: 0 0 1.25rem; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line);
  border-left: 5px solid var(--good); border-radius: 6px; }
.card.bad { border-left-color: var(--bad); } .card.sent { border-left-color: var(--busy); }
.big { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.big small { font-size: .95rem; color: var(--good); } .bad .big small { color: var(--bad); } .sent .big small { color: var(--text); }
table { width: 100%; border-collapse: collapse; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
th, td { padding: .45rem .6rem; text-align: left; vertical-align: baseline; font-variant-numeric: tabular-nums; }
thead th { font-size: .8rem; color: var(--faint); }
thead th:nth-child(n+3):nth-child(-n+8), .number { text-align: right; }
tr.run > * { border-top: 1px solid var(--line); }
th[scope=row], td[data-name=Started], td[data-name=Duration] { white-space: nowrap; }
a { color: inherit; }
small, .zero, .none, footer { color: var(--faint); }
.state { font-weight: 600; white-space: nowrap; }
.succeeded { color: var(--good); } .failed, .missing { color: var(--bad); }
.collecting, .delivering { color: var(--busy); } .awaiting-result { color: var(--wait); }
.cancelled { color: var(--faint); }
.failure td { padding-top: 0; color: var(--bad); overflow-wrap: anywhere; }
footer { margin-top: 1rem; font-size: .85rem; }
@media (max-width: 56rem) {
  body { padding: .8rem; }
  table, tbody, tr, td, th[scope=row] { display: block; }
  thead { display: none; }
  tr.run { padding: .6rem .8rem .3rem; border-top: 1px solid var(--line); }
  tbody tr.run:first-child { border-top: 0; }
  tr.run > * { border: 0; padding: .1rem 0; }
  th[scope=row] { font-size: 1.05rem; }
  td[data-name] { display: flex; justify-content: space-between; gap: 1rem; text-align: right; }
  td[data-name]::before { content: attr(data-name); color: var(--faint); }
  td[data-name=State] { justify-content: flex-start; gap: .5rem; }
  td[data-name=State]::before { content: none; }
  td.zero { display: none; }
  .failure td { padding: 0 .8rem .6rem; }
}
`;

/** The Content-Security-Policy of our pages: their own style, and nothing else. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders the page around its content. */
export function renderPage(content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="30">
<meta name="robots" content="noindex">
<title>Hotel review</title>
<style>${new Html(style)}</style></head>
<body><h1>Hotel review</h1>
${content}
</body></html>
`.markup;
}

/** The page while the ledger can't be reached. */
export function renderUnavailablePage(): string {
  return renderPage(html`<section class="card bad"><h2>Ledger</h2><p class="big">does not answer</p></section>
<p>Nothing is lost: work continues once the ledger is back. Check that it runs and can be reached; this page
checks again every 30 seconds.</p>`);
}

import { renderShares, type ShareBar } from '../../charts/bars.js';
import { renderSentColumns } from '../../charts/day-columns.js';
import { nameUnknown, type ProviderJson } from '../../scorecard/scorecard.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCount, formatCountOf } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { linkToMapping } from '../mappings-page.js';
import type { View } from '../page.js';
import { type Fact, renderFacts, renderPaging, writeAddress } from '../parts.js';
import type { ProviderData, ProvidersData } from './provider-routes.js';
import type { CourseItem } from './read-scores.js';

export function renderProvidersPage({ from, to, total, page, pages, providers }: ProvidersData): View {
  return {
    title: 'Providers',
    content: html`${renderRange('/providers', from, to)}
${
  total === 0
    ? html`<p class="card">No booking was sent from ${from} to ${to}.</p>`
    : html`<h2>Share of affected bookings</h2>
<p class="faint">Of the bookings with a known verdict, with the range in which the share lies with 95 % certainty, and its course by week. The surest offender comes first; who has no known verdict comes last.</p>
<div class="card">${renderShares(
        'Share of affected bookings by provider',
        providers.map((report) => toBar(report, from, to)),
      )}</div>
${renderPaging({
  ...{ page, pages, total: formatCountOf(total, 'provider') },
  linkTo: (other) => writeAddress('/providers', { from, to, page: other }),
})}
<h2>In numbers</h2>
${renderTable(providers, from, to)}`
}`,
  };
}

function renderRange(path: string, from: string, to: string): Html {
  return html`<form class="search card" action="${path}">
<label>From<input name="from" type="date" value="${from}"></label>
<label>To<input name="to" type="date" value="${to}"></label>
<button>Show</button> <a href="${path}">The last 90 days</a></form>`;
}

const nameOf = (providerName: string | null) => (providerName === null ? 'Without a provider' : providerName);

function linkTo(providerName: string | null, from: string, to: string): string | undefined {
  return providerName === null
    ? undefined
    : writeAddress(`/providers/${encodeURIComponent(providerName)}`, { from, to });
}

function toBar(report: ProvidersData['providers'][number], from: string, to: string): ShareBar {
  const { providerName, affected, weeklyShares } = report;
  return {
    ...{ label: nameOf(providerName), link: linkTo(providerName, from, to), weeks: weeklyShares },
    share: toShare(report),
    text:
      affected === null ? explainUnknown(report) : `${formatCount(affected)} of ${formatCount(report.known)}`,
  };
}

function toShare({ affectedShare: value, affectedShareLow: low, affectedShareHigh: high }: ProviderJson) {
  return value === null || low === null || high === null ? null : { value, low, high };
}

/** Never "0 %". */
function explainUnknown(report: ProviderJson): string {
  const sent = `${formatCount(report.sent)} sent`;
  switch (nameUnknown(report)) {
    case 'by e-mail':
      return `unknown: verdicts by e-mail only, ${sent}`;
    case 'no result':
      return `unknown: no result, ${sent}`;
    default:
      return 'nothing sent';
  }
}

function renderTable(providers: readonly ProviderJson[], from: string, to: string): Html {
  return html`<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Provider</th>${[
    'Sent',
    'Verdict known',
    'Affected',
    'Named by e-mail only',
    'Cases',
    'Corrected',
    'Hours to correction',
    'Suspects right',
  ].map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead><tbody>
${providers.map((report) => {
  const name = showInLine(nameOf(report.providerName));
  const link = linkTo(report.providerName, from, to);
  return html`<tr><th scope="row">${link === undefined ? name : html`<a href="${link}">${name}</a>`}</th>${listNumbers(report).map((text) => html`<td class="number">${text}</td>`)}</tr>
`;
})}</tbody></table></div>
<p class="faint">Hours to correction: the median from opening a case to the correction of its mapping. Suspects right: of the bookings that the local copy of the mappings flagged before they were sent, those that were incorrect.</p>`;
}

function listNumbers(report: ProviderJson): string[] {
  return [
    formatCount(report.sent),
    formatCount(report.known),
    report.affected === null ? 'unknown' : formatCount(report.affected),
    formatCount(report.namedByEmail),
    formatCount(report.cases),
    formatCount(report.corrected),
    report.medianHoursToCorrection === null ? '–' : String(report.medianHoursToCorrection),
    describeSuspects(report),
  ];
}

function describeSuspects({ suspects: { flagged, known, incorrect } }: ProviderJson): string {
  if (flagged === 0) return '–';
  return incorrect === null
    ? `unknown of ${formatCount(flagged)}`
    : `${formatCount(incorrect)} of ${formatCount(known)}`;
}

export function renderProviderPage({ providerName, from, to, score, days, weeks }: ProviderData): View {
  const name = showInLine(providerName);
  return {
    title: name,
    content: html`${renderRange(`/providers/${encodeURIComponent(providerName)}`, from, to)}
${
  score === null
    ? html`<p class="card">No booking of ${name} was sent from ${from} to ${to}, and no case about it was opened.</p>`
    : html`${renderScore(score)}
<div class="card">${renderSentColumns({
        ...{ title: 'Sent bookings by day', from, to },
        days: days.map(({ from: day, sent, affected }) => ({ day, sent, affected })),
      })}</div>
<h2>By week</h2>
${renderWeeks(weeks)}
${renderOffenders(score)}`
}
<p><a href="${writeAddress('/cases', { provider: providerName })}">Its cases</a> · <a href="${writeAddress('/providers', { from, to })}">All providers</a></p>`,
  };
}

function renderScore(score: ProviderJson): Html {
  const names = ['Sent', 'Verdict known', 'Affected', 'Named by e-mail only', 'Cases', 'Corrected'];
  const [hours, suspects] = listNumbers(score).slice(names.length);
  const facts: readonly Fact[] = [
    ...listNumbers(score)
      .slice(0, names.length)
      .map((text, index): Fact => [names[index] ?? '', text]),
    ['Hours to correction', hours],
    ['Suspects right', suspects],
  ];
  const share = toShare(score);
  return html`<div class="card"><h2>Share of affected bookings</h2>${
    share === null
      ? html`<p>${explainUnknown(score)}</p>`
      : renderShares('Share of affected bookings', [
          {
            label: 'Affected',
            share,
            text: `${formatCount(score.affected ?? 0)} of ${formatCount(score.known)}`,
          },
        ])
  }${renderFacts(facts)}</div>`;
}

function renderWeeks(weeks: readonly CourseItem[]): Html {
  const first = weeks.findIndex(({ sent }) => sent > 0);
  const shown = weeks.slice(Math.max(0, first)).reverse();
  return html`<div class="wide" tabindex="0"><table><thead><tr><th scope="col">From</th><th scope="col" class="number">Sent</th><th scope="col" class="number">Verdict known</th><th scope="col" class="number">Affected</th><th scope="col" class="number">%</th><th scope="col" class="number">Named by e-mail only</th></tr></thead><tbody>
${shown.map(
  ({ from, sent, known, affected, namedByEmail }) =>
    html`<tr><th scope="row">${from}</th><td class="number">${formatCount(sent)}</td><td class="number">${formatCount(known)}</td><td class="number">${affected === null ? (sent === 0 ? '–' : 'unknown') : formatCount(affected)}</td><td class="number">${affected === null ? '' : ((100 * affected) / known).toFixed(2)}</td><td class="number">${formatCount(namedByEmail)}</td></tr>
`,
)}</tbody></table></div>`;
}

function renderOffenders({ providerName, repeatOffenders }: ProviderJson): Html | undefined {
  if (repeatOffenders.length === 0) return undefined;
  return html`<h2>Hotels that are wrong again and again</h2>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Hotel id</th><th scope="col" class="number">Days with affected bookings</th><th scope="col" class="number">Cases</th></tr></thead><tbody>
${repeatOffenders.map(
  ({ providerHotelId, days, cases }) =>
    html`<tr><th scope="row"><a href="${linkToMapping(providerName ?? '', providerHotelId)}">${showInLine(providerHotelId)}</a></th><td class="number">${formatCount(days)}</td><td class="number">${formatCount(cases)}</td></tr>
`,
)}</tbody></table></div>`;
}
